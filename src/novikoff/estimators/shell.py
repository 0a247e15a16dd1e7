"""What all estimators share: holding a model, encoding rows, and staying unchanged if a call fails."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from novikoff.data.batches import Batch, stacked, with_columns
from novikoff.data.frames import column_names, has_names, is_frame, read_frame
from novikoff.data.held_out import HeldOut
from novikoff.engine.rows import as_rows
from novikoff.engine.threads import on_cores
from novikoff.estimators.given import (
    CALIBRATE,
    CHECKS,
    as_matrix,
    at_least_two,
    encoded,
    foreign_parameter_hint,
    inner_labels,
    is_table,
    labels_to_check,
    seed_of,
    targets,
    weighted_rows,
)
from novikoff.features.examples import batches_of, comes_in_batches, given_to, learned_encoding
from novikoff.features.scaling import Scaling, table_scale, why_scale
from novikoff.learn.epochs import Watcher, put_off_interrupt
from novikoff.learn.fit import Fitted, Space, fit, held_out_part, learn_once
from novikoff.learn.linear.files import learn_from
from novikoff.learn.model import Classifier, Decided
from novikoff.learn.review import Review, check_held_out, leads, review_of, voided
from novikoff.learn.run import Run, Stopped
from novikoff.options import DECLARED, Options, Readout, Scale, check_options
from novikoff.say.runs import why_not_converged
from novikoff.say.words import looks_continuous, unknown_values

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


class Absent:
    """A method that other libraries have and this one does not; looking it up raises a hint."""

    def __init__(self, said: str) -> None:
        self.said = said

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}: {self.said}")


class Shell(BaseEstimator):
    """An estimator that holds a model, and forwards to it."""

    predict_proba = Absent(CALIBRATE)
    predict_log_proba = Absent(CALIBRATE)

    model_: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Check the names of the parameters first: those of another library raise a hint."""
        said = foreign_parameter_hint(cls.__name__, set(cls._get_param_names()), parameters)
        if said is not None:
            raise TypeError(said)
        return super().__new__(cls)

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """The estimator that holds this model, with those of its parameters that an estimator has."""
        own = cls().get_params(deep=False)
        asked = {**cls._parameters_of(model), **model.parameters}
        shell = cls(**{name: value for name, value in asked.items() if name in own})
        shell._hold(model)
        return shell

    def _hold(self, model: Any) -> None:
        self.model_ = model
        if getattr(model, "n_inputs", None) is not None:
            self.n_features_in_ = model.n_inputs
        self.__dict__.pop("feature_names_in_", None)
        if getattr(model, "input_names", None) is not None:
            self.feature_names_in_ = np.array(model.input_names, dtype=object)

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        return {"readout": model.readout}

    def to_model(self) -> Any:
        """The model, free of scikit-learn, with the parameters that the estimator has now."""
        held, read_as = self._held(), self._read_as()
        changed = any(getattr(held, name) != value for name, value in read_as.items())
        review = voided(held.review) if changed else held.review
        return replace(held, parameters={**held.parameters, **self.get_params(deep=False)}, review=review, **read_as)

    def _read_as(self) -> dict[str, Any]:
        """The fields of a model that follow parameters which may change after learning."""
        return {"readout": self.readout}

    @property
    def run_(self) -> Any:
        """The record of the run."""
        model = self.to_model()
        of_table = model.encoding if getattr(model, "takes_a_table", False) else None
        return model.record if of_table is None else replace(model.record, scaled=of_table.why_scaled)

    @property
    def classes_(self) -> Any:
        """The labels."""
        return self._held("classes")

    @property
    def n_iter_(self) -> int:
        """Epochs of the last `fit`, or calls of `partial_fit`."""
        return int(self._held("n_iter"))

    @property
    def n_mistakes_(self) -> int:
        """All mistakes so far."""
        return int(self._held("memory").mistakes)

    @property
    def n_narrow_(self) -> int:
        """All examples so far that were right, but were learned because of the lead."""
        return int(self._held("memory").narrow)

    @property
    def lead_(self) -> float:
        """The lead that was given, or chosen."""
        return float(self._held("memory").lead)

    @property
    def mistake_rows_(self) -> NDArray[np.int64]:
        """The row of every mistake in order."""
        rows: NDArray[np.int64] = self._held("mistake_rows")
        return rows

    @property
    def mistake_guesses_(self) -> Any:
        """The class or label sequence that each of them was mistaken for."""
        return self._held("mistake_guesses")

    def review(
        self, X_train: Any, X_held_out: Any, y_held_out: Any, *, error: float = 0.02, confidence: float = 0.95
    ) -> Review:
        """Prove which predictions need no review: of those accepted, at most a fraction `error` is wrong.

        The held-out rows must not have been used for the model, neither for learning nor for choosing parameters. The
        scores of `X_train` space the thresholds that are tried; it may be any rows but the held-out ones. The result is
        kept in `review_`, and holds for these weights: `partial_fit`, a warm start or another read-out voids it.

        >>> import numpy as np
        >>> from novikoff import Perceptron
        >>> chance = np.random.default_rng(0)
        >>> X = chance.normal(size=(4000, 2))
        >>> y = X[:, 0] + 0.5 * chance.normal(size=4000) > 0
        >>> model = Perceptron(random_state=0).fit(X[:2000], y[:2000])
        >>> review = model.review(X[:2000], X[2000:], y[2000:], error=0.02)
        >>> print(review)  # doctest: +ELLIPSIS
        at most 2 % of the accepted rows are wrong (95 % confidence): of 2,000 held-out rows, ...
        >>> model.to_review([[3.0, 0.0], [0.1, 0.0]]).tolist()
        [False, True]
        """
        scores = self._to_count(X_train, X_held_out, y_held_out)
        review = Review.of(*scores, error=error, confidence=confidence, row=self.run_.row)
        self.model_ = replace(self.to_model(), review=review)
        return review

    def check_review(self, X_train: Any, X_held_out: Any, y_held_out: Any) -> None:
        """Prove `review_` again from the rows of `review`; raise ValueError naming what differs."""
        self.review_.check(*self._to_count(X_train, X_held_out, y_held_out))

    def to_review(self, X: Any) -> NDArray[np.bool_]:
        """Whether each prediction should go to a person; for the others the error of `review` is proved."""
        return review_of(self.to_model()).to_review(self._with_leads(X)[1])

    @property
    def review_(self) -> Review:
        """The result of `review`, which may be void."""
        self._held("review")
        review: Review = self.to_model().review
        return review

    def _to_count(self, X_train: Any, X_held_out: Any, y_held_out: Any) -> tuple[Any, Any, list[bool]]:
        """Scores of training rows, scores of held-out rows, and which of these are wrong."""
        found, scores = self._with_leads(X_held_out)
        if len(found) != len(y_held_out):
            raise ValueError(f"there are {len(found)} held-out rows, but {len(y_held_out)} labels")
        if self.run_.row == "sequence":
            y_held_out = [list(labels) for labels in y_held_out]
        elif np.ndim(y_held_out) > 1:
            raise ValueError(f"y_held_out has the shape {np.shape(y_held_out)}, but one label a row is needed")
        seen = self._with_leads(X_train)[1]
        check_held_out(seen, scores)
        return seen, scores, [a != b for a, b in zip(found, y_held_out, strict=True)]

    def _with_leads(self, X: Any) -> tuple[Any, Any]:
        """Predictions, and the lead of each."""
        raise NotImplementedError

    def _held(self, part: str | None = None) -> Any:
        """The model, or a part of it; AttributeError if it has none."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first")
        value = self.model_ if part is None else getattr(self.model_, part)
        if value is None:
            raise AttributeError(f"the model of this {type(self).__name__} has no {part}")
        return value

    def _options(self, *, goes_on: bool = False) -> Options:
        """The parameters as options of a run, checked; which rows are held out is fixed, unless it continues."""
        own = self.get_params(deep=False)
        known = {field.name for field in fields(Options)}
        check_options(**{name: value for name, value in own.items() if name in DECLARED.keys() - known})
        seed = seed_of(own["random_state"], shuffle=own["shuffle"])
        options = Options(**{name: own[name] for name in own.keys() & known} | {"random_state": seed})
        return options if goes_on else replace(options, held_out=held_out_part(options))

    def _feature_names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


@contextmanager
def all_or_nothing(model: BaseEstimator) -> Iterator[None]:
    """Restore the attributes of a model if anything fails, or if it is interrupted half-way."""
    before = vars(model).copy()
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


def verbose_watch(watch: Watcher | None, verbose: int) -> Watcher | None:
    """The watcher of a run, which prints a line after every epoch if it is `verbose`."""
    if not verbose:
        return watch

    def look(history: Any) -> Any:
        margin = history.margin_at_most
        sys.stdout.write(f"{history.examples:,} examples: {history.mistakes:,} mistakes, margin at most {margin:.6g}\n")
        return None if watch is None else watch(history)

    return look


class ClassifierShell(ClassifierMixin, Shell):
    """The shell of a classifier of rows. All input passes through it: a model that encodes its input encodes every
    input."""

    scale: Scale
    readout: Readout
    record_mistakes: bool

    _kind: ClassVar[type[Classifier]]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of every row, for a `Perceptron` times eta0; for a vote, the vote fraction.

        Of two classes, the second has the scores of 0 and above. With more, there is one column per class. Scores are
        added up in column order, so dense and sparse rows of the same values have the same scores, bit for bit.
        """
        return self._decided(X, lambda decided: decided.scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row."""
        return self._decided(X, lambda decided: decided.labels)

    def _decided(
        self, X: Any, part: Callable[[Decided], NDArray[Any]], rows: Callable[[Any], Iterable[Any]] | None = None
    ) -> NDArray[Any]:
        """A part of the decisions about all rows, which the model takes part by part."""
        check_is_fitted(self)
        check_options(readout=self.readout)
        model = self.to_model()
        with on_cores(getattr(self, "n_jobs", None)):
            parts = [part(model.decide_rows(some)) for some in (rows or self._to_decide)(X)]
        if not parts:
            raise ValueError("X has no examples to predict")
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _to_decide(self, X: Any) -> Iterable[Any]:
        """The rows to predict, as the model takes them, part by part."""
        return (batch.rows for batch in self._batches(X))

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The fraction of the rows that are predicted right; a reader or batches have their own labels."""
        if not comes_in_batches(X):
            return float(super().score(X, labels_to_check(y), sample_weight))
        if y is not None or sample_weight is not None:
            raise ValueError("batches have labels of their own, and no weights; omit y and sample_weight")
        labels = []

        def rows(batch: Batch) -> Any:
            if batch.labels is None:
                raise ValueError("there are no labels to compare with; name their column, as in read(path, label=...)")
            labels.append(batch.labels)
            return batch.rows

        found = self._decided(X, lambda decided: decided.labels, lambda X: map(rows, self._batches(X)))
        return float(np.mean(found == np.concatenate(labels)))

    def _with_leads(self, X: Any) -> tuple[Any, Any]:
        return self.predict(X), leads(self.decision_function(X))

    def rows_as_learned(self, X: Any) -> Any:
        """Rows as the model learns them, encoded and scaled: R, margins and weights refer to these."""
        check_is_fitted(self)
        if self.model_.encoding is None:
            return X
        rows = stacked([batch.rows for batch in self._batches(X)])
        return rows.as_scipy() if rows.is_sparse else rows.as_array()

    def _batches(self, X: Any) -> Iterator[Batch]:
        """All batches to predict, as they are learned; at the end, warn of values not seen in training."""
        unseen, missing, encoding = Counter[str](), Counter[str](), self.model_.encoding
        if self.model_.takes_a_table:
            X = self._given(X)
        elif not comes_in_batches(X):
            X = [Batch(as_rows(validate_data(self, as_matrix(X), reset=False, **CHECKS), any_order=True), None)]
        for batch in batches_of(X, encoding):
            # New words need no warning.
            unseen.update({name: n for name, n in batch.unseen.items() if encoding.columns[name].kind != "text"})
            missing.update(batch.missing)
            # A column of sparse rows beyond those of training has no weight, which is the weight 0.
            yield replace(batch, rows=with_columns(batch.rows, self.model_.n_columns))
        for sentence in unknown_values(unseen, missing):
            warnings.warn(sentence, UserWarning, stacklevel=3)

    def _given(self, X: Any, labels: NDArray[Any] | None = None) -> Iterable[Any]:
        """What the model of a table is given, for its encoding.

        Where columns have positions, because all could be numbers of an array, scikit-learn requires those of a frame
        in the order of training; others may stand beside them. Elsewhere names are enough.
        """
        encoding: Encoding = self.model_.encoding
        if is_frame(X) and has_names(X):
            known = [name for name in column_names(X) if name in encoding.types]
            ask = encoding.takes_numbers and known != list(encoding.types)
        else:
            ask = getattr(X, "shape", ())[1:] == (encoding.n_inputs,)
        if ask:  # in scikit-learn's words: an error about the names, or a warning that there are none
            validate_data(self, X, reset=False, skip_check_array=True)
        return given_to(encoding, X, labels)

    def _learns_as_table(self, X: Any) -> bool:
        """Whether X is encoded with what the model knows of its table; a new model encodes every frame."""
        return self.model_.takes_a_table if self.__sklearn_is_fitted__() else is_table(X)

    def _scales(self, X: Any, aside: "HeldOut | None" = None) -> "tuple[Encoding | None, str | None]":
        """The scales of rows, without those held out, and why they are scaled, for the record; None if they are not."""
        rows, scale = as_rows(X), table_scale(self.scale, getattr(self, "fit_intercept", True), self.readout)
        known = rows if aside is None else rows.take(aside.parted(rows.n_rows)[0])
        why = why_scale(known, self._feature_names()) if scale == "auto" else "as requested" if scale is True else None
        if why is None:
            return None, None
        from novikoff.features.encode import Encoding

        return Encoding.of_numbers(rows.n_columns, scaling=Scaling.of(known)), why

    def _first_encoding(self, source: Any, held_out: "HeldOut | None" = None) -> "Encoding | None":
        scale = table_scale(self.scale, getattr(self, "fit_intercept", True), self.readout)
        return learned_encoding(source, None, held_out, scale=scale)

    def _rows_to_learn(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], "Encoding | None"]:
        """Rows for `partial_fit`, their labels, and their encoding, which the first rows determine."""
        goes_on = self.__sklearn_is_fitted__()
        if not self._learns_as_table(X):
            rows, labels = self._validated(X, y, reset=not goes_on)
            # The first rows cannot decide whether to scale.
            encoding = self.model_.encoding if goes_on else None if self.scale == "auto" else self._scales(rows)[0]
            return encoded(rows, encoding), labels, encoding
        labels = targets(y)
        if goes_on:
            encoding, source = self.model_.encoding, self._given(X, labels)
        else:
            as_matrix(X)
            source = read_frame(X, labels=labels)
            encoding = learned_encoding(source, scale="mixed" if self.scale == "auto" else self.scale)
        rows = stacked([batch.rows for batch in batches_of(source, encoding)])
        if rows.n_rows != len(labels):
            raise ValueError(f"y has {len(labels)} labels, but X has {rows.n_rows} rows: one label per row is required")
        return rows, labels, encoding

    def _fit(self, X: Any, y: Any, watch: Watcher | None, sample_weight: Any = None) -> None:
        goes_on = getattr(self, "warm_start", False) and self.__sklearn_is_fitted__()
        options = self._options(goes_on=goes_on)
        how: dict[str, Any] = {"start": self.model_.memory if goes_on else None, "watch": watch}
        with on_cores(getattr(self, "n_jobs", None)), all_or_nothing(self):
            X, y, weights, kept = weighted_rows(X, y, sample_weight)
            if (source := self._source(X, y, goes_on)) is None:
                learned = self._learn_rows(X, y, weights, options, goes_on, **how)
            else:
                how |= {"classes": self.classes_ if goes_on else None, "space": self._space()}
                encoding = self.model_.encoding if goes_on else self._first_encoding(source, options.held_out)
                learned = learn_from(source, encoding=encoding, **how, **vars(options))
            mistakes = learned.mistakes if self.record_mistakes else None  # they may have been kept for a vote
            if kept is not None and mistakes is not None:
                mistakes = mistakes.numbered(kept)
            names = self._feature_names() if source is None else None
            known = {"feature_names": names, "review": voided(self.model_.review) if goes_on else None}
            self._hold(self._kind.of(replace(learned, mistakes=mistakes), self.get_params(deep=False), **known))

    def _learn_rows(self, X: Any, y: Any, weights: Any, options: Options, goes_on: bool, **how: Any) -> Fitted:
        """A run on a matrix; if it `goes_on`, classes and scales are kept."""
        rows, labels = self._validated(X, y, reset=not goes_on)
        classes = self.classes_ if goes_on else at_least_two(np.unique(labels))
        known = (self.model_.encoding, self.run_.scaled) if goes_on else None
        encoding, why = known or self._scales(rows, options.held_out)
        space, inner = self._space(), inner_labels(labels, classes)
        learned = fit(space.examples(encoded(rows, encoding), inner, classes, weights), space, options, **how)
        run = replace(learned.run, encoded=learned.run.encoded or encoding is not None, scaled=why)
        return replace(learned, encoding=encoding, run=run)

    def _partial_fit(self, X: Any, y: Any, named: Any, sample_weight: Any = None) -> None:
        options = self._options(goes_on=True)
        with on_cores(getattr(self, "n_jobs", None)), put_off_interrupt(), all_or_nothing(self):
            before = getattr(self, "model_", None)
            X, y, weights, kept = weighted_rows(X, y, sample_weight)
            rows, labels, encoding = self._rows_to_learn(X, y)
            classes, memory, fixed = self._so_far_known(labels, named, before)
            first, space = 0 if memory is None else memory.examples, self._space()
            examples = space.examples(rows, inner_labels(labels, classes), classes, weights)
            learner = learn_once(examples, space, replace(options, lead=lead_of(self)), memory)
            mistakes = learner.mistakes() if self.record_mistakes else None
            made: dict[str, Any] = dict.fromkeys(("mistake_rows", "mistake_guesses"))
            if mistakes is not None:
                made["mistake_rows"] = first + (mistakes.rows if kept is None else kept[mistakes.rows])
                guesses = getattr(mistakes, "wrong", None)
                made["mistake_guesses"] = None if guesses is None else classes[guesses]
            self._hold(self._kind(learner.history, classes, **fixed, **self._so_far(encoding, **made)))

    def _space(self) -> Space:
        raise NotImplementedError

    def _source(self, X: Any, y: Any, goes_on: bool) -> Iterable[Any] | None:
        """A labelled source, if X is not a matrix."""
        raise NotImplementedError

    def _so_far_known(self, labels: NDArray[Any], named: Any, before: Any) -> tuple[NDArray[Any], Any, dict[str, Any]]:
        """The classes of a `partial_fit`, the memory to learn into, and what the model says of the classes."""
        raise NotImplementedError

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        raise NotImplementedError

    def _so_far(self, encoding: "Encoding | None", **made: Any) -> dict[str, Any]:
        """What every model has that was learned in parts; the mistakes that were `made` follow those from before."""
        before, of_table = getattr(self, "model_", None), encoding is not None and encoding.is_of_table
        for name, new in made.items():
            earlier = getattr(before, name, None)
            both = earlier is not None and new is not None
            made[name] = np.concatenate([earlier, new]) if both else earlier if new is None else new
        n_iter, names = getattr(before, "n_iter", 0) + 1, None if of_table else self._feature_names()
        review = voided(getattr(before, "review", None))
        return {"encoding": encoding, "feature_names": names, "n_iter": n_iter, "review": review, **made}


def lead_of(model: Any) -> float:
    """The lead of `partial_fit`, whose rows cannot choose one: with "auto" that of the model so far, 0 at first."""
    if model.lead != "auto":
        return float(model.lead)
    return model.lead_ if model.__sklearn_is_fitted__() else 0.0


def end_run(model: Any, run: Run, otherwise: str = "") -> None:
    """Raise the interrupt of a run again, once the model holds what was learned; if a run that should converge did not,
    warn, with the reason, and what to do next, or `otherwise`."""
    if run.stopped is Stopped.INTERRUPTED:
        raise KeyboardInterrupt
    # At the line that called fit: past this function and fit itself.
    if question := looks_continuous(np.asarray(model.classes_, dtype=object).tolist()):
        warnings.warn(question, UserWarning, stacklevel=3)
    if what := why_not_converged(run, model.readout, model.min_margin):
        warnings.warn(f"{type(model).__name__} did not converge: {what}{otherwise}.", ConvergenceWarning, stacklevel=3)
