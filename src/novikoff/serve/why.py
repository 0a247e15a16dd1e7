"""Why a prediction was what it was: the features and the past mistakes that contribute to it.

The last weights are the sum of the mistakes z_k, so a score is the sum of <z_k, x>. The average of the weights after
each of n examples has z_k with the share (n - a_k)/n, where a_k examples came before it, and a mean with a half-life
has another share (`novikoff.learn.online.past`). Either way every mistake has its part in the lead of an answer over
its rival, and the parts add up.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from novikoff.features.names import Intercept, as_numbers
from novikoff.learn.online.past import Average, Fading
from novikoff.serve import events
from novikoff.serve.events import Example, Label, Prediction, Row, Settings
from novikoff.serve.fold import Line, Mistake, Path, State, path_to
from novikoff.serve.messages import Contribution, PastMistake, Why
from novikoff.serve.replay import mistakes_of, rollbacks_of, state_at
from novikoff.serve.store import Store

MISTAKES_AT_ONCE = 500


def why(store: Store, model: int, state: State, said: Prediction, top: int) -> Why:
    """The features and the mistakes that decided a prediction, those that weigh most."""
    line = state.line if said.line == state.line.number else state_at(store, model, said.seq).line
    path = Path(path_to(said.seq, rollbacks_of(store, model)))
    x, given = _folded(said.x, said.point, line.settings), _folded(said.x, None, line.settings)
    by_feature: dict[Any, float] = defaultdict(float)
    past: list[PastMistake] = []
    n_mistakes, total = 0, 0.0
    for mistake, example in _examples(store, model, line, path, said.seq):
        n_mistakes += 1
        share = _sign(mistake, example.y, said) * _share(mistake, said, line.settings)
        z = _folded(example.x, mistake.point, line.settings)
        products = {name: share * z[name] * value for name, value in x.items() if name in z}
        for name, product in products.items():
            by_feature[name] += product
        contribution = sum(products.values())
        total += contribution
        past.append(PastMistake(mistake.seq, example.x, example.y, contribution))
        if len(past) > 4 * top:
            past = heapq.nlargest(top, past, key=_weight)
    features = [
        Contribution("(intercept)" if name is Intercept else str(name), float(given[name]), contribution)
        for name, contribution in by_feature.items()
    ]
    return Why(
        *(said.id, said.label, said.rival, said.seq, said.lead),
        features=heapq.nlargest(top, features, key=_weight),
        past=heapq.nlargest(top, past, key=_weight),
        mistakes=n_mistakes,
        rest=said.lead - total,
    )


def _weight(part: PastMistake | Contribution) -> float:
    return abs(part.contribution)


def _folded(x: Mapping[str, Any], point: Mapping[str, float] | None, settings: Settings) -> dict[Any, float]:
    """The example as it was scaled, if it was, with its constant."""
    return {**as_numbers({**x, **(point or {})}), **({Intercept: 1.0} if settings.fit_intercept else {})}


def _share(mistake: Mistake, said: Prediction, settings: Settings) -> float:
    """How much of a mistake is in the weights that answered."""
    if said.readout == "last":
        return 1.0
    past: Average | Fading = Fading(settings.half_life) if said.readout == "recent" else Average()
    return (1.0 - past.lacks(mistake.before, said.examples)) / past.whole(said.examples)


def _sign(mistake: Mistake, y: Label, said: Prediction) -> int:
    """How often the mistake was added to the label that was answered, and subtracted from its rival."""
    other = mistake.rival
    if other is None:
        other = said.rival if y == said.label else said.label
    return (y == said.label) - (other == said.label) - (y == said.rival) + (other == said.rival)


def _examples(store: Store, model: int, line: Line, path: Path, upto: int) -> Iterator[tuple[Mistake, Example]]:
    """The mistakes of a line up to an event, with their examples, as far as they are still in the log."""
    mistakes = [mistake for mistake in mistakes_of(store, model, line, path, 0)[0] if mistake.seq <= upto]
    for start in range(0, len(mistakes), MISTAKES_AT_ONCE):
        some = mistakes[start : start + MISTAKES_AT_ONCE]
        with store.lock:
            rows = store.rows_of(model, [mistake.seq for mistake in some])
        examples = {seq: example for row in rows for seq, example in _examples_of(row)}
        yield from ((mistake, examples[mistake.seq]) for mistake in some if mistake.seq in examples)


def _examples_of(row: Row) -> Iterator[tuple[int, Example]]:
    for seq, event in enumerate(events.decode(row.kind, row.body), start=row.first):
        yield seq, event if row.kind == "learn" else Example(event.prediction.x, event.y)
