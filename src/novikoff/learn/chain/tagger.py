"""From sequences of tokens to label sequences: features, labels, constraint and chain in one object.

`learn_tagger` is all that it takes to train one; a `Tagger` labels sequences, says how sure it is, shows its weights by
name, and can be pruned. None of this knows of scikit-learn.
"""

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.chunks import SCHEMES, allowed_transitions
from novikoff.data.held_out import HeldOut
from novikoff.data.sentences import Sentences
from novikoff.engine.emissions import Emissions
from novikoff.engine.viterbi import Weights
from novikoff.features.templates import TemplateIndex, default_templates, needed_columns, parse_template, translated
from novikoff.features.tokens import (
    AttributeIndex,
    Numbers,
    Tokens,
    are_numeric,
    as_columns,
    as_sequences,
    by_sequence,
    number_labels,
    stacked,
)
from novikoff.learn.chain.space import (
    Chain,
    LabelledSequences,
    SequenceRun,
    best_label_sequences,
    label_tokens,
    wrong_labels,
)
from novikoff.learn.epochs import Watcher
from novikoff.learn.fit import fit, held_out_part
from novikoff.learn.model import LearnedModel, NamedWeight
from novikoff.options import Options

Label = Hashable
Constraint = str | Callable[[Any, Any], bool]


@dataclass(frozen=True)
class TokenFeatures:
    """How tokens become rows: by templates over named columns, by their attributes, or as numbers."""

    index: TemplateIndex | AttributeIndex | Numbers
    columns: tuple[str, ...] = ()

    @classmethod
    def learn(
        cls, sequences: Any, templates: Sequence[str] | None, columns: str | Sequence[str], min_count: int
    ) -> tuple["TokenFeatures", Tokens]:
        """See which features there are, and give the tokens in them."""
        if isinstance(min_count, bool) or int(min_count) != min_count or min_count < 1:
            raise ValueError(f"min_count={min_count!r} must be a whole number of at least 1")
        index: TemplateIndex | AttributeIndex | Numbers
        columns = (columns,) if isinstance(columns, str) else tuple(columns)
        if templates is None and (columns or isinstance(sequences, Sentences)):
            templates = default_templates(columns)
        sequences = as_sequences(sequences, numbers=templates is None)
        if templates is not None:
            if isinstance(templates, str) or not len(templates):
                raise ValueError(f'templates={templates!r} must be a list of templates, such as ["w[0]", "w[-1]|w[0]"]')
            templates = translated(templates, columns or getattr(sequences, "columns", ()))
            needed = needed_columns([parse_template(text) for text in templates])
            index, tokens = TemplateIndex.learn(templates, as_columns(sequences, columns, needed), min_count)
        elif are_numeric(sequences):
            tokens = stacked(sequences)
            index = Numbers(tokens.rows.n_columns)
        else:
            index, tokens = AttributeIndex.learn(sequences, min_count)
        return cls(index, columns), tokens

    def encode(self, sequences: Any) -> Tokens:
        """Tokens as rows; features that were not learned are left out."""
        if isinstance(sequences, Sentences) and not isinstance(self.index, TemplateIndex):
            raise ValueError(
                "the tagger has no templates, so it cannot look at the columns of Sentences; learn with some"
            )
        sequences = as_sequences(sequences, numbers=isinstance(self.index, Numbers))
        if isinstance(self.index, TemplateIndex):
            return self.index.encode(as_columns(sequences, self.columns, self.index.needed))
        return self.index.encode(sequences)


@dataclass(frozen=True)
class LabelWeight:
    """A weight by name: of a feature and a label, or of a label after a label (None: the outside)."""

    feature: Any
    label: Label | None
    weight: float


@dataclass(frozen=True)
class ScoredLabels:
    """A label sequence, its score, and by how much it beats the second best (infinite if there is none)."""

    labels: list[Label]
    score: float
    margin: float


@dataclass(frozen=True, eq=False)
class Tagger(LearnedModel):
    """A trained sequence labeller.

    `weights` decide. Those of an average are the sum of `divisor` weight vectors, and what is shown is divided by it.
    """

    features: TokenFeatures
    labels: tuple[Label, ...]
    weights: Weights
    divisor: int = 1
    run: SequenceRun = field(kw_only=True)

    def made_with(self) -> dict[str, Any]:
        """The parameters that can be read off it, whatever was asked for."""
        index = self.features.index
        templates = [template.text for template in index.templates] if isinstance(index, TemplateIndex) else None
        return {"templates": templates, "columns": self.features.columns, "readout": self.run.readout}

    def label(self, sequences: Any) -> list[list[Label]]:
        """The best label sequence of every sequence."""
        tokens = self.features.encode(sequences)
        numbers, _ = label_tokens(self.weights, tokens)
        return by_sequence([self.labels[number] for number in numbers.tolist()], tokens.starts)

    def label_with_scores(self, sequences: Any) -> list[ScoredLabels]:
        """The best label sequences with their scores and margins."""
        scored: list[ScoredLabels] = []
        for ranked in best_label_sequences(self.weights, self.features.encode(sequences), 2):
            if not len(ranked.scores):
                raise ValueError(f"sequence {len(scored)} has no label sequence that the constraint allows")
            margin = float(ranked.scores[0] - ranked.scores[1]) / self.divisor if len(ranked.scores) > 1 else np.inf
            scored.append(ScoredLabels(self._named(ranked.paths[0]), float(ranked.scores[0]) / self.divisor, margin))
        return scored

    def best(self, sequences: Any, k: int) -> list[list[tuple[list[Label], float]]]:
        """The k best label sequences of every sequence with their scores, best first; fewer where there are no more."""
        if isinstance(k, bool) or int(k) != k or k < 1:
            raise ValueError(f"k={k!r} must be a whole number of at least 1")
        found = best_label_sequences(self.weights, self.features.encode(sequences), int(k))
        return [
            [
                (self._named(path), float(score))
                for path, score in zip(ranked.paths, ranked.scores / self.divisor, strict=True)
            ]
            for ranked in found
        ]

    def _named(self, path: NDArray[np.int64]) -> list[Label]:
        return [self.labels[number] for number in path.tolist()]

    def accuracy(self, sequences: Any, labels: Sequence[Sequence[Label]]) -> float:
        """The share of tokens with the right label; a label that was never learned is never predicted, so it counts
        as wrong."""
        tokens = self.features.encode(sequences)
        numbers, _ = number_labels(labels, tokens.starts, self.labels)
        if not len(numbers):
            raise ValueError("there are no tokens to score")
        return 1.0 - float(np.mean(wrong_labels(self.weights, tokens, numbers)))

    def heaviest(self, n: int | None = 20, label: Label | None = None) -> list[LabelWeight]:
        """The weights of features, the largest in size first; of one label, if it is named."""
        features, numbers, weights = self.weights.emissions.entries()
        if label is not None:
            if label not in self.labels:
                raise ValueError(f"label {label!r} is unknown; known are {', '.join(map(str, self.labels))}")
            chosen = numbers == self.labels.index(label)
            features, numbers, weights = features[chosen], numbers[chosen], weights[chosen]
        order = np.argsort(-np.abs(weights), kind="stable")[:n]
        names = self.features.index.names()
        named = zip(features[order].tolist(), numbers[order].tolist(), weights[order].tolist(), strict=True)
        return [
            LabelWeight(names[feature], self.labels[number], weight / self.divisor) for feature, number, weight in named
        ]

    def weights_by_name(self) -> list[NamedWeight]:
        """The weights of features that are not 0, the largest in size first."""
        return [NamedWeight(weight.label, weight.feature, weight.weight) for weight in self.heaviest(None)]

    def links(self) -> list[LabelWeight]:
        """The weights of label after label, the largest in size first; None stands for the outside of a sequence."""
        ends: tuple[Label | None, ...] = (*self.labels, None)
        table = self.weights.links.table
        rows, columns = np.nonzero(np.isfinite(table) & (table != 0.0))
        links = [
            LabelWeight(ends[i], ends[j], float(table[i, j]) / self.divisor)
            for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
        return sorted(links, key=lambda link: -abs(link.weight))

    def joint_features(self, sequence: Any, labels: Sequence[Label]) -> dict[Any, float]:
        """The features of one sequence with its labels, by name: what a mistake adds of gold, and subtracts of a guess.

        ("state", feature, label) has the sum of the feature's values at tokens of the label, ("transition", before,
        after) how often one label follows another; None is the outside of a sequence.
        """
        from scipy.sparse import coo_array

        rows, names = self.features.encode([sequence]).rows, self.features.index.names()
        table = coo_array(rows.as_scipy() if rows.is_sparse else rows.as_array())
        found: dict[Any, float] = {}
        for token, column, value in zip(table.row.tolist(), table.col.tolist(), table.data.tolist(), strict=True):
            name = ("state", names[column], labels[token])
            found[name] = found.get(name, 0.0) + value
        for link in itertools.pairwise((None, *labels, None)):
            found["transition", *link] = found.get(("transition", *link), 0.0) + 1.0
        return found

    def named_weights(self) -> dict[Any, float]:
        """The weights under the names of `joint_features`."""
        states = {("state", weight.feature, weight.label): weight.weight for weight in self.heaviest(None)}
        return states | {("transition", link.feature, link.label): link.weight for link in self.links()}

    def pruned(self, below: float = 0.0) -> "Tagger":
        """Without weights of size `below` or less, and without the features that have no weight left."""
        if not below >= 0.0:
            raise ValueError(f"below={below!r} must be a number of at least 0")
        if isinstance(self.features.index, Numbers):
            raise ValueError("features that are numbers cannot be dropped: the arrays would no longer fit")
        features, weights = with_weight(self.features, self.weights, below * self.divisor)
        return replace(self, features=features, weights=weights)


def with_weight(
    features: TokenFeatures, weights: Weights, below: float = 0.0, *, touched: bool = False
) -> tuple[TokenFeatures, Weights]:
    """Without weights of size `below` or less, and without the features that have none left, or that no mistake has
    `touched`: these are in no difference of two sequences that was learned."""
    rows, labels, values = weights.emissions.entries()
    if below > 0.0:
        stay = np.abs(values) > below
        rows, labels, values = rows[stay], labels[stay], values[stay]
    counts = np.bincount(rows, minlength=weights.n_features)
    if not isinstance(features.index, Numbers):  # arrays of numbers keep their width
        wanted = weights.emissions.blocks[:, 1] > 0 if touched else counts > 0
        features, counts = replace(features, index=features.index.keep(wanted)), counts[wanted]
    emissions = Emissions.of_entries(weights.n_labels, counts, labels, values)
    return features, weights._replace(emissions=emissions)


def learn_tagger(
    sequences: Any,
    labels: Sequence[Sequence[Label]],
    *,
    templates: Sequence[str] | None = None,
    columns: str | Sequence[str] = (),
    min_count: int = 1,
    constraint: Constraint | None = None,
    cost: float = 0.0,
    watch: Watcher | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger. The options are those of `novikoff.options`.

    Sequences that are held out have no say in anything, not in the features either, and the record counts how many of
    these are labelled wrong. With `early_stopping`, the number of epochs is chosen by the fewest wrong labels.

    >>> words = [["a", "dog"], ["the", "dog", "runs"]]
    >>> tagger = learn_tagger(words, [["D", "N"], ["D", "N", "V"]], templates=["w[0]", "w[-1]"], random_state=0)
    >>> tagger.label([["the", "cat", "runs"]])
    [['D', 'N', 'V']]
    """
    asked = Options.of(options, "learn_tagger")
    part = held_out_part(asked)
    features, examples, known = _encoded(sequences, labels, part, templates, columns, min_count)
    allowed = _allowed(constraint, known)
    if allowed is not None:
        learned_part = examples if part is None else examples.parted(part)[0]
        _check_gold(learned_part.labels, learned_part.tokens.starts, known, allowed)
    learned = fit(examples, Chain(allowed, cost), replace(asked, held_out=part), watch=watch)
    memory, mistakes, readout = learned.memory, learned.mistakes, asked.readout
    weights, divisor = memory.read_out(readout), memory.divisor(readout)
    guesses = None
    if mistakes.guesses is not None:
        guesses = [[known[number] for number in guess.tolist()] for guess in mistakes.guesses]
    run, rows = _named_run(learned.run, known), mistakes.rows
    del learned, examples, memory, mistakes  # much memory, which the rest can do without
    features, weights = with_weight(features, weights, touched=True)
    parameters: dict[str, Any] = {
        "templates": templates,
        "columns": columns,
        "min_count": min_count,
        "constraint": constraint,
    }
    parameters |= {"cost": cost, **options, "held_out": None if part is None else part.upper - part.lower}
    return Tagger(
        features,
        tuple(known),
        weights,
        divisor,
        run=run,
        parameters=parameters,
        mistake_rows=rows,
        mistake_guesses=guesses,
    )


def _encoded(
    sequences: Any,
    labels: Sequence[Sequence[Label]],
    part: HeldOut | None,
    templates: Sequence[str] | None,
    columns: str | Sequence[str],
    min_count: int,
) -> tuple[TokenFeatures, LabelledSequences, list[Label]]:
    """Sequences in the features, and with the labels, of those that are not held out."""
    sequences, labels = as_sequences(sequences, numbers=templates is None and not len(columns)), list(labels)
    if part is None:
        features, tokens = TokenFeatures.learn(sequences, templates, columns, min_count)
        numbers, known = number_labels(labels, tokens.starts)
    else:
        if len(sequences) != len(labels):
            raise ValueError(f"X has {len(sequences)} sequences, but y has {len(labels)}")
        kept = part.parted(len(labels), "sequence")[0]
        features, some = TokenFeatures.learn(_sequences(sequences, kept), templates, columns, min_count)
        _, known = number_labels(_sequences(labels, kept), some.starts)
        tokens = features.encode(sequences)
        numbers, _ = number_labels(labels, tokens.starts, known)
    return features, LabelledSequences(tokens, numbers, len(known), min_count > 1), known


def _named_run(run: SequenceRun, known: list[Label]) -> SequenceRun:
    """The record, with labels in the place of their numbers."""
    if run.cycle is None:
        return run
    guesses = tuple(tuple(known[number] for number in guess) for guess in run.cycle.rivals or ())
    return replace(run, cycle=replace(run.cycle, rivals=guesses))


def judged_by_folds(
    sequences: Any, labels: Sequence[Sequence[Label]], folds: int, *, random_state: int, **options: Any
) -> dict[str, Any]:
    """Sequences and errors of every part, for a tagger that was learned without it: fields of a record."""
    runs = [
        learn_tagger(sequences, labels, held_out=part, random_state=random_state, **options).run
        for part in HeldOut.folds(folds, random_state)
    ]
    return {
        "fold_rows": tuple(run.held_out_rows for run in runs),
        "fold_errors": tuple(run.held_out_errors or 0 for run in runs),
    }


def _sequences(sequences: Any, numbers: NDArray[np.int64]) -> Any:
    """Some of the sequences, in whatever form they come."""
    if isinstance(sequences, Sentences):
        return sequences.some(numbers.tolist())
    return [sequences[number] for number in numbers.tolist()]


def _allowed(constraint: Constraint | None, labels: list[Label]) -> NDArray[np.bool_] | None:
    """Which label may follow which, the outside of a sequence being the last."""
    if constraint is None:
        return None
    allowed = np.ones((len(labels) + 1, len(labels) + 1), dtype=bool)
    if isinstance(constraint, str):
        if constraint not in SCHEMES:
            raise ValueError(
                f"constraint={constraint!r} is unknown; it is one of {', '.join(SCHEMES)}, or a function of two labels"
            )
        names = [str(label) for label in labels]
        allowed[:-1, :-1], allowed[-1, :-1], allowed[:-1, -1] = allowed_transitions(names, constraint)
        return allowed
    for i, before in enumerate(labels):
        for j, after in enumerate(labels):
            allowed[i, j] = bool(constraint(before, after))
    return allowed


def _check_gold(
    numbers: NDArray[np.int64], starts: NDArray[np.int64], labels: list[Label], allowed: NDArray[np.bool_]
) -> None:
    """Say which sequence of the training data breaks the constraint, if one does."""
    outside = len(labels)
    before = np.concatenate([[outside], numbers])
    before[starts[:-1]] = outside
    illegal = ~allowed[before[: len(numbers)], numbers]
    ends = starts[1:][np.diff(starts) > 0] - 1
    illegal[ends] |= ~allowed[numbers[ends], outside]
    if not illegal.any():
        return
    token = int(np.flatnonzero(illegal)[0])
    sequence = int(np.searchsorted(starts, token, side="right")) - 1
    raise ValueError(
        f"the label {labels[numbers[token]]!r} of token {token - int(starts[sequence])} in sequence {sequence} breaks "
        "the constraint:  not allowed there; fix the labels, or drop the constraint"
    )
