"""From sequences of tokens to label sequences: features, labels, constraint and chain in one object.

`learn_tagger` trains a `Tagger`, which labels sequences, states margins, shows its weights by name, and can be pruned.
None of this needs scikit-learn.
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
    in_order,
    number_labels,
    stacked,
)
from novikoff.learn.chain.space import (
    Chain,
    ChainMemory,
    LabelledSequences,
    SequenceRun,
    best_label_sequences,
    label_tokens,
    wrong_labels,
)
from novikoff.learn.epochs import Watcher
from novikoff.learn.fit import fit, held_out_part
from novikoff.learn.model import LearnedModel, NamedWeight, heaviest_first
from novikoff.learn.review import voided
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
        if isinstance(min_count, bool) or int(min_count) != min_count or min_count < 1:
            raise ValueError(f"min_count={min_count!r} must be a whole number of at least 1")
        index: TemplateIndex | AttributeIndex | Numbers
        columns = (columns,) if isinstance(columns, str) else tuple(columns)
        if templates is None and columns:
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
        """Tokens as rows; features not seen in training are omitted."""
        return self.index.encode(self._given(sequences))

    def grow(self, sequences: Any, min_count: int) -> tuple["TokenFeatures", Tokens, NDArray[np.int64]]:
        """Add the features of new sequences; return all, the tokens in them, and the new numbers of those known."""
        index, tokens, moved = self.index.grow(self._given(sequences), min_count)
        return replace(self, index=index), tokens, moved

    def _given(self, sequences: Any) -> Any:
        if isinstance(sequences, Sentences) and not isinstance(self.index, TemplateIndex):
            raise ValueError(
                "the tagger has no templates, so it cannot use the columns of Sentences; train with templates"
            )
        sequences = as_sequences(sequences, numbers=isinstance(self.index, Numbers))
        if isinstance(self.index, TemplateIndex):
            return as_columns(sequences, self.columns, self.index.needed)
        return sequences


@dataclass(frozen=True)
class ScoredLabels:
    """A label sequence, its score, and by how much it beats the second best (infinite if there is none)."""

    labels: list[Label]
    score: float
    margin: float


@dataclass(frozen=True, eq=False)
class Tagger(LearnedModel):
    """A trained sequence labeller.

    `weights` predict. For an average they are the sum of `divisor` weight vectors, and are divided by it when shown.
    They are read out of the `memory`, from which learning continues; a pruned tagger has none. If `labels_are_fixed`,
    they were given beforehand, and no others are learned.
    """

    features: TokenFeatures
    labels: tuple[Label, ...]
    weights: Weights
    divisor: int = 1
    run: SequenceRun = field(kw_only=True)
    memory: ChainMemory | None = field(default=None, kw_only=True)
    labels_are_fixed: bool = field(default=False, kw_only=True)

    def made_with(self) -> dict[str, Any]:
        """The parameters that can be inferred from the tagger."""
        index = self.features.index
        templates = [template.text for template in index.templates] if isinstance(index, TemplateIndex) else None
        return {"templates": templates, "columns": self.features.columns, "readout": self.run.readout}

    def label(self, sequences: Any) -> list[list[Label]]:
        tokens = self.features.encode(sequences)
        numbers, _ = label_tokens(self.weights, tokens)
        return by_sequence([self.labels[number] for number in numbers.tolist()], tokens.starts)

    def label_with_scores(self, sequences: Any) -> list[ScoredLabels]:
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
        """The fraction of tokens with the right label; a label not seen in training is never predicted, and so
        wrong."""
        tokens = self.features.encode(sequences)
        numbers, _ = number_labels(labels, tokens.starts, self.labels)
        if not len(numbers):
            raise ValueError("there are no tokens to score")
        return 1.0 - float(np.mean(wrong_labels(self.weights, tokens, numbers)))

    def heaviest(self, n: int | None = 20, label: Label | None = None) -> list[NamedWeight]:
        """The weights of features, the largest absolute value first; of one label, if it is given."""
        features, numbers, weights = self.weights.emissions.entries()
        if label is not None:
            if label not in self.labels:
                raise ValueError(f"label {label!r} is unknown; known are {', '.join(map(str, self.labels))}")
            chosen = numbers == self.labels.index(label)
            features, numbers, weights = features[chosen], numbers[chosen], weights[chosen]
        order = np.argsort(-np.abs(weights), kind="stable")[:n]
        names = self.features.index.names()
        named = zip(numbers[order].tolist(), features[order].tolist(), weights[order].tolist(), strict=True)
        return [NamedWeight(self.labels[number], names[row], weight / self.divisor) for number, row, weight in named]

    def weights_by_name(self) -> list[NamedWeight]:
        return self.heaviest(None)

    def links(self) -> list[NamedWeight]:
        """The weights of a label after another, its name, the largest absolute value first; None is the sequence
        boundary."""
        ends, table = (*self.labels, None), self.weights.links.table
        places = np.argwhere(np.isfinite(table)).tolist()
        return heaviest_first(NamedWeight(ends[j], ends[i], float(table[i, j]) / self.divisor) for i, j in places)

    def joint_features(self, sequence: Any, labels: Sequence[Label]) -> dict[Any, float]:
        """The features of a sequence with its labels, by name: what a mistake adds of gold, and subtracts of a guess.

        ("state", feature, label) sums the feature's values at tokens of the label, ("transition", before, after) counts
        how often one label follows another; None is the sequence boundary.
        """
        from scipy.sparse import coo_array

        rows, names = self.features.encode([sequence]).rows, self.features.index.names()
        table = coo_array(rows.as_scipy())
        found: dict[Any, float] = {}
        for token, column, value in zip(table.row.tolist(), table.col.tolist(), table.data.tolist(), strict=True):
            name = ("state", names[column], labels[token])
            found[name] = found.get(name, 0.0) + value
        for link in itertools.pairwise((None, *labels, None)):
            found["transition", *link] = found.get(("transition", *link), 0.0) + 1.0
        return found

    def named_weights(self) -> dict[Any, float]:
        states = {("state", name, label): weight for label, name, weight in self.heaviest(None)}
        return states | {("transition", before, after): weight for after, before, weight in self.links()}

    def pruned(self, below: float = 0.0) -> "Tagger":
        """A tagger without weights of size `below` or less, and without the features that have no weight left."""
        if not below >= 0.0:
            raise ValueError(f"below={below!r} must be a number of at least 0")
        if isinstance(self.features.index, Numbers):
            raise ValueError("features that are numbers cannot be dropped: the arrays would no longer fit")
        rows, labels, values = self.weights.emissions.entries()
        stay = np.abs(values) > below * self.divisor
        counts = np.bincount(rows[stay], minlength=self.weights.n_features)
        features = replace(self.features, index=self.features.index.keep(counts > 0))
        emissions = Emissions.of_entries(self.weights.n_labels, counts[counts > 0], labels[stay], values[stay])
        weights = self.weights._replace(emissions=emissions)
        return replace(self, features=features, weights=weights, memory=None, review=voided(self.review))


def learn_tagger(
    sequences: Any,
    labels: Sequence[Sequence[Label]],
    *,
    templates: Sequence[str] | None = None,
    columns: str | Sequence[str] = (),
    min_count: int = 1,
    constraint: Constraint | None = None,
    cost: float = 0.0,
    classes: Sequence[Label] | None = None,
    start: Tagger | None = None,
    watch: Watcher | None = None,
    **options: Any,
) -> Tagger:
    """Train a tagger. The options are those of `novikoff.options`.

    Held-out sequences are not used for anything, not even the features, and the record counts how many of them are
    labelled wrong. With `early_stopping`, the number of epochs is that with the fewest wrong labels. With `start`,
    learning continues from that tagger, which is not changed: its features stay, and those of the new sequences are
    added, as are their labels, unless they were fixed by `classes`.

    >>> words = [["a", "dog"], ["the", "dog", "runs"]]
    >>> tagger = learn_tagger(words, [["D", "N"], ["D", "N", "V"]], templates=["w[0]", "w[-1]"], random_state=0)
    >>> tagger.label([["the", "cat", "runs"]])
    [['D', 'N', 'V']]
    >>> more = learn_tagger([["run", "!"]], [["V", "!"]], start=tagger, random_state=0)
    >>> more.labels, more.run.mistakes - tagger.run.mistakes
    (('!', 'D', 'N', 'V'), 1)
    """
    asked = Options.of(options, "learn_tagger")
    part = held_out_part(asked, start)
    made: dict[str, Any] = {"templates": templates, "columns": columns, "min_count": min_count}
    if start is None:
        features, examples, known = _encoded(sequences, labels, part, classes, **made)
        memory, allowed = None, _allowed(constraint, known)
    else:
        _check_same(start, templates, classes)
        start = replace(start, labels_are_fixed=start.labels_are_fixed or classes is not None)
        features, examples, known, memory = _grown(sequences, labels, start, min_count, constraint)
        allowed = memory.allowed
        made |= {name: start.parameters.get(name, made[name]) for name in ("templates", "columns")}
    if allowed is not None:
        learned_part = examples if part is None else examples.parted(part)[0]
        _check_gold(learned_part.labels, learned_part.tokens.starts, known, allowed)
    learned = fit(examples, Chain(allowed, cost), replace(asked, held_out=part), start=memory, watch=watch)
    memory, mistakes = learned.memory, learned.mistakes
    guesses = None
    if mistakes.guesses is not None:
        guesses = [[known[number] for number in guess.tolist()] for guess in mistakes.guesses]
    run, rows = _named_run(learned.run, known), mistakes.rows
    del learned, examples, mistakes  # they take much memory
    features, memory = _without_untouched(features, memory)
    made |= {"constraint": constraint, "cost": cost, **options}
    return Tagger(
        features,
        tuple(known),
        memory.read_out(asked.readout),
        memory.divisor(asked.readout),
        run=run,
        memory=memory,
        labels_are_fixed=classes is not None or (start is not None and start.labels_are_fixed),
        parameters=made | {"held_out": None if part is None else part.upper - part.lower},
        mistake_rows=rows,
        mistake_guesses=guesses,
        review=None if start is None else voided(start.review),
    )


def learn_online(
    sequences: Any, labels: Sequence[Sequence[Label]], *, start: Tagger | None = None, **how: Any
) -> Tagger:
    """Learn sequences once, in the order given, starting from a tagger or anew.

    The record covers all calls so far: their mistakes, their sequences, and one bound.
    """
    how |= {"max_iter": 1, "shuffle": False, "early_stopping": False}
    how |= dict.fromkeys(("held_out", "time_limit", "min_margin"))  # all are learned, or none
    tagger = learn_tagger(sequences, labels, start=start, **how)
    assert tagger.memory is not None
    rows, guesses = tagger.mistake_rows, tagger.mistake_guesses
    in_order = not how.get("cost")
    if start is not None and start.memory is not None and rows is not None:
        in_order = start.run.stopped is None and start.run.order == "given" and in_order
        rows = rows + start.memory.examples
        if start.mistake_rows is not None:
            rows = np.concatenate([start.mistake_rows, rows])
        if guesses is not None and start.mistake_guesses is not None:
            guesses = [*start.mistake_guesses, *guesses]
    run = tagger.memory.recorded(tagger.run.readout, order="given" if in_order else None, kind=SequenceRun)
    return replace(tagger, run=run, mistake_rows=rows, mistake_guesses=guesses)


def _encoded(
    sequences: Any,
    labels: Sequence[Sequence[Label]],
    part: HeldOut | None,
    classes: Sequence[Label] | None,
    templates: Sequence[str] | None,
    columns: str | Sequence[str],
    min_count: int,
) -> tuple[TokenFeatures, LabelledSequences, list[Label]]:
    labels = list(labels)
    if templates is None and not len(columns) and isinstance(sequences, Sentences):
        columns = _columns_without(sequences, labels)
    sequences = as_sequences(sequences, numbers=templates is None and not len(columns))
    named = None if classes is None else in_order(dict.fromkeys(classes))
    if part is None:
        features, tokens = TokenFeatures.learn(sequences, templates, columns, min_count)
        numbers, known = number_labels(labels, tokens.starts, named)
    else:
        if len(sequences) != len(labels):
            raise ValueError(f"X has {len(sequences)} sequences, but y has {len(labels)}")
        kept = part.parted(len(labels), "sequence")[0]
        features, some = TokenFeatures.learn(_sequences(sequences, kept), templates, columns, min_count)
        _, known = number_labels(_sequences(labels, kept), some.starts, named)
        tokens = features.encode(sequences)
        numbers, _ = number_labels(labels, tokens.starts, known)
    if named is not None:
        _check_fixed(labels, numbers, named)
    return features, LabelledSequences(tokens, numbers, len(known), min_count > 1), known


def _columns_without(sentences: Sentences, labels: list[Sequence[Label]]) -> tuple[str, ...]:
    flat = [label for sequence in labels for label in sequence]
    columns = tuple(name for name in sentences.columns if sentences.values[name] != flat)
    if not columns:
        raise ValueError("the sentences have no column but that of their labels, so there is nothing to learn from")
    return columns


def _grown(
    sequences: Any,
    labels: Sequence[Sequence[Label]],
    start: Tagger,
    min_count: int,
    constraint: Constraint | None,
) -> tuple[TokenFeatures, LabelledSequences, list[Label], ChainMemory]:
    """Sequences in the features and labels of a tagger and in their own, and its memory, renumbered alike."""
    if start.memory is None:
        raise ValueError(
            "this tagger cannot continue learning: it was pruned, so it has only the weights that predict; "
            "train it again"
        )
    features, tokens, columns = start.features.grow(sequences, min_count)
    known, labels = list(start.labels), list(labels)
    if not start.labels_are_fixed:
        known = in_order(dict.fromkeys([*known, *number_labels(labels, tokens.starts)[1]]))
    numbers, _ = number_labels(labels, tokens.starts, known)
    if start.labels_are_fixed:
        _check_fixed(labels, numbers, known)
    place = {label: number for number, label in enumerate(known)}
    places = np.array([place[label] for label in start.labels], dtype=np.int64)
    allowed = _still_allowed(constraint, known, places, start.memory.allowed)
    memory = start.memory.moved(columns, places, features.index.n_columns, allowed, room=True)
    return features, LabelledSequences(tokens, numbers, len(known), is_encoded=True), known, memory


def _still_allowed(
    constraint: Constraint | None, known: list[Label], places: NDArray[np.int64], before: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which label may follow which when learning continues: unchanged among the labels known before."""
    ends = np.append(places, len(known))
    allowed = _allowed(constraint, known)
    if allowed is None:
        if len(known) >= len(before) and not before.all():
            raise ValueError("new labels need the constraint that the tagger was learned with; pass it as constraint=")
        allowed = np.ones((len(known) + 1, len(known) + 1), dtype=np.bool_)
        allowed[np.ix_(ends, ends)] = before
    elif not np.array_equal(allowed[np.ix_(ends, ends)], before):
        raise ValueError("the constraint cannot change when learning continues; train a new tagger with another one")
    return allowed


def _check_same(start: Tagger, templates: Sequence[str] | None, classes: Sequence[Label] | None) -> None:
    same = (start.parameters.get("templates"), start.made_with()["templates"])
    if templates is not None and list(templates) not in [list(made) for made in same if made is not None]:
        raise ValueError("the templates cannot change when learning continues; train a new tagger with other ones")
    if classes is not None and set(classes) != set(start.labels):
        raise ValueError(
            f"classes={list(classes)} differ from the labels known already, {list(start.labels)}; name them on the "
            "first partial_fit only"
        )


def _check_fixed(labels: list[Sequence[Label]], numbers: NDArray[np.int64], known: list[Label]) -> None:
    if len(numbers) and numbers.min() < 0:
        label = next(label for sequence in labels for label in sequence if label not in known)
        raise ValueError(
            f"label {label!r} was not in classes={known}; name all labels on the first partial_fit, or omit classes= "
            "to let labels grow"
        )


def _without_untouched(features: TokenFeatures, memory: ChainMemory) -> tuple[TokenFeatures, ChainMemory]:
    """Without the features that no mistake has touched: these are in no difference of two sequences that was learned.

    Arrays of numbers keep their width.
    """
    touched = memory.weights.emissions.blocks[:, 1] > 0
    if isinstance(features.index, Numbers):
        touched[:] = True
    else:
        features = replace(features, index=features.index.keep(touched))
    columns, labels = np.cumsum(touched, dtype=np.int64) - 1, np.arange(memory.n_labels)
    return features, memory.moved(columns, labels, int(touched.sum()), memory.allowed, room=False)


def _named_run(run: SequenceRun, known: list[Label]) -> SequenceRun:
    """The record, with labels instead of their numbers."""
    if run.cycle is None:
        return run
    guesses = tuple(tuple(known[number] for number in guess) for guess in run.cycle.rivals or ())
    return replace(run, cycle=replace(run.cycle, rivals=guesses))


def judged_by_folds(
    sequences: Any, labels: Sequence[Sequence[Label]], folds: int, *, random_state: int, **options: Any
) -> dict[str, Any]:
    """Sequences and errors of every part, for a tagger trained without it: fields of a record."""
    runs = [
        learn_tagger(sequences, labels, held_out=part, random_state=random_state, **options).run
        for part in HeldOut.folds(folds, random_state)
    ]
    return {
        "fold_rows": tuple(run.held_out_rows for run in runs),
        "fold_errors": tuple(run.held_out_errors or 0 for run in runs),
    }


def _sequences(sequences: Any, numbers: NDArray[np.int64]) -> Any:
    if isinstance(sequences, Sentences):
        return sequences.some(numbers.tolist())
    return [sequences[number] for number in numbers.tolist()]


def _allowed(constraint: Constraint | None, labels: list[Label]) -> NDArray[np.bool_] | None:
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
    """Raise ValueError naming the first training sequence that breaks the constraint, if one does."""
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
        "the constraint: it is not allowed there; fix the labels, or drop the constraint"
    )
