"""A run is watched, and is stopped only between two epochs."""

import os
import signal

import pytest

from novikoff.cli.progress import Bar, DelayedInterrupt
from novikoff.cli.training import certified, encoding_of, examples_of, learn, open_table

OPTIONS = {"readout": "average", "fit_intercept": True, "shuffle": True, "seed": 0}


@pytest.fixture
def examples(folder):
    bar = Bar(is_shown=False)
    reader = open_table(str(folder / "circle.csv"), "where", None)
    encoding = encoding_of(reader, bar, (), (), ("z",))  # without z, no line separates them
    with examples_of(reader, encoding, True, bar) as found:
        yield found


class Asking(Bar):
    """A bar at whose third advance somebody presses Ctrl-C."""

    def advance(self, count):
        super().advance(count)
        self.advances = getattr(self, "advances", 0) + 1
        if self.advances == 3:
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_epoch(examples, capsys):
    run = learn(examples, {**OPTIONS, "max_epochs": None}, Asking(is_shown=False)).run
    assert run.stopped.name == "INTERRUPTED"
    assert run.examples % examples.blocks.n_rows == 0
    assert "stopping after this epoch" in capsys.readouterr().err


class AskingAtTheEnd(Bar):
    """A bar at which somebody presses Ctrl-C whenever the last epoch is over."""

    def advance(self, count):
        super().advance(count)
        if self.done == self.total:
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_at_the_end_does_not_lose_the_run(examples):
    run = learn(examples, {**OPTIONS, "max_epochs": 1}, AskingAtTheEnd(is_shown=False)).run
    assert run.stopped.name == "MAX_EPOCHS"
    assert run.errors is not None


def test_the_second_interrupt_does_not_wait():
    with DelayedInterrupt().installed() as interrupt:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_bar_counts_every_row(examples):
    bar = Bar(is_shown=False)
    learn(examples, {**OPTIONS, "max_epochs": 7}, bar)
    assert bar.total == 7 * 60
    assert bar.done <= bar.total
    assert sum(batch.rows.n_rows for batch in bar.over(examples, "reading")) == bar.done == 60


def test_examples_keep_their_labels_and_counts(examples):
    labels = [label for batch in examples for label in batch.labels.tolist()]
    assert tuple(labels.count(name) for name in examples.classes) == examples.counts == (17, 43)


def test_columns_of_a_certificate_have_names(examples):
    certificate = certified(examples, "where", fit_intercept=True, time_limit=None)
    assert certificate.feature_names == ("x", "y")
    assert certificate.verdict.value == "overlapping"


def test_what_does_not_fit_into_memory_is_certified_from_the_disk(examples, monkeypatch):
    held = certified(examples, "where", fit_intercept=True)
    monkeypatch.setattr("novikoff.cli.training.HELD_IN_MEMORY", 0)
    on_disk = certified(examples, "where", fit_intercept=True)
    assert (on_disk.verdict, on_disk.data_hash) == (held.verdict, held.data_hash)
