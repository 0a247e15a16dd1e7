"""Predict, reveal, learn: what a service does, without HTTP.

Reads are answered at once, from what has been learned. A change goes to the writer, as a job, and is answered when it
is on the disk. A caller acquires a model by `use` and releases it by `models.release`.
"""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from novikoff.features.names import as_numbers
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve import answering, events, fold, jobs, messages
from novikoff.serve.events import Settings
from novikoff.serve.fold import settled, to_file
from novikoff.serve.jobs import Token
from novikoff.serve.messages import RefusedError
from novikoff.serve.models import LoadedModel, Models, figures_of, keep_renewing
from novikoff.serve.replay import mistakes_of, state_at
from novikoff.serve.store import Key, Store
from novikoff.serve.writer import Writer, end_process

HOUR = 3600.0
WORTH_A_SNAPSHOT = 1000  # events that a later start need not replay


def steady_clock(
    not_before: float = 0.0, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Return a clock: seconds since 1970, by the wall clock at the start, and by a steady one from then on.

    The times in the log must not depend on who sets a clock. It starts no earlier than the last event of the log, so
    that times in the log never decrease.

    >>> clock = steady_clock(not_before=1000.0, wall=lambda: 900.0, steady=iter([5.0, 6.0, 9.0]).__next__)
    >>> clock(), clock()
    (1001.0, 1004.0)
    """
    offset = max(wall(), not_before) - steady()
    return lambda: offset + steady()


@dataclass(frozen=True)
class ServiceOptions:
    """How many models are in memory, after how many events a snapshot is taken, how many seconds the log is kept."""

    most_models: int = 1000
    snapshot_every: int = 50_000
    keep_log: float | None = None


class Service:
    """Models in a store, and one writer."""

    def __init__(
        self,
        store: Store,
        options: ServiceOptions | None = None,
        clock: Callable[[], float] | None = None,
        on_failure: Callable[[BaseException], None] = end_process,
    ) -> None:
        self.store = store
        self.options = options or ServiceOptions()
        self.clock = clock or steady_clock(store.latest(), store.wall)
        self.models = Models(store, self.options.most_models)
        self.writer = Writer(store, self.models, self.clock, on_failure)
        self.writer.after_commit = self._after_commit
        self.ready = False
        self._one_file = asyncio.Lock()
        self.requests: Counter[tuple[str, str, int]] = Counter()  # route, method, status
        self._snapshots: set[LoadedModel] = set()
        self._tasks: list[asyncio.Task[None]] = []  # besides the writer's

    async def start(self) -> None:
        """Load the models from their logs, those of a shared store on request; then the service is ready."""
        if self.store.lease is None:
            await self.models.open()
        else:
            renewing = keep_renewing(self.store, self.models, self.store.lease / 3, self.writer.on_failure)
            self._tasks.append(asyncio.create_task(renewing))
        if self.options.keep_log is not None:
            self._tasks.append(asyncio.create_task(self._keep_house()))
        self.writer.start()
        self.ready = True

    async def stop(self) -> None:
        """Answer what was accepted, save what a later start would have to replay, and close the store."""
        self.ready = False
        self.save(self.models.loaded.values(), WORTH_A_SNAPSHOT)
        if self.models.touched:
            self.writer.submit(jobs.Ask(next(iter(self.models.touched))), own=True)
        await self.writer.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.store.close()

    async def _keep_house(self) -> None:
        """Take snapshots now and then: where the log is kept for some days only, nothing is trimmed without."""
        while True:
            await asyncio.sleep(HOUR)
            self.save(self.models.loaded.values())

    def save(self, models: Iterable[LoadedModel], after: int = 1) -> None:
        """Take a snapshot of each model that has learned at least so many events since its last."""
        for model in list(models):
            if model.state.seq - model.saved >= after and model not in self._snapshots:
                self._snapshots.add(model)
                model.users += 1
                snapshot = self.writer.submit(jobs.TakeSnapshot(model, self.options.keep_log), own=True)
                snapshot.add_done_callback(partial(self._snapshot_done, model))

    def _snapshot_done(self, model: LoadedModel, done: "asyncio.Future[Any]") -> None:
        model.users -= 1
        self._snapshots.discard(model)
        if done.exception() is not None:
            model.saved = model.state.seq  # it is retried after as many events

    def _after_commit(self) -> None:
        self.save(self.models.touched, self.options.snapshot_every)
        self._make_room()

    def _make_room(self) -> None:
        """Evict models that were not used for long, if there are too many."""
        surplus = self.models.to_evict()
        self.save(surplus, WORTH_A_SNAPSHOT)
        for model in surplus:
            if not model.users:
                self.models.evict(model)

    # Models

    async def use(self, name: str, even_aside: bool = False) -> LoadedModel:
        """Return a model that stays in memory until it is released; one that is set aside only to be deleted."""
        model = await self.models.use(name, even_aside)
        if len(self.models.loaded) > self.models.most:
            self._make_room()
        return model

    async def create_model(self, name: str, settings: Settings) -> tuple[messages.About, bool]:
        """Return a new model and True, or the existing one with the same settings and False."""
        wanted, learner = await self._settled(settings)
        try:
            model = await self.use(name)
        except RefusedError as error:
            if error.status != 404:
                raise
            model = await self.writer.submit(jobs.create(self.models, name, wanted, learner))
            return answering.about(name, model.state), True
        self.models.release(model)
        if settings.file is not None or model.state.settings != msgspec.structs.replace(wanted, file=None):
            raise RefusedError(409, f"a different model {name!r} exists; delete it first")
        return answering.about(name, model.state), False

    async def _settled(self, settings: Settings) -> tuple[Settings, OnlinePerceptron]:
        """Return settings and their learner. A file takes time and memory: one is read at a time, in a thread."""
        try:
            if settings.file is None:
                return settled(settings)
            async with self._one_file:
                return await asyncio.to_thread(settled, settings)
        except ValueError as error:
            raise RefusedError(422, str(error)) from None

    async def list_models(self) -> messages.ModelNames:
        """The names of all models."""
        return messages.ModelNames(sorted(await asyncio.to_thread(self.store.names)))

    async def list_figures(self) -> messages.FigureList:
        """The figures of all models."""

        def brief(name: str) -> messages.Brief:
            model = self.models.loaded.get(name)
            if model is None:
                return messages.Brief(name, None)
            return messages.Brief(name, {**figures_of(model.state), "waiting": self.store.waiting(model.number)})

        return messages.FigureList(await asyncio.to_thread(lambda: list(map(brief, sorted(self.store.names())))))

    async def show_model(self, model: LoadedModel) -> messages.About:
        """How a model learns, and how far it is."""
        return answering.about(model.name, model.state)

    async def delete_model(self, name: str) -> None:
        """Delete a model and its log, for good, also one that is set aside."""
        model = await self.use(name, even_aside=True)
        try:
            await self.writer.submit(jobs.delete(self.models, model))
        finally:
            self.models.release(model)

    # Predict, reveal, learn

    async def predict(self, model: LoadedModel, asked: list[messages.ToPredict], token: Token | None) -> bytes:
        """Predict; with `remember`, keep the example until its label is revealed."""
        state, answers, kept = model.state, [], []
        for line, each in enumerate(asked, start=1):
            x, numbers = _checked(each.x, line, len(asked))
            label, scores = answering.predict(state.learner, numbers)
            name = None
            if each.remember:
                name = secrets.token_hex(12)
                kept.append(answering.to_remember(name, state, x, label, scores))
            answers.append(messages.PredictReply(name, label, scores, state.seq))
        answer = events.encode(answers)
        if not kept:
            return answer
        return await self._submit(jobs.remember(model, kept, answer, token))

    async def learn(self, model: LoadedModel, examples: list[Any], body: bytes | None, token: Token | None) -> bytes:
        """Learn examples in the order given; `body` has them as received, one per line."""
        _check_labels([example.y for example in examples], model, "y")
        checked: list[tuple[Any, Mapping[Any, Any]]] = []
        if type(examples[0]) is not messages.PlainToLearn:  # else all are
            checked = [_checked(each.x, line, len(examples)) for line, each in enumerate(examples, start=1)]
            for example, (x, _) in zip(examples, checked, strict=True):
                if x is not example.x:  # the log has no null
                    example.x, body = x, None
        if body is None:
            body = events.encode(examples)
        elif not body.endswith(b"\n"):
            body += b"\n"
        for example, (_, numbers) in zip(examples, checked, strict=False):
            example.x = numbers
        return await self._submit(jobs.Learn(model, examples, body, token))

    async def reveal(self, model: LoadedModel, labels: list[messages.ToReveal], token: Token | None) -> bytes:
        """Reveal the label of a prediction, and learn it. Many are revealed all, or none."""
        _check_labels([each.y for each in labels], model, "y")
        pairs = [(each.id, each.y) for each in labels]
        return await self._submit(jobs.reveal(model, pairs, token))

    # What a model knows, and why

    async def show_record(self, model: LoadedModel, margin: float | None) -> messages.Record:
        """What happened, and what it proves: mistakes, the bound, delays, drift."""
        waiting = await asyncio.to_thread(self.store.waiting, model.number)
        return answering.record(model.state, waiting, margin)

    async def show_weights(self, model: LoadedModel, top: int) -> messages.HeaviestWeights:
        """The largest weights, by name."""
        return answering.weights(model.state, top)

    async def show_why(self, model: LoadedModel, name: str, top: int) -> messages.Why:
        """Why a remembered prediction was what it was: the features and the past mistakes that contribute to it."""
        found = await asyncio.to_thread(self.store.remembered, model.number, name)
        if found is None or found.expires < self.clock():
            raise RefusedError(404, f"no prediction {name!r} is remembered; it may have expired", "id")
        return await self._why(model, events.decode_prediction(found.body), top)

    async def explain(self, model: LoadedModel, asked: messages.ToExplain, top: int) -> messages.Why:
        """Predict, and say why; nothing is remembered."""
        x, numbers = _checked(asked.x)

        def predict() -> events.Prediction:
            said = answering.predict(model.state.learner, numbers)
            return answering.to_remember("", model.state, x, *said)

        answer = await self._why(model, await self.writer.submit(jobs.Ask(model, predict)), top)
        return msgspec.structs.replace(answer, id=None)

    async def _why(self, model: LoadedModel, said: events.Prediction, top: int) -> messages.Why:
        return await asyncio.to_thread(answering.why, self.store, model.number, model.state, said, top)

    async def get_file(self, model: LoadedModel, seq: int | None) -> bytes:
        """A model file, for `novikoff predict` and `novikoff.load`; as the model is, or as it was after an event."""
        if seq is None or seq == model.state.seq:
            return await self._submit(jobs.Ask(model, lambda: to_file(model.state.learner)))
        state = await self._earlier(model, seq)
        return await asyncio.to_thread(to_file, state.learner)

    async def _earlier(self, model: LoadedModel, seq: int) -> fold.ModelState:
        if seq > model.state.seq:
            raise RefusedError(422, f"the last event of {model.name!r} is {model.state.seq}; there is no {seq}", "seq")
        return await asyncio.to_thread(state_at, self.store, model.number, seq)

    async def roll_back(self, model: LoadedModel, asked: events.Rollback, token: Token | None) -> bytes:
        """Go back to what the model was after an event. This is an event itself; nothing is erased."""
        earlier = await self._earlier(model, asked.seq)
        return await self._submit(jobs.roll_back(model, earlier, token))

    async def _submit(self, job: jobs.Job) -> bytes:
        """Return the answer of a job, when it is on the disk."""
        answer = await self.writer.submit(job)
        if not isinstance(answer, Key):
            return answer
        await self.writer.submit(jobs.Ask(job.model))  # then all mistakes are in the index
        last = answer.first + answer.size - 1
        made, _ = await asyncio.to_thread(mistakes_of, self.store, job.model.number, fold.WHOLE, answer.first, last)
        mistakes = sum(mistake.seq <= last and not mistake.is_narrow for mistake in made)
        return jobs.learned(last, answer.size, mistakes)


def _where(line: int, lines: int, field: str) -> str:
    return field if lines == 1 else f"line {line}: {field}"


def _checked(x: Mapping[str, Any], line: int = 1, lines: int = 1) -> tuple[Any, Mapping[Any, Any]]:
    """Return the example without absent values, and in numbers."""
    try:
        return x, as_numbers(x)
    except ValueError as error:
        if None in x.values():
            return _checked({name: value for name, value in x.items() if value is not None}, line, lines)
        raise RefusedError(422, str(error), _where(line, lines, "x")) from None


def _check_labels(labels: list[Any], model: LoadedModel, field: str) -> None:
    learner = model.state.learner
    if not learner.classes_are_fixed or set(labels) <= set(learner.classes):
        return
    line, label = next((i, label) for i, label in enumerate(labels, start=1) if label not in learner.classes)
    known = list(learner.classes)
    message = f"label {label!r} is not among the classes of the model, {known!r}"
    raise RefusedError(422, message, _where(line, len(labels), field))
