"""Progress on long work: a bar on stderr with rate and remaining time, on a terminal, once it has taken a while."""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import is_quiet
from novikoff.options import MaxIter, epochs_for

if TYPE_CHECKING:
    from rich.progress import Progress

    from novikoff.data.reading import Reader

# Seconds before a bar appears: shorter work needs none, nor the import of what draws it.
SHOWN_AFTER = 0.5


@dataclass
class ProgressBar:
    """What has been done so far, of how much. It is drawn once a stage has taken a while, and until it is closed."""

    is_shown: bool
    drawn: "Progress | None" = None
    timer: threading.Timer | None = None
    what: str = ""
    done: int = 0
    total: int | None = None

    def stage(self, what: str, total: int | None = None) -> None:
        """Begin another part of the work."""
        self.what, self.done, self.total = what, 0, total
        if self.drawn is not None:
            self.drawn.reset(self.drawn.task_ids[0], description=what, total=total)
        elif self.is_shown:
            self.close()
            self.timer = threading.Timer(SHOWN_AFTER, self._draw)
            self.timer.daemon = True
            self.timer.start()

    def rename(self, what: str) -> None:
        """Begin the next part of the same work."""
        self.what = what
        self.reach(self.done)

    def advance(self, count: int) -> None:
        self.reach(self.done + count)

    def reach(self, done: int) -> None:
        """Set how much is done; never more than there is, though a run may visit rows again after it has converged."""
        self.done = done if self.total is None else min(done, self.total)
        if self.drawn is not None:
            self.drawn.update(self.drawn.task_ids[0], description=self.what, completed=self.done)

    def _draw(self) -> None:
        from rich import progress as bars
        from rich.console import Console
        from rich.text import Text

        class Rate(bars.ProgressColumn):
            def render(self, task: Any) -> Any:
                return Text(f"{task.speed:,.0f} rows/s" if task.speed else "")

        columns = (
            bars.SpinnerColumn(),
            bars.TextColumn("{task.description}"),
            bars.BarColumn(bar_width=24),
            bars.MofNCompleteColumn(),
            Rate(),
            bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(),
        )
        drawn = bars.Progress(*columns, console=Console(stderr=True), transient=True)
        drawn.add_task(self.what, total=self.total, completed=self.done)
        drawn.start()
        self.drawn = drawn

    @contextlib.contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Show the time of work that cannot be counted, such as a search for a proof."""
        self.stage(what)
        try:
            yield
        finally:
            self.close()

    def over(self, reader: "Reader", what: str, total: int | None = None) -> "Reader":
        """Return the same reader, whose rows are counted as they are used."""
        self.stage(what, total)
        return replace(reader, watch=self.advance)

    @contextlib.contextmanager
    def learning(self, n_rows: int, max_iter: MaxIter) -> Iterator["DelayedInterrupt"]:
        """Watch a learner: examples are counted, and Ctrl-C waits for the end of the epoch."""
        epochs = epochs_for(max_iter, n_rows)
        self.stage("learning", None if epochs is None else epochs * n_rows)
        with DelayedInterrupt(lambda history: self.reach(history.examples)).installed() as interrupt:
            yield interrupt

    def close(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer.join()
            self.timer = None
        if self.drawn is not None:
            self.drawn.stop()
            self.drawn = None


@contextlib.contextmanager
def progress(is_shown: bool = True) -> Iterator[ProgressBar]:
    """Show a bar that disappears when the work is done, unless the command is quiet."""
    bar = ProgressBar(is_shown and sys.stderr.isatty() and not is_quiet())
    try:
        yield bar
    finally:
        bar.close()


@contextlib.contextmanager
def silent(quiet: bool) -> Iterator[None]:
    """Announce no compilation, if the command is to be quiet."""
    from novikoff.engine.clock import watchers

    deaf = [lambda kernel: None] if quiet else []
    watchers.extend(deaf)
    try:
        yield
    finally:
        watchers[:] = watchers[: len(watchers) - len(deaf)]


class DelayedInterrupt:
    """Ctrl-C waits for the end of the epoch; a second one does not.

    So what is kept of an interrupted run is the weights after a complete epoch. `progress` is what a learner calls
    while it learns, and `watch` what it calls between epochs.
    """

    def __init__(self, progress: Callable[[Any], None] = lambda history: None) -> None:
        self.progress = progress
        self.asked = self.interrupted = False

    def watch(self, history: Any) -> None:
        """Interrupt, if Ctrl-C was pressed."""
        if self.asked:
            self._now()

    def _now(self) -> None:
        self.asked, self.interrupted = False, True
        raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: Any) -> None:
        if self.asked:
            self._now()
        self.asked = True
        click.echo("\nstopping after this epoch; press Ctrl-C again to stop at once", err=True)

    @contextlib.contextmanager
    def installed(self) -> Iterator["DelayedInterrupt"]:
        if threading.current_thread() is not threading.main_thread():
            yield self  # signals reach only the main thread
            return
        before = signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)
