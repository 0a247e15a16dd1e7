"""A line that is updated between epochs, for notebooks and terminals: `fit(X, y, watch=ProgressLine())`."""

import sys
import weakref
from typing import Any, TextIO

from novikoff.engine.clock import now
from novikoff.say.words import counted

ERASE = "\r\x1b[K"


class ProgressLine:
    """Shows how many examples `fit` has visited, and how many mistakes it made, in one line that is overwritten.

    It may watch any learner whose `fit` has `watch`. In a notebook it writes to the output of the cell, elsewhere to
    standard error, or to `stream`.

    >>> from novikoff import Perceptron, ProgressLine
    >>> model = Perceptron(random_state=0).fit([[1.0], [2.0], [3.0]], [0, 0, 1], watch=ProgressLine())
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stdout if _in_a_notebook() else sys.stderr
        self._began = now()
        # The line stays, and later output starts on the next one.
        self._end = weakref.finalize(self, _end, self._stream) if self._stream is not sys.stdout else None

    def __call__(self, history: Any) -> None:
        """Called by a learner between epochs."""
        what = f"{counted(history.examples, 'example')}, {counted(history.mistakes, 'mistake')}"
        self._stream.write(f"{ERASE}{what}; {now() - self._began:.1f} s")
        self._stream.flush()


def _end(stream: TextIO) -> None:
    if not stream.closed:
        stream.write("\n")


def _in_a_notebook() -> bool:
    return "ipykernel" in sys.modules
