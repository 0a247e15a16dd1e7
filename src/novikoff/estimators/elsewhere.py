"""Parameters that other libraries have: what they are called here, or why there are none."""

STOPS = "a run stops at an epoch without a mistake; max_epochs, min_margin and time_limit stop it sooner"
NO_LOSS = "there is no loss to be weighed against a penalty: on a mistake the example is added, and that is all"
NO_STEPS = "the size of the steps cannot change a mistake, so it is one number, learning_rate, for the weights read out"
NO_CRF = "a perceptron has no likelihood to maximise"

ELSEWHERE = {
    "max_iter": "it is called max_epochs here, and a run that needs fewer stops by itself",
    "n_epochs": "it is called max_epochs here, and a run that needs fewer stops by itself",
    "max_iterations": "it is called max_epochs here, and a run that needs fewer stops by itself",
    "eta0": "it is called learning_rate here; it multiplies the weights that are read out, and cannot change a mistake",
    "tol": STOPS,
    "n_iter_no_change": STOPS,
    "epsilon": STOPS,
    "early_stopping": "validation=0.1 puts a share of the rows aside, by which the number of epochs is chosen",
    "validation_fraction": "it is called validation here, and chooses the number of epochs; held_out= is to judge by",
    "penalty": NO_LOSS,
    "alpha": NO_LOSS,
    "l1_ratio": NO_LOSS,
    "C": NO_LOSS,
    "loss": NO_LOSS,
    "c1": NO_CRF,
    "c2": NO_CRF,
    "algorithm": "there is one algorithm, the averaged perceptron; readout= chooses what it predicts with",
    "power_t": NO_STEPS,
    "optimizer": NO_STEPS,
    "average": 'the average is the default; readout="last" predicts with the last weights, readout="vote" with all',
    "class_weight": "Perceptron and KernelPerceptron have it; here, repeat the examples that are to count more often",
    "sample_weight": "repeat rows to repeat them, scale them to scale them: these two differ",
    "verbose": "fit(..., watch=novikoff.ProgressLine()) shows how it goes on; any function may watch",
    "n_jobs": "an epoch is the work of one thread, since every mistake changes what the next example meets",
    "seed": "it is called random_state here",
    "all_possible_transitions": "every transition has a weight; constraint= rules some out",
}

# Methods that other libraries have.
NO_CHANCES = (
    "a perceptron knows no probabilities, and none are made up; predict_with_scores has the margin by which the best "
    "label sequence beats the second best, and predict_best the k best with their scores"
)
METHODS = dict.fromkeys(("predict_marginals", "predict_marginals_single", "predict_proba"), NO_CHANCES)


def about_elsewhere(estimator: str, own: set[str], given: dict[str, object]) -> str | None:
    """What to say to whoever passes parameters of another library; None if there are none among them.

    >>> about_elsewhere("Perceptron", {"max_epochs"}, {"eta0": 1.0})
    'Perceptron has no parameter eta0: it is called learning_rate here; it multiplies the weights that are read out, \
and cannot change a mistake'
    """
    for name in given:
        if name in ELSEWHERE and name not in own:
            return f"{estimator} has no parameter {name}: {ELSEWHERE[name]}"
    return None
