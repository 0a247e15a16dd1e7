"""The changes to a store. A job is a generator: it writes to the store, yields, and applies to memory what it wrote.

The first half runs in the writer's thread, inside a transaction, in the order in which jobs arrived. It may refuse, as
long as it has written nothing, and yields the answer, if that is known already. The second half runs in the event loop,
after the commit, in the same order, and returns the answer: nothing is visible before.
"""

import asyncio
import hashlib
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve import events, fold, messages
from novikoff.serve.events import Example, Kind, LogRow, Prediction, Revealed, Settings
from novikoff.serve.fold import ModelState
from novikoff.serve.messages import RefusedError
from novikoff.serve.models import LoadedModel, Models
from novikoff.serve.replay import intact, take_snapshot
from novikoff.serve.store import Key, Store

KEYS_LAST = 86400.0
NEWEST = 2  # snapshots to keep, so that a damaged one has a predecessor
MOST_EVENTS = 2048  # in a transaction of several jobs

Work = Generator[bytes | None, None, Any]


class Token(NamedTuple):
    """An idempotency key, and the digest of the request that it came with."""

    name: str
    digest: bytes

    @classmethod
    def of(cls, name: str, *request: bytes) -> "Token":
        return cls(name, hashlib.sha256(b"\0".join(request)).digest())


class Job:
    """Something to write: so many events, so many bytes.

    A job that is `alone` has a transaction of its own, after all earlier jobs have been applied: it reads the model.
    """

    def __init__(
        self,
        model: LoadedModel,
        work: Callable[[Store, float], Work],
        token: Token | None = None,
        size: int = 1,
        weight: int = 0,
        alone: bool = False,
    ) -> None:
        self.model, self.work, self.token, self.size, self.weight = model, work, token, size, weight
        self.alone = alone
        # Those who wait for the answer.
        self.callers: list[asyncio.Future[Any]] = [asyncio.get_running_loop().create_future()]
        self.refused: RefusedError | None = None
        self._again: Key | None = None

    def prepare(self) -> None:
        """Do slow work before the transaction; the state of the model does not change meanwhile."""

    def plan(self, store: Store, now: float) -> None:
        """Write to the store."""
        model, token = self.model, self.token
        if model.deleted:
            raise RefusedError(404, f"there is no model {model.name!r}")
        if token is not None:
            self._again = store.key(model.number, token.name)
            if self._again is not None and self._again.digest != token.digest:
                raise RefusedError(
                    422, "this Idempotency-Key was already used for another request; use a new one", "Idempotency-Key"
                )
        if self._again is None:
            first, self._work = model.head + 1, self.work(store, now)
            answer = next(self._work)
            if token is not None:
                store.add_key(model.number, token.name, Key(token.digest, first, self.size, answer), now + KEYS_LAST)

    def settle(self) -> None:
        """Apply to memory what is on the disk, and answer."""
        if self.refused is not None:
            for caller in self.callers:
                if not caller.done():
                    caller.set_exception(self.refused)
        elif self._again is not None:
            tell(self.callers[0], self._again.answer or self._again)
        else:
            try:
                next(self._work)
            except StopIteration as end:
                tell(self.callers[0], end.value)


def tell(caller: "asyncio.Future[Any]", answer: Any) -> None:
    """Answer a caller that still waits."""
    if not caller.done():
        caller.set_result(answer)


def _append(store: Store, model: LoadedModel, now: float, kind: Kind, size: int, body: bytes) -> LogRow:
    row = LogRow(model.head + 1, size, now, kind, body)
    store.append(model.number, row)
    model.head = row.last
    return row


class Learn(Job):
    """Examples to learn, encoded as `body`. Requests that wait together are one job, with one row of the log."""

    def __init__(self, model: LoadedModel, examples: list[Example], body: bytes, token: Token | None = None) -> None:
        super().__init__(model, self._learn, token, len(examples), len(body))
        self.examples, self.bodies, self.sizes = examples, [body], [len(examples)]

    def join(self, later: "Learn") -> bool:
        """Do the work of a later job as well, if it can be in the same row."""
        if self.model is not later.model or self.token or later.token or self.size + later.size > MOST_EVENTS:
            return False
        self.examples += later.examples
        self.bodies += later.bodies
        self.sizes += later.sizes
        self.callers += later.callers
        self.size, self.weight = self.size + later.size, self.weight + later.weight
        return True

    def _learn(self, store: Store, now: float) -> Work:
        row = _append(store, self.model, now, "learn", self.size, b"".join(self.bodies))
        yield None
        flags, end = fold.apply(self.model.state, row, self.examples), 0
        for caller, size in zip(self.callers, self.sizes, strict=True):
            start, end = end, end + size
            tell(caller, learned(row.first + end - 1, size, sum(flags[start:end])))


def learned(seq: int, examples: int, mistakes: int) -> bytes:
    """Return the answer to a request that learned examples, up to the event `seq`."""
    return events.ENCODER.encode(messages.LearnReply(seq, examples, mistakes))


def reveal(model: LoadedModel, labels: list[tuple[str, Any]], token: Token | None) -> Job:
    """Labels of remembered predictions, by their ids."""

    def work(store: Store, now: float) -> Work:
        found: dict[str, Revealed] = {}
        for line, (name, label) in enumerate(labels, start=1):
            where = "id" if len(labels) == 1 else f"line {line}: id"
            kept = store.remembered(model.number, name)
            if kept is None or kept.expires < now:
                raise RefusedError(404, f"no prediction {name!r} waits for a label; it may have expired", where)
            if kept.revealed is not None or name in found:
                raise RefusedError(409, f"the label of {name!r} has been revealed already", where)
            found[name] = Revealed(events.decode_prediction(kept.body), label)
        content = list(found.values())
        row = _append(store, model, now, "reveal", len(content), events.encode(content))
        store.reveal(model.number, list(found), row.first)
        yield None
        return learned(row.last, row.size, sum(fold.apply(model.state, row, content)))

    return Job(model, work, token, size=len(labels))


def roll_back(model: LoadedModel, earlier: ModelState, token: Token | None) -> Job:
    """Go back to `earlier`, the state of the model after an earlier event."""

    def work(store: Store, now: float) -> Work:
        row = _append(store, model, now, "rollback", 1, events.encode([events.Rollback(earlier.seq)]))
        answer = events.ENCODER.encode(messages.Done(row.last))
        yield answer
        earlier.go_on_from(row.first)
        earlier.mistakes = []  # they are in the index already
        model.state = earlier
        return answer

    return Job(model, work, token, alone=True)


def remember(model: LoadedModel, predictions: list[Prediction], answer: bytes, token: Token | None) -> Job:
    """Predictions that wait for their labels."""
    encoded = [(prediction.id, events.ENCODER.encode(prediction)) for prediction in predictions]

    def work(store: Store, now: float) -> Work:
        store.remember(model.number, encoded, now + model.state.settings.remember_for)
        yield answer
        return answer

    return Job(model, work, token, len(encoded), sum(len(body) for _, body in encoded))


def create(models: Models, name: str, settings: Settings, learner: OnlinePerceptron) -> Job:
    """A new model."""
    model = LoadedModel(0, name, fold.begin(settings, learner), 0)

    def work(store: Store, now: float) -> Work:
        losses, number = models.losses, store.create(name)
        if number is None:
            raise RefusedError(409, f"a model {name!r} was created at the same time; retry")
        model.number = number
        store.append(number, LogRow(0, 1, now, "create", events.encode([settings])))
        yield None
        models.add(model, losses)
        return model

    return Job(model, work)


def delete(models: Models, model: LoadedModel) -> Job:
    """Delete a model and its log."""

    def work(store: Store, now: float) -> Work:
        store.delete(model.number)
        model.deleted = True
        yield None
        models.remove(model)

    return Job(model, work)


class Ask(Job):
    """Run a function on the model while nothing is learned and all its mistakes are in the index.

    It writes nothing of its own: its commit has the mistakes.
    """

    def __init__(self, model: LoadedModel, ask: Callable[[], Any] = lambda: None) -> None:
        super().__init__(model, self._return, alone=True)
        self.ask = ask

    def prepare(self) -> None:
        self.found = self.ask()

    def _return(self, store: Store, now: float) -> Work:
        yield None
        return self.found


class TakeSnapshot(Job):
    """Take a snapshot; then delete the log before the older ones, if it is old enough."""

    def __init__(self, model: LoadedModel, keep_log: float | None) -> None:
        super().__init__(model, self._write, alone=True)
        self.keep_log = keep_log

    def prepare(self) -> None:
        self.content, self.snapshot = take_snapshot(self.model.state)

    def _write(self, store: Store, now: float) -> Work:
        number = self.model.number
        store.add_snapshot(number, self.snapshot, self.content)
        known = store.snapshots(number)
        newest = [snapshot for snapshot in known if fold.is_on(self.model.state.parts, snapshot.seq)][:NEWEST]
        for old in known:
            if old not in newest:
                store.delete_snapshot(number, old.seq)
        if self.keep_log is not None and len(newest) == NEWEST and intact(store, number, newest[-1]):
            store.trim(number, newest[-1].seq, now - max(self.keep_log, KEYS_LAST))
        yield None
        self.model.saved = self.snapshot.seq
