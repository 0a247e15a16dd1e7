"""Parameters of other libraries: their names here, or why there are none."""

STOPS = "a run stops at an epoch without a mistake; max_iter, min_margin and time_limit stop it sooner"
NO_LOSS = "there is no loss to be weighed against a penalty: on a mistake the example is added"
NO_STEPS = "the size of the steps cannot change a mistake, so it is one number, eta0, for the weights read out"
NO_CRF = "a perceptron has no likelihood to maximise"

ELSEWHERE = {
    "n_epochs": "it is called max_iter here, and a run that needs fewer stops by itself",
    "max_epochs": "it is called max_iter here, and a run that needs fewer stops by itself",
    "max_iterations": "it is called max_iter here, and a run that needs fewer stops by itself",
    "learning_rate": "it is called eta0 here; it multiplies the weights that are read out, and cannot change a mistake",
    "eta0": "Perceptron has it; the scores of other learners are not multiplied",
    "tol": STOPS,
    "n_iter_no_change": STOPS,
    "epsilon": STOPS,
    "patience": "it is called n_iter_no_change here",
    "validation": "early_stopping=True chooses the number of epochs by a validation_fraction= of the rows",
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
    "verbose": "fit(..., watch=novikoff.ProgressLine()) shows how it goes on; any function may watch",
    "n_jobs": "an epoch is the work of one thread, since every mistake changes the weights for the next example",
    "seed": "it is called random_state here",
    "all_possible_transitions": "every transition has a weight; constraint= rules some out",
}

# Methods that other libraries have.
NO_CHANCES = (
    "a perceptron has scores, not probabilities; predict_with_scores has the margin by which the best label sequence "
    "beats the second best, and predict_best the k best with their scores; review proves which label sequences can be "
    "accepted (docs/how-to/review.md)"
)
CALIBRATE = (
    "a perceptron has scores, not probabilities; sklearn.calibration.CalibratedClassifierCV makes probabilities of "
    "its decision_function, on rows of their own. docs/how-to/probabilities.md shows how, also with venn-abers and "
    "MAPIE; docs/how-to/review.md proves which predictions can be accepted"
)


def foreign_parameter_hint(estimator: str, own: set[str], given: dict[str, object]) -> str | None:
    """A hint for parameters of another library; None if there are none among those given.

    >>> foreign_parameter_hint("Perceptron", {"max_iter"}, {"n_epochs": 5})
    'Perceptron has no parameter n_epochs: it is called max_iter here, and a run that needs fewer stops by itself'
    """
    for name in given:
        if name in ELSEWHERE and name not in own:
            return f"{estimator} has no parameter {name}: {ELSEWHERE[name]}"
    return None
