"""The changes to a store, one class each. A job is planned in a transaction, and applied to memory after its commit.

`plan` runs in the writer's thread, in the order in which jobs arrived. It may refuse, as long as it has written
nothing. `apply` runs in the event loop, after the commit, in the same order, and returns the answer: nothing is visible
before.
"""

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve import events, fold, messages
from novikoff.serve.events import Kind, LogRow, Prediction, Revealed, Settings
from novikoff.serve.fold import Mistake, ModelState
from novikoff.serve.messages import RefusedError
from novikoff.serve.models import LoadedModel, Models
from novikoff.serve.replay import load_snapshot, take_snapshot
from novikoff.serve.store import Key, Snapshot, Store

KEYS_LAST = 86400.0
NEWEST = 2  # snapshots to keep, so that a damaged one has a predecessor


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

    size = 1
    weight = 0
    alone = False
    refused: RefusedError | None = None

    def __init__(self, model: LoadedModel, token: Token | None = None) -> None:
        self.model, self.token = model, token
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.again: Key | None = None

    def prepare(self) -> None:
        """Do slow work before the transaction; the state of the model does not change meanwhile."""

    def plan(self, store: Store, now: float) -> None:
        """Write to the store."""
        if self.model.deleted:
            raise RefusedError(404, f"there is no model {self.model.name!r}")
        if self.token is not None:
            self.again = store.key(self.model.number, self.token.name)
            if self.again is not None and self.again.digest != self.token.digest:
                raise RefusedError(
                    422, "this Idempotency-Key was already used for another request; use a new one", "Idempotency-Key"
                )
        if self.again is None:
            self.write(store, now)

    def write(self, store: Store, now: float) -> None:
        raise NotImplementedError

    def finish(self) -> Any:
        """Return the answer, after the commit; for a repeated request, the first answer, or what it follows from."""
        if self.again is None:
            return self.apply()
        return self.again.answer or Again(self.again, [*self.model.state.mistakes])

    def apply(self) -> Any:
        raise NotImplementedError

    def remember_key(self, store: Store, now: float, first: int, answer: bytes | None = None) -> None:
        if self.token is not None:
            key = Key(self.token.digest, first, self.size, answer)
            store.add_key(self.model.number, self.token.name, key, now + KEYS_LAST)


class Again(NamedTuple):
    """A repeated request that learned examples, and the mistakes that are not in the index yet."""

    key: Key
    mistakes: list[Mistake]


class Append(Job):
    """Events of one kind, to append to the log, encoded as `body`."""

    def __init__(
        self, model: LoadedModel, kind: Kind, content: list[Any], body: bytes | None = None, token: Token | None = None
    ) -> None:
        super().__init__(model, token)
        self.kind, self.content = kind, content
        self.body = events.encode(content) if body is None else body
        self.size, self.weight = len(content), len(self.body)

    def write(self, store: Store, now: float) -> None:
        self.row = LogRow(self.model.head + 1, len(self.content), now, self.kind, self.body)
        store.append(self.model.number, self.row)
        self.model.head = self.row.last
        self.remember_key(store, now, self.row.first, self.known_answer())

    def known_answer(self) -> bytes | None:
        """Return the answer, as far as it is known before the examples are learned."""
        return None

    def apply(self) -> bytes:
        flags = fold.apply(self.model.state, self.row, self.content)
        return events.ENCODER.encode(messages.LearnReply(self.row.last, self.row.size, sum(flags)))


class Reveal(Append):
    """Labels of remembered predictions."""

    def __init__(self, model: LoadedModel, labels: list[tuple[str, Any]], token: Token | None = None) -> None:
        super().__init__(model, "reveal", labels, b"", token)
        self.labels = labels

    def write(self, store: Store, now: float) -> None:
        seen: dict[str, None] = {}
        self.content = []
        for line, (name, label) in enumerate(self.labels, start=1):
            where = "id" if len(self.labels) == 1 else f"line {line}: id"
            found = store.remembered(self.model.number, name)
            if found is None or found.expires < now:
                raise RefusedError(404, f"no prediction {name!r} waits for a label; it may have expired", where)
            if found.revealed is not None or name in seen:
                raise RefusedError(409, f"the label of {name!r} has been revealed already", where)
            seen[name] = None
            self.content.append(Revealed(events.decode_prediction(found.body), label))
        self.body = events.encode(self.content)
        store.reveal(self.model.number, list(seen), self.model.head + 1)
        super().write(store, now)


class RollBack(Append):
    """Go back to `earlier`, the state of the model after an earlier event."""

    alone = True

    def __init__(self, model: LoadedModel, earlier: ModelState, token: Token | None) -> None:
        super().__init__(model, "rollback", [events.Rollback(earlier.seq)], token=token)
        self.earlier = earlier

    def known_answer(self) -> bytes:
        return events.ENCODER.encode(messages.Done(self.row.last))

    def apply(self) -> bytes:
        self.earlier.go_on_from(self.row.first)
        self.earlier.mistakes = []  # they are in the index already
        self.model.state = self.earlier
        return self.known_answer()


class Remember(Job):
    """Predictions that wait for their labels."""

    def __init__(
        self, model: LoadedModel, predictions: list[Prediction], answer: bytes, token: Token | None = None
    ) -> None:
        super().__init__(model, token)
        self.predictions = [(prediction.id, events.ENCODER.encode(prediction)) for prediction in predictions]
        self.answer, self.size = answer, len(predictions)
        self.weight = sum(len(body) for _, body in self.predictions)

    def write(self, store: Store, now: float) -> None:
        store.remember(self.model.number, self.predictions, now + self.model.state.settings.remember_for)
        self.remember_key(store, now, -1, self.answer)

    def apply(self) -> bytes:
        return self.answer


class Create(Job):
    """A new model."""

    def __init__(self, models: Models, name: str, settings: Settings, learner: OnlinePerceptron) -> None:
        self.row = LogRow(0, 1, 0.0, "create", events.encode([settings]))
        super().__init__(LoadedModel(0, name, fold.begin(settings, learner), 0))
        self.models = models

    def write(self, store: Store, now: float) -> None:
        self.losses = self.models.losses
        number = store.create(self.model.name)
        if number is None:
            raise RefusedError(409, f"a model {self.model.name!r} was created at the same time; retry")
        self.model.number = number
        store.append(number, self.row._replace(at=now))

    def apply(self) -> LoadedModel:
        self.models.add(self.model, self.losses)
        return self.model


class Delete(Job):
    """Delete a model and its log."""

    def __init__(self, models: Models, model: LoadedModel) -> None:
        super().__init__(model)
        self.models = models

    def write(self, store: Store, now: float) -> None:
        store.delete(self.model.number)
        self.model.deleted = True

    def apply(self) -> None:
        self.models.remove(self.model)


class TakeSnapshot(Job):
    """Take a snapshot; then delete the log before the older ones, if it is old enough."""

    alone = True

    def __init__(self, model: LoadedModel, keep_log: float | None) -> None:
        super().__init__(model)
        self.keep_log = keep_log

    def prepare(self) -> None:
        state = self.model.state
        self.content, digest = take_snapshot(state)
        self.snapshot = Snapshot(state.seq, digest, state.learner.mistakes)

    def write(self, store: Store, now: float) -> None:
        number = self.model.number
        store.add_snapshot(number, self.snapshot, self.content)
        known = store.snapshots(number)
        newest = [snapshot for snapshot in known if fold.is_on(self.model.state.parts, snapshot.seq)][:NEWEST]
        for old in known:
            if old not in newest:
                store.delete_snapshot(number, old.seq)
        if self.keep_log is not None and len(newest) == NEWEST:
            self._trim(store, newest[-1], now - max(self.keep_log, KEYS_LAST))

    def _trim(self, store: Store, older: Snapshot, before: float) -> None:
        """Delete the log before a snapshot, once that is known to be intact."""
        content = store.snapshot(self.model.number, older.seq)
        try:
            load_snapshot(content or b"", older.sha256, older.mistakes)
        except ValueError:
            return
        store.trim(self.model.number, older.seq, before)

    def apply(self) -> None:
        self.model.saved = self.snapshot.seq


class Ask(Job):
    """Run a function on the model while nothing is learned and all its mistakes are in the index.

    It writes nothing of its own: its commit has the mistakes.
    """

    alone = True

    def __init__(self, model: LoadedModel, ask: Callable[[], Any]) -> None:
        super().__init__(model)
        self.ask = ask

    def prepare(self) -> None:
        self.found = self.ask()

    def write(self, store: Store, now: float) -> None:
        pass

    def apply(self) -> Any:
        return self.found
