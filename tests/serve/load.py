"""Clients that learn, predict and reveal while services are killed, and what must be in the log afterwards."""

import random
import threading
import time
from collections import Counter

from novikoff.serve import events
from novikoff.serve.client import Client
from novikoff.serve.events import Example
from novikoff.serve.fold import to_file
from novikoff.serve.replay import state_at
from tests.serve.nursery import wait_until
from tests.serve.serving import opened
from tests.serve.streams import learner_after


def examples_in_log(where):
    """The numbers of the examples in the log of the first model, by what they are called; and the examples in order."""
    store = opened(where)
    try:
        head = store.last(1)
        found, stream, learner = Counter(), [], state_at(store, 1, head).learner
        numbers = []
        for row in store.rows(1, 1, 10**6):
            for seq, event in enumerate(events.decode(row.kind, row.body), start=row.first):
                x, y = (event.x, event.y) if row.kind == "learn" else (event.prediction.x, event.y)
                found[x["name"]] += 1
                numbers.append((x["name"], seq))
                stream.append(Example(x, y))
        (settings,) = events.decode("create", store.rows(1, 0, 1)[0].body)
        return found, dict(numbers), stream, learner, settings
    finally:
        store.close()


class Load(threading.Thread):
    """A client that learns, predicts and reveals, again and again, and notes what is acknowledged."""

    def __init__(self, url, number, stop):
        super().__init__()
        self.client = Client(url, "m", retries=10_000)
        self.client._wait = lambda *_: time.sleep(0.005)
        self.number, self.stop, self.acknowledged, self.failed = number, stop, {}, None
        self.draw = random.Random(number)

    def example(self, i):
        a = self.draw.uniform(-1, 1)
        return {"a": a, "b": self.draw.uniform(-1, 1), "name": f"{self.number}-{i}"}, "up" if a > 0.1 else "down"

    def run(self):
        try:
            i = 0
            while not self.stop.is_set():
                pairs = [self.example(i + j) for j in range(self.draw.choice([1, 1, 3]))]
                i += len(pairs)
                self.play(pairs)
        except Exception as error:
            self.failed = error
        finally:
            self.client.close()

    def play(self, pairs):
        if len(pairs) > 1:
            learned = self.client.learn_many(*zip(*pairs, strict=True))
        elif self.draw.random() < 0.5:
            learned = self.client.learn(*pairs[0])
        else:
            said = self.client.predict(pairs[0][0], remember=True)
            learned = self.client.reveal(said.id, pairs[0][1])
        first = learned.seq - len(pairs) + 1
        self.acknowledged.update({x["name"]: first + j for j, (x, _) in enumerate(pairs)})


class Loads:
    """Several at once."""

    def __init__(self, *urls):
        self.stop = threading.Event()
        self.all = [Load(url, number, self.stop) for number, url in enumerate(urls)]
        for load in self.all:
            load.start()

    @property
    def acknowledged(self):
        # Copies: the threads go on.
        return {name: seq for load in self.all for name, seq in load.acknowledged.copy().items()}

    def wait(self, more):
        """Wait until so many more are acknowledged."""
        enough = len(self.acknowledged) + more
        wait_until(lambda: len(self.acknowledged) >= enough or any(load.failed for load in self.all))

    def end(self):
        self.stop.set()
        for load in self.all:
            load.join()
            assert load.failed is None

    def check(self, where, served):
        """All that was acknowledged is in the log, once, and what is served is what a learner makes of the log."""
        found, numbers, stream, learner, settings = examples_in_log(where)
        acknowledged = self.acknowledged
        assert {name: numbers.get(name) for name in acknowledged} == acknowledged
        assert set(found.values()) == {1}
        assert to_file(learner) == served == to_file(learner_after(settings, stream))
