"""From a file to examples on disk, and from these to a model: what `fit` and `certify` have in common.

It is `novikoff.learn.linear.files.learn_from`, taken apart, because the command line wants to watch the epochs, to stop
between two of them, and to certify the very examples that were learned.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cli.progress import Bar, DelayedInterrupt
from novikoff.data.batches import Batch
from novikoff.data.blocks import stacked
from novikoff.data.labels import Labels
from novikoff.data.reading import Reader, read
from novikoff.engine.rows import Rows, longest_square
from novikoff.features.encode import Encoding, learn_encoding
from novikoff.features.spool import Labelled, batches_of, spooled
from novikoff.learn.linear.files import LearnedFromFiles
from novikoff.learn.linear.memory import Memory
from novikoff.learn.linear.space import perceptron

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate


# Examples of more numbers than this are certified from the disk.
HELD_IN_MEMORY = 20_000_000


@dataclass(frozen=True)
class Examples:
    """The examples of a file, on disk: blocks to learn from, and what is to be said of them."""

    blocks: Labelled
    classes: NDArray[Any]
    encoding: Encoding | None
    fingerprint: str

    @property
    def n_numbers(self) -> int:
        """How many numbers the examples have, those that are not stored because they are 0 left out."""
        return sum(batch.rows.entries.size for batch in self)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many examples each class has."""
        n_classes = len(self.classes)
        counts = np.zeros(n_classes, dtype=np.int64)
        for number in range(len(self.blocks)):
            counts += np.bincount(self._places(number), minlength=n_classes)
        return tuple(counts.tolist())

    def __iter__(self) -> Iterator[Batch]:
        """The examples with their labels, block by block."""
        for number in range(len(self.blocks)):
            yield Batch(self.blocks.block(number)[0], self.classes[self._places(number)])

    def _places(self, number: int) -> NDArray[Any]:
        """The classes of a block's examples, as places in `classes`."""
        inner = self.blocks.block(number)[1]
        return (inner > 0).astype(np.int64) if len(self.classes) == 2 else inner


def open_table(file: str, label: str | None, format: str | None) -> Reader:
    """The reader of a labelled file."""
    reader = read(file, format=format) if label is None else read(file, label=label, format=format)
    if reader.is_table and label is None:
        names = ", ".join(list(reader.column_types)[:20])
        raise ValueError(f"name the column with the labels by --label; {file} has {names}")
    return reader


def encoding_of(
    reader: Reader, bar: Bar, categorical: Sequence[str], text: Sequence[str], ignore: Sequence[str]
) -> Encoding | None:
    """How the records of a table become numbers, from a pass over them."""
    if reader.is_table:
        return learn_encoding(bar.over(reader, "looking"), categorical=categorical, text=text, ignore=ignore)
    if categorical or text or ignore:
        raise ValueError("svmlight text has no named columns; leave --categorical, --text and --ignore away")
    return None


@contextlib.contextmanager
def examples_of(reader: Reader, encoding: Encoding | None, fit_intercept: bool, bar: Bar) -> Iterator[Examples]:
    """The examples of a file, written to a temporary folder, which is removed in every case."""
    labels = Labels()

    def check(rows: Rows) -> None:
        longest_square(rows, 1.0 if fit_intercept else 0.0)  # says which number is not finite, if one is not

    source = bar.over(reader, "reading", bar.done or None)
    with spooled(batches_of(source, encoding), labels, check) as cache:
        blocks = Labelled(cache, labels.inner(), cache.n_columns)
        yield Examples(blocks, labels.classes(), encoding, cache.fingerprint)


@dataclass
class Watched:
    """Blocks whose visits are counted."""

    blocks: Labelled
    bar: Bar
    rows_in_use: int = 0

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def n_columns(self) -> int:
        return self.blocks.n_columns

    @property
    def starts(self) -> NDArray[np.int64]:
        return self.blocks.starts

    def __len__(self) -> int:
        return len(self.blocks)

    def block(self, number: int) -> tuple[Rows, NDArray[Any]]:
        self.bar.advance(self.rows_in_use)
        rows, labels = self.blocks.block(number)
        self.rows_in_use = rows.n_rows
        return rows, labels


def learn(examples: Examples, options: dict[str, Any], bar: Bar) -> LearnedFromFiles:
    """What `learn_from` would learn, watched."""
    epochs = options["max_epochs"]
    bar.stage("learning", None if epochs is None else epochs * examples.blocks.n_rows)
    with DelayedInterrupt().installed() as interrupt:

        def watch(memory: Memory) -> None:
            if interrupt.asked:
                interrupt.now()

        watched = Watched(examples.blocks, bar)
        learned = perceptron(watched, n_classes=len(examples.classes), watch=watch, **options)
    parts = (learned.memory, learned.run, examples.classes, examples.encoding, learned.mistakes)
    return LearnedFromFiles(*parts, examples.fingerprint)


def certified(
    examples: Examples,
    label: str | None,
    *,
    fit_intercept: bool,
    time_limit: float | None = None,
    tolerance: float = 1e-6,
    diverging: bool | None = None,
) -> "Certificate":
    """The certificate of the examples: of a table, with its column of labels and its encoding."""
    from novikoff.prove.separable.search import certify
    from novikoff.prove.separable.subject import Table

    table = None if examples.encoding is None else Table(label, examples.encoding)
    options: dict[str, Any] = {"fit_intercept": fit_intercept, "tolerance": tolerance, "diverging": diverging}
    if examples.n_numbers > HELD_IN_MEMORY:
        return certify.certify_encoded(examples, None, table, time_limit=time_limit, **options)
    batches = list(examples)
    rows = stacked([batch.rows for batch in batches])
    X = rows.as_scipy() if rows.is_sparse else rows.matrix
    y = np.concatenate([batch.labels for batch in batches if batch.labels is not None])
    # On a machine's first run the kernels are compiled. A row of each class or two does that before the clock runs.
    few = [int(np.flatnonzero(y == name)[0]) for name in examples.classes[:3]]
    certify.certify(X[few], y[few], fit_intercept=fit_intercept)
    return certify.certify_encoded(X, y, table, time_limit=time_limit, **options)
