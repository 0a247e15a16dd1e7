"""What `novikoff fit` does between reading and answering: learn, judge, certify, in whatever space was chosen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from novikoff.cli.errors import sentence
from novikoff.cli.render import in_words, listed
from novikoff.cli.spaces import Space

if TYPE_CHECKING:
    from novikoff.cli.progress import Bar
    from novikoff.data.examples import Examples
    from novikoff.data.held_out import HeldOut
    from novikoff.data.reading import Reader
    from novikoff.learn.model import Classifier
    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate

# So many folds judge a model unasked, if they visit no more numbers than this; reading is like this many epochs.
FOLDS, MOST_FOLDED, READING = 5, 40_000_000, 10

# Examples of more numbers than this are left to `novikoff certify`.
MOST_CERTIFIED = 20_000_000

# The same for the rows of a kernel: of one that is rational, and of one whose values are powers of e.
MOST_KERNEL_ROWS, MOST_POWER_ROWS = 1500, 200


@dataclass(frozen=True)
class Task:
    """The options of a run that do not depend on the rows."""

    space: Space
    learning: dict[str, Any]
    wishes: dict[str, Any]

    def learn(self, examples: "Examples", **more: Any) -> Any:
        """A run on examples; `more` are further options of the learner."""
        from novikoff.learn.linear.space import perceptron

        asked = {**self.learning, "class_weight": self._class_weight(examples.classes)}
        if self.space.kernel is None:
            return perceptron(examples, **asked, **more)
        from novikoff.learn.kernel.space import kernel_perceptron

        self.space.check_size(examples)
        options = {name: value for name, value in asked.items() if name != "fit_intercept"}
        return kernel_perceptron(examples, **options, **self.space.options, **more)

    def _class_weight(self, classes: Any) -> Any:
        """The weights of the labels as they are in the data; in the command they are words."""
        weights = self.learning["class_weight"]
        if not isinstance(weights, dict):
            return weights
        labels = {in_words(label): label for label in classes.tolist()}
        for name, weight in weights.items():
            if name not in labels:
                known = listed(list(labels))
                raise ValueError(
                    f"--class-weight {name}={weight:g}: no row has the label {name}; the labels are {known}"
                )
        return {labels[name]: weight for name, weight in weights.items()}

    def model(self, learned: Any, asked: dict[str, Any], classes: Any) -> "Classifier":
        """The model to be kept: without the mistakes that were recorded for a report or for steps."""
        parameters = asked | self.learning | self.space.options | {"class_weight": self._class_weight(classes)}
        if self.space.kernel is not None:
            from novikoff.learn.kernel.model import KernelModel

            del parameters["fit_intercept"]
            return replace(KernelModel.of(learned, parameters), mistake_rows=None)
        from novikoff.learn.linear.model import LinearModel

        fitted = LinearModel.of(learned, parameters)
        is_vote = self.learning["readout"] == "vote"
        return fitted if is_vote else replace(fitted, mistake_rows=None, mistake_guesses=None)

    def judged(self, run: "Run", bar: "Bar", reader: "Reader", examples: "Examples", asked: int | None) -> "Run":
        """The record with the errors on as many folds as were asked for; unasked on some, where that is quick."""
        from novikoff.data.held_out import HeldOut

        if asked is None and not self._is_quick(run, reader, examples):
            return run
        parts = HeldOut.folds(asked or FOLDS, self.learning["random_state"])
        try:
            return replace(run, **self._judged_by_folds(bar, reader, examples, parts))
        except ValueError:
            if asked is not None:
                raise
            return run  # without a part, which nobody asked for, the others are too few for the same options

    def _is_quick(self, run: "Run", reader: "Reader", examples: "Examples") -> bool:
        """Whether folds take about a second, by what there is to count; a clock would give a model another record."""
        from novikoff.features.examples import comes_once

        passes = examples.n_rows if self.space.kernel is not None else run.epochs + READING
        is_small = FOLDS * passes * examples.n_entries <= MOST_FOLDED and min(examples.counts) >= FOLDS
        return is_small and self.learning["time_limit"] is None and not comes_once(reader)

    def _judged_by_folds(
        self, bar: "Bar", reader: "Reader", examples: "Examples", parts: "list[HeldOut]"
    ) -> dict[str, Any]:
        """Rows and errors of every part, for a model that was learned, and whose columns were encoded, without it."""
        from novikoff.cli.tables import encoding_of
        from novikoff.features.examples import cached
        from novikoff.learn.linear.files import learnable

        rows, errors = [], []
        for number, part in enumerate(parts):
            what = f"learning without part {number + 1} of {len(parts)}"
            encoding = encoding_of(reader, part, **self.wishes) if reader.is_table else None
            source = reader if reader.is_table else examples
            with (
                cached(source, encoding=encoding, check=learnable(self.learning["fit_intercept"])) as again,
                bar.learning(again.n_rows, self.learning["max_iter"], what) as watched,
            ):
                run = self.learn(again, held_out=part, **watched).run
            if was_interrupted(run):
                raise KeyboardInterrupt
            rows.append(run.held_out_rows)
            errors.append(run.held_out_errors)
        return {"fold_rows": tuple(rows), "fold_errors": tuple(errors)}

    def certificate(
        self, examples: "Examples", learned: Any, time_limit: float, progress: Callable[[str], None] | None = None
    ) -> "Certified":
        """The certificate of all rows, or why there is none; `progress` is told what is being done."""
        from novikoff.prove.separable.search.working_set import certify_examples
        from novikoff.prove.separable.subject import RoundedError, TooWideError

        fit_intercept = self.learning["fit_intercept"]
        try:
            if self.space.kernel is not None:
                return _in_feature_space(self.space, examples, learned, time_limit, progress)
            if examples.n_entries > MOST_CERTIFIED:
                why = f"{examples.n_entries:,} numbers are too many to do it unasked; novikoff certify does"
                return Certified(why_not=why)
            options: dict[str, Any] = {"fit_intercept": fit_intercept, "time_limit": time_limit}
            return Certified(certify_examples(examples, progress=progress, **options))
        except KeyboardInterrupt:
            return Certified(why_not="interrupted", failed=True)
        except (MemoryError, RoundedError, TooWideError) as error:
            return Certified(why_not=sentence(error), failed=True)


@dataclass(frozen=True)
class Certified:
    """A certificate, or why there is none, and whether that is a surprise."""

    certificate: "Certificate | None" = None
    why_not: str | None = None
    failed: bool = False


def _in_feature_space(
    space: Space, examples: "Examples", learned: Any, time_limit: float, progress: Callable[[str], None] | None
) -> Certified:
    from novikoff.prove.separable.certificate import Witnesses
    from novikoff.prove.separable.feature_space import InFeatureSpace, conclude_kernel
    from novikoff.prove.separable.search.kernel import certify_kernel

    if len(examples.classes) > 2:
        return Certified(why_not="with a kernel that is done for two classes only")
    if "budget" in space.numbers:
        return Certified(why_not="a budget forgets mistakes, and no theorem bounds how many more are made")
    try:
        kernel = space.exact_kernel(examples, learned)
    except ValueError as error:
        return Certified(why_not=sentence(error))
    assert kernel is not None
    if kernel.is_rational and examples.n_rows > MOST_KERNEL_ROWS:
        why = f"{examples.n_rows:,} rows are too many to do it unasked; novikoff certify --kernel does"
        return Certified(why_not=why)
    if not kernel.is_rational and examples.n_rows > MOST_POWER_ROWS:
        data = InFeatureSpace.of(examples, None, kernel, False)
        if not any(data.contradicted):
            return Certified(conclude_kernel(data, Witnesses()))  # by the theorem; for a margin there are too many
    options: dict[str, Any] = {"fit_intercept": False, "tolerance": 1e-6, "time_limit": time_limit}
    return Certified(certify_kernel(examples, None, kernel, progress=progress, **options))


def was_interrupted(run: "Run") -> bool:
    return run.stopped is not None and run.stopped.name == "INTERRUPTED"
