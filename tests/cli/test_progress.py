"""A run is watched, and is stopped only between two epochs."""

import os
import signal
import sys
import threading

import pytest

from novikoff import certify, existence
from novikoff.cli import progress
from novikoff.cli.progress import DelayedInterrupt, ProgressBar
from novikoff.data import read
from novikoff.engine.clock import announce, watchers
from novikoff.features.encode import learn_encoding
from novikoff.features.examples import cached
from novikoff.learn.linear.space import perceptron
from novikoff.prove.separable.search.working_set import certify_examples


@pytest.fixture
def reader(folder):
    return read(str(folder / "circle.csv"), label="where")


@pytest.fixture
def examples(reader):
    with cached(reader, encoding=learn_encoding(reader, ignore=["z"])) as found:  # without z, no line separates them
        yield found


def learn(examples, bar, max_iter):
    with bar.learning(examples.n_rows, max_iter) as watched:
        return perceptron(examples, max_iter=max_iter, random_state=0, watch=watched.watch, progress=watched.progress)


class Asking(ProgressBar):
    """A bar at whose third advance somebody presses Ctrl-C."""

    def reach(self, done):
        super().reach(done)
        self.advances = getattr(self, "advances", 0) + 1
        if self.advances == 3:
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_epoch(examples, capsys):
    run = learn(examples, Asking(is_shown=False), None).run
    assert run.stopped.name == "INTERRUPTED"
    assert run.examples % examples.n_rows == 0
    assert "stopping after this epoch" in capsys.readouterr().err


class AskingAtTheEnd(ProgressBar):
    """A bar at which somebody presses Ctrl-C when the last epoch is over."""

    was_pressed = False

    def reach(self, done):
        super().reach(done)
        if self.done == self.total and not self.was_pressed:
            self.was_pressed = True
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_at_the_end_does_not_lose_the_run(examples):
    run = learn(examples, AskingAtTheEnd(is_shown=False), 1).run
    assert run.stopped.name == "MAX_ITER"
    assert run.errors is not None


def test_the_second_interrupt_does_not_wait():
    with DelayedInterrupt().installed() as interrupt:
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_bar_counts_every_row(examples, reader):
    bar = ProgressBar(is_shown=False)
    learn(examples, bar, 7)
    assert bar.done == bar.total == 7 * 60
    assert sum(records.columns.num_rows for records in bar.over(reader, "reading")) == bar.done == 60


def test_certify_tells_what_it_does(examples):
    said = []
    certify_examples(examples, progress=said.append)
    assert said[0] == "searching for a separator"
    assert said[-1] == "proving what was found"


def test_every_question_tells_what_it_does_until_the_end(examples):
    X, y = examples.in_one_piece()
    questions = {
        "arrays": lambda progress: certify(X, y, progress=progress),
        "batches": lambda progress: certify([(X, y)], progress=progress),
        "a kernel": lambda progress: certify(X, y, kernel="linear", progress=progress),
        "existence": lambda progress: existence(X, y, progress=progress),
    }
    for name, ask in questions.items():
        said = []
        ask(said.append)
        assert said[-1] == "proving what was found", name


def test_a_bar_never_says_that_more_was_done_than_there_is():
    bar = ProgressBar(is_shown=False)
    bar.stage("reading", 10)
    bar.advance(7)
    bar.advance(7)
    assert bar.done == 10


def test_work_that_cannot_be_counted_is_shown_and_gone_afterwards(monkeypatch):
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.0)
    drawn = threading.Event()
    monkeypatch.setattr(ProgressBar, "_draw", lambda bar: drawn.set())
    bar = ProgressBar(is_shown=True)
    with bar.during("proving"):
        assert drawn.wait(60)
    assert (bar.what, bar.drawn) == ("proving", None)


@pytest.mark.parametrize(("quiet", "is_told"), [(True, False), (False, True)])
def test_a_quiet_command_does_not_tell_that_it_waits_for_the_compiler(quiet, is_told, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.silent(quiet):
        for watcher in tuple(watchers) or (announce,):
            watcher("kernel")
    assert ("compiling (first use only)" in capsys.readouterr().err) == is_told
    assert not watchers
