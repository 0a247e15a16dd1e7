"""scikit-learn's shells in files: an estimator is its plain model, its parameters, and a few attributes more.

This is the only part of the model files that imports scikit-learn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.estimators.kernel_perceptron import KernelPerceptron
from novikoff.estimators.lifts import Paraboloid
from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.sequence_perceptron import SequencePerceptron
from novikoff.features.templates import TemplateIndex
from novikoff.keep.header import NO_EVIDENCE, Evidence
from novikoff.keep.kernel import KernelModel
from novikoff.keep.lift import LiftModel
from novikoff.keep.sequence import SequenceModel
from novikoff.learn.linear.model import LinearModel

Estimator = Perceptron | KernelPerceptron | SequencePerceptron | Paraboloid
Plain = LinearModel | KernelModel | SequenceModel | LiftModel


@dataclass(frozen=True)
class Origin:
    """What the file said about the training data, as long as the estimator has learned nothing since."""

    learned: Any
    examples: int
    evidence: Evidence

    def still_holds(self, learned: Any) -> bool:
        return learned is self.learned and _examples(learned) == self.examples


def plain_of(model: Estimator) -> Plain:
    """An estimator without scikit-learn."""
    learned = getattr(model, "tagger_" if isinstance(model, SequencePerceptron) else "_memory", None)
    if learned is None and not hasattr(model, "n_features_in_"):
        raise ValueError(f"this {type(model).__name__} has learned nothing yet; call fit before save")
    origin: Origin | None = getattr(model, "_origin", None)
    evidence = origin.evidence if origin is not None and origin.still_holds(learned) else NO_EVIDENCE
    if isinstance(model, Perceptron):
        return _linear_model(model, evidence)
    if isinstance(model, KernelPerceptron):
        return _kernel_model(model, evidence)
    if isinstance(model, SequencePerceptron):
        rows, guesses = (getattr(model, name, None) for name in ("mistake_rows_", "mistake_guesses_"))
        return SequenceModel(model.tagger_, evidence, model.get_params(deep=False), rows, guesses)
    return LiftModel(model.n_features_in_, _feature_names(model))


def _linear_model(model: Perceptron, evidence: Evidence) -> LinearModel:
    return LinearModel(
        model._memory,
        model.classes_,
        readout=model.readout,
        tie=model.tie,
        learning_rate=float(model.learning_rate),
        encoding=getattr(model, "encoding_", None),
        feature_names=_feature_names(model),
        run=model._run,
        certificate=evidence.certificate,
        fingerprint=evidence.fingerprint,
        parameters=model.get_params(deep=False),
        n_iter=model.n_iter_,
        classes_are_fixed=model._classes_are_fixed,
        mistake_rows=getattr(model, "mistake_rows_", None),
        mistake_guesses=getattr(model, "mistake_guesses_", None),
    )


def _kernel_model(model: KernelPerceptron, evidence: Evidence) -> KernelModel:
    return KernelModel(
        model._memory,
        model.classes_,
        readout=model.readout,
        feature_names=_feature_names(model),
        run=model._run,
        evidence=evidence,
        parameters=model.get_params(deep=False),
        n_iter=model.n_iter_,
        mistake_rows=getattr(model, "mistake_rows_", None),
    )


def _feature_names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def estimator_of(plain: Plain) -> Estimator:
    """The estimator that a plain model is in scikit-learn's way."""
    if isinstance(plain, LiftModel):
        lift = Paraboloid()
        lift.n_features_in_ = plain.n_columns
        _name_features(lift, plain.feature_names)
        return lift
    if isinstance(plain, SequenceModel):
        return _sequence_perceptron(plain)
    return _perceptron(plain) if isinstance(plain, LinearModel) else _kernel_perceptron(plain)


def _perceptron(plain: LinearModel) -> Perceptron:
    own = {
        "readout": plain.readout,
        "tie": plain.tie,
        "learning_rate": plain.learning_rate,
        "fit_intercept": plain.memory.constant == 1.0,
    }
    model = _with_parameters(Perceptron, own | dict(plain.parameters))
    model.classes_, model.n_iter_ = plain.classes, plain.n_iter
    model._memory, model._run, model._classes_are_fixed = plain.memory, plain.run, plain.classes_are_fixed
    model.n_features_in_ = plain.memory.n_columns
    if plain.encoding is not None:
        model.encoding_ = plain.encoding
    if plain.mistake_rows is not None:
        model.mistake_rows_ = plain.mistake_rows
    if plain.mistake_guesses is not None:
        model.mistake_guesses_ = plain.mistake_guesses
    _name_features(model, plain.feature_names)
    _remember(model, plain.memory, Evidence(plain.certificate, plain.fingerprint))
    return model


def _kernel_perceptron(plain: KernelModel) -> KernelPerceptron:
    model = _with_parameters(KernelPerceptron, {"readout": plain.readout} | dict(plain.parameters))
    model.classes_, model.n_iter_ = plain.classes, plain.n_iter
    model._memory, model._run = plain.memory, plain.run
    if plain.memory.n_columns is not None:
        model.n_features_in_ = plain.memory.n_columns
    if plain.mistake_rows is not None:
        model.mistake_rows_ = plain.mistake_rows
    _name_features(model, plain.feature_names)
    _remember(model, plain.memory, plain.evidence)
    return model


def _sequence_perceptron(plain: SequenceModel) -> SequencePerceptron:
    tagger = plain.tagger
    index = tagger.features.index
    own = {
        "templates": [template.text for template in index.templates] if isinstance(index, TemplateIndex) else None,
        "columns": tagger.features.columns,
        "readout": tagger.run.readout,
    }
    model = _with_parameters(SequencePerceptron, own | dict(plain.parameters))
    model.tagger_, model.run_, model.classes_ = tagger, tagger.run, list(tagger.labels)
    if plain.mistake_rows is not None:
        model.mistake_rows_ = plain.mistake_rows
    if plain.mistake_guesses is not None:
        model.mistake_guesses_ = plain.mistake_guesses
    _remember(model, tagger, plain.evidence)
    return model


def _with_parameters(kind: type[Any], parameters: Mapping[str, Any]) -> Any:
    """An estimator with those of the parameters that are its own; a command line may have had others."""
    own = kind().get_params(deep=False)
    return kind(**{name: value for name, value in parameters.items() if name in own})


def _name_features(model: Any, names: tuple[str, ...] | None) -> None:
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)


def _remember(model: Any, learned: Any, evidence: Evidence) -> None:
    if evidence != NO_EVIDENCE:
        model._origin = Origin(learned, _examples(learned), evidence)


def _examples(learned: Any) -> int:
    """How many examples a memory has seen, or the run of a tagger."""
    return int(learned.examples if hasattr(learned, "examples") else learned.run.examples)
