"""A line shows how a run goes on."""

import io
import sys

import pytest

from novikoff import KernelPerceptron, Perceptron, ProgressLine, SequencePerceptron

X, Y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]


def shown(stream):
    return [line.partition(";")[0] for line in stream.getvalue().split("\r\x1b[K")[1:]]


@pytest.mark.parametrize("learner", [KernelPerceptron, Perceptron])
def test_examples_and_mistakes_are_those_of_the_run(learner):
    stream, told = io.StringIO(), []
    line = ProgressLine(stream)

    def watch(history):
        told.append(f"{history.examples} examples, {history.mistakes} mistakes")
        return line(history)

    learner(max_iter=9, random_state=0).fit([*X, [1, 0]], [*Y, -1], watch=watch)
    assert shown(stream) == told
    assert told


def test_a_tagger_may_be_watched():
    stream = io.StringIO()
    SequencePerceptron(random_state=0).fit([[["a"], ["b"]]] * 2, [["x", "y"]] * 2, watch=ProgressLine(stream))
    assert shown(stream)


def test_what_is_printed_afterwards_begins_in_a_new_line():
    stream = io.StringIO()
    Perceptron().fit(X, Y, watch=ProgressLine(stream))
    assert stream.getvalue().endswith("\n")


def test_in_a_notebook_it_stands_in_the_output(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    Perceptron().fit(X, Y, watch=ProgressLine())
    printed = capsys.readouterr()
    assert "6 examples, " in printed.out
    assert printed.err == ""
