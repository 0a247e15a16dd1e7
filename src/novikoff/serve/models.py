"""The models of a service: those in use are in memory, the others in the store, from which they reload unchanged."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve import fold
from novikoff.serve.events import Settings
from novikoff.serve.fold import Mistake, ModelState
from novikoff.serve.messages import ElsewhereError, RefusedError
from novikoff.serve.replay import state_at
from novikoff.serve.store import FIRST_FENCE, Store, StoreError

_LOG = logging.getLogger("novikoff.serve")


class LoadedModel:
    """A model in memory. `state` is what has been learned; `head` is the last event that is planned, or on the disk."""

    def __init__(self, number: int, name: str, state: ModelState, saved: int, fence: int = FIRST_FENCE) -> None:
        self.number, self.name, self.state, self.fence = number, name, state, fence
        self.head = state.seq
        self.saved = saved  # the event of the newest snapshot
        self.users = 0  # requests that need it in memory
        self.deleted = False
        self.is_plain = True  # no example had strings, booleans, nulls or very large numbers yet


# The figures of a model for a monitor: the kind, the description, and the value.
FIGURES: dict[str, tuple[str, str, Callable[[ModelState], float]]] = {
    "events": ("counter", "Events in the log of a model.", lambda state: state.seq),
    "examples": ("counter", "Examples that a model has learned.", lambda state: state.learner.examples),
    "mistakes": ("counter", "Mistakes of the last weights, which are the model.", lambda state: state.learner.mistakes),
    "revealed": ("counter", "Predictions whose label was revealed.", lambda state: state.counts.revealed),
    "wrong": ("counter", "Predictions that turned out wrong.", lambda state: state.counts.wrong),
    "drift_window_mistakes": ("gauge", "Mistakes in the window for drift.", lambda state: state.counts.drift.mistakes),
    "drift_window_expected": ("gauge", "Expected mistakes in the window.", lambda state: state.counts.drift.expected),
    "drift_alarms": ("counter", "Windows with more mistakes than chance.", lambda state: state.counts.drift.total),
    "drift_last_alarm": ("gauge", "Examples before the last alarm, or 0.", lambda state: state.counts.drift.last_alarm),
}


def figures_of(state: ModelState) -> dict[str, float]:
    """Return the figures of a model."""
    return {name: value(state) for name, (_, _, value) in FIGURES.items()}


class Models:
    """The models that this process holds; the last used are in memory, up to a limit."""

    def __init__(self, store: Store, most: int) -> None:
        self.store, self.most = store, most
        self.loaded: OrderedDict[str, LoadedModel] = OrderedDict()
        self.aside: dict[str, tuple[LoadedModel, str]] = {}  # those whose log cannot be replayed, and why
        self.touched: set[LoadedModel] = set()  # since the last commit
        self.losses = 0  # how often this process found that others hold models that it had held
        self._loading: dict[str, asyncio.Task[None]] = {}

    async def open(self) -> None:
        """Load the models that learned most recently."""
        for name in reversed(self.store.recent(self.most)):
            await self._load(name)

    async def use(self, name: str, even_aside: bool = False) -> LoadedModel:
        """Return a model, in memory until the caller calls `release`."""
        while (model := self.loaded.get(name)) is None:
            if name in self.aside:
                model, why = self.aside[name]
                if not even_aside:
                    what = f"the log of the model {name!r} cannot be replayed, and it is set aside until it is deleted"
                    raise RefusedError(500, f"{what}: {why}")
                model.users += 1
                return model
            if name not in self._loading:
                self._loading[name] = asyncio.create_task(self._load(name))
            # One caller that gives up does not cancel it for the others.
            await asyncio.shield(self._loading[name])
        if time.monotonic() >= self.store.until:
            raise ElsewhereError(name)
        self.loaded.move_to_end(name)
        model.users += 1
        return model

    def release(self, model: LoadedModel) -> None:
        model.users -= 1

    async def _load(self, name: str) -> None:
        losses = self.losses
        try:
            model, why = await asyncio.to_thread(self._from_store, name)
            if why is None:
                self.add(model, losses)
            elif losses == self.losses:
                self.aside[name] = model, why
        finally:
            self._loading.pop(name, None)

    def _from_store(self, name: str) -> tuple[LoadedModel, str | None]:
        """Return a model; or what is needed to delete it, and why it is lost: one log must not stop the others."""
        held = self.store.hold(name)
        if held is None:
            raise RefusedError(404, f"there is no model {name!r}; PUT /v1/models/{name} creates it")
        try:
            state = state_at(self.store, held.model, held.last)
        except StoreError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            _LOG.error("model %r is set aside, because its log cannot be replayed: %s", name, why)
            nothing = fold.begin(Settings(), OnlinePerceptron())
            return LoadedModel(held.model, name, nothing, 0, held.fence), why
        found = self.store.snapshots(held.model)
        return LoadedModel(held.model, name, state, found[0].seq if found else 0, held.fence), None

    def add(self, model: LoadedModel, losses: int) -> None:
        """Add a model, as the last used, unless models were lost since: it may be among them."""
        if losses == self.losses:
            self.loaded[model.name] = model
            self.touched.add(model)

    def remove(self, model: LoadedModel) -> None:
        if self.loaded.get(model.name) is model:
            del self.loaded[model.name]
        self.aside.pop(model.name, None)
        self.touched.discard(model)

    def lose(self, models: Iterable[LoadedModel]) -> None:
        """Drop models that other servers may hold by now. They recover what is not in the store yet by folding."""
        self.losses += 1
        self.aside.clear()
        for model in models:
            self.remove(model)

    def take_unsaved(self) -> list[tuple[LoadedModel, int, list[Mistake]]]:
        """Take the mistakes that are not in the index yet, with the last event of each model: the next commit has to
        write them, as they were known only after the last."""
        unsaved = []
        for model in self.touched:
            if model.state.mistakes and not model.deleted:
                unsaved.append((model, model.state.seq, model.state.mistakes))
                model.state.mistakes = []
        self.touched.clear()
        return unsaved

    def to_evict(self) -> list[LoadedModel]:
        """Return the least recently used models, as far as there are too many and nobody uses them."""
        surplus = len(self.loaded) - self.most
        return [model for model in self.loaded.values() if not model.users][:surplus] if surplus > 0 else []

    def evict(self, model: LoadedModel) -> None:
        """Evict a model that nobody uses, unless something of it is not in the store yet."""
        if not model.state.mistakes and model.head == model.state.seq:
            del self.loaded[model.name]


async def keep_renewing(store: Store, models: Models, every: float, on_failure: Callable[[Exception], None]) -> None:
    """Renew the lease of this server. If it has expired, others may hold its models, so it drops them."""
    with ThreadPoolExecutor(1, "lease") as thread:
        while True:
            try:
                in_time = await asyncio.get_running_loop().run_in_executor(thread, store.renew)
            except Exception as error:
                on_failure(error)
                return
            if in_time:
                await asyncio.sleep(every)
            else:
                models.lose(list(models.loaded.values()))


def holder(store: Store, name: str) -> str | None:
    """Return the URL of the other server that holds a model. If there is none any more, this one holds it now."""
    try:
        store.hold(name)
    except ElsewhereError as error:
        return error.url
    return None
