"""Certificates of data on many machines: the hyperplane goes to the shards, and each returns its worst rows.

The search is that of one machine (`prove/separable/search/working_set.py`); only its passes over all rows are made by
the shards. The most urgent rows of all are among the most urgent of each, so the driver merges their answers by urgency
and number, and a claim is proved of all rows when every shard has proved it of its own. The fingerprint is one SHA-256
of all rows in order, as on one machine, and so is the check: the rows pass through the driver, block by block.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.agreeing import Cluster, started
from novikoff.cluster.engine import Engine, Local
from novikoff.cluster.worker import Agreement, Reading, Worker
from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.engine.rows import Rows
from novikoff.prove.separable.certificate import Certificate
from novikoff.prove.separable.check import check_derived, check_subject, unreadable_is_refused
from novikoff.prove.separable.conclude import conclude
from novikoff.prove.separable.in_blocks import InBlocks, in_float64, matrix_of
from novikoff.prove.separable.margin import radius_square
from novikoff.prove.separable.proofs import Span
from novikoff.prove.separable.search.certify import check_parameters, warned_if_wide
from novikoff.prove.separable.search.working_set import Claims, MostUrgent, Passes, Subset, certify_examples, look_at
from novikoff.prove.separable.subject import Subject

Numbers = NDArray[np.int64]
Contents = frozenset[tuple[bytes, Any]]  # of rows, as bytes, with their labels


def certify(
    source: Any,
    *,
    engine: Engine | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    **reading: Any,
) -> Certificate:
    """Are the rows of all shards linearly separable, with what margin, and why?

    The certificate states what `novikoff.certify` states on one machine, and is checked by the same `check`. `source`,
    `engine` and `reading`, such as `label`, `encoding` or `shard_bytes`, are those of `cluster.fit`; `fit_intercept`,
    `tolerance` and `time_limit` are those of `novikoff.certify`.
    """
    check_parameters(tolerance, time_limit)
    with started(engine or Local(), source, Reading(**reading)) as cluster:
        found = certify_cluster(cluster, tolerance=tolerance, time_limit=time_limit)
    return warned_if_wide(found, tolerance)


def certify_cluster(cluster: Cluster, **options: Any) -> Certificate:
    """Return the certificate of shards that have agreed; the options are those of `certify_examples`."""
    data, passes = on_shards(cluster), OnShards(cluster)
    return certify_examples(data.examples, fit_intercept=data.fit_intercept, data=data, passes=passes, **options)


def check(certificate: Certificate, source: Any, *, engine: Engine | None = None, **reading: Any) -> None:
    """Prove a certificate again from the rows of all shards; `CertificateError` names what differs.

    `reading` are `format`, `zero_based`, `shard_bytes` and `cache_folder` of `cluster.fit`; the certificate has the
    rest.
    """
    how = Reading(**reading)

    def derive(claimed: Certificate) -> Certificate:
        if claimed.kernel is not None:
            raise ValueError("the certificate is about a kernel; check it on one machine")
        if claimed.estimates is not None:
            raise ValueError("the certificate has estimates, which need all rows; check it on one machine")
        table = claimed.table
        label, encoding = (None, None) if table is None else (table.label, table.encoding)
        certified = replace(how, label=label, encoding=encoding, fit_intercept=claimed.fit_intercept)
        with unreadable_is_refused(), started(engine or Local(), source, certified) as cluster:
            data = on_shards(cluster)
            check_subject(claimed, data.subject)
            return conclude(data, claimed.witnesses)

    check_derived(certificate, derive)


# -- what the driver knows ---------------------------------------------------------------------------------------------


def on_shards(cluster: Cluster) -> "ShardedBlocks":
    """Return the rows of all shards, as proofs use them."""
    return ShardedBlocks(cluster.examples, cluster.agreed.reading.fit_intercept, cluster)


@dataclass(frozen=True, eq=False)
class Here:
    """What a shard needs to see its rows as points among all: one row of each class, and the subject."""

    fit_intercept: bool
    one_of_each: tuple[Rows, NDArray[Any]] | None
    facts: tuple[Subject, Fraction]

    def blocks(self, worker: Worker, agreed: Agreement) -> InBlocks:
        data = InBlocks(worker.examples(agreed), self.fit_intercept)
        data.known_to_be(*self.facts)
        if self.one_of_each is not None:
            data.__dict__["one_of_each"] = self.one_of_each
        return data


@dataclass(frozen=True, eq=False)
class ShardedBlocks(InBlocks):
    """Points in shards, which are queried for what is true of all points."""

    cluster: Cluster

    def ask(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function of a worker on every shard; return the results."""
        return self.cluster.call("apply", function, *args)

    @cached_property
    def _facts(self) -> tuple[Subject, Fraction]:
        """The subject and R^2, from one pass of all rows through the driver, which keeps the labels."""
        digest, longest, labels = self.about.fingerprint(), Fraction(0), list[NDArray[Any]]()
        small = np.min_scalar_type(len(self.classes))
        for block in self.examples.blocks():
            matrix = matrix_of(block.rows)
            digest.add(matrix)
            longest = max(longest, radius_square(matrix, self.fit_intercept))
            labels.append(self.examples.places_of(block.labels).astype(small))
        return replace(self.about, data_hash=digest.with_labels(iter(labels))), longest

    def rows_of(self, places: Sequence[int]) -> Numbers:
        return np.concatenate(self.ask(rows_of_classes, places))

    @cached_property
    def here(self) -> Any:
        """What shards need (`Here`), as the engine shares it."""
        told = Here(self.fit_intercept, self.one_of_each if self.problem.has_rivals else None, self._facts)
        return self.cluster.engine.share(told)

    def lower_square(self, vector: Sequence[int]) -> Fraction | None:
        squares = self.ask(of_points, self.here, "lower_square", vector)
        return None if None in squares else min(squares)

    def weakly_separates(self, vector: Sequence[int]) -> bool:
        found = self.ask(of_points, self.here, "side", vector)
        return None not in found and any(found)

    def lies_in(self, span: Span, clock: Clock = UNLIMITED) -> bool:
        return all(self.ask(of_points, self.here, "lies_in", span))


@dataclass(frozen=True)
class OnShards(Passes):
    """Passes over all rows, each made by all shards at once."""

    cluster: Cluster

    def sample(self, data: InBlocks, chosen: Numbers) -> Subset:
        taken = self.cluster.take(chosen)
        return Subset(chosen, in_float64(taken.rows), taken.labels, np.full(len(chosen), np.inf))

    def look(
        self, data: InBlocks, claims: Claims, working: Subset, most: int, clock: Clock
    ) -> tuple[Subset | None, Fraction | None]:
        assert isinstance(data, ShardedBlocks)
        known = frozenset(working.contents())
        worst, smallest = MostUrgent(most), list[Fraction | None]()
        for rows, square in data.ask(contradicting, data.here, claims, working.numbers, known, most):
            smallest.append(square)
            if rows is not None:
                worst.add(rows)
        return worst.rows(), None if None in smallest else min(square for square in smallest if square is not None)


# -- what shards do ----------------------------------------------------------------------------------------------------


def rows_of_classes(worker: Worker, agreed: Agreement, places: Sequence[int]) -> Numbers:
    """Return the rows of some classes in this shard, by their numbers among all."""
    return int(agreed.starts[worker.number]) + InBlocks(worker.examples(agreed), True).rows_of(places)


def contradicting(
    worker: Worker,
    agreed: Agreement,
    here: Here,
    claims: Claims,
    numbers: Numbers,
    known: Contents,
    most: int,
) -> tuple[Subset | None, Fraction | None]:
    """Return the most urgent rows of this shard that contradict claims, and the margin of the hyperplane."""
    start = int(agreed.starts[worker.number])
    worst, square = look_at(here.blocks(worker, agreed), claims, numbers - start, known, most)
    rows = worst.rows()
    return None if rows is None else Subset(rows.numbers + start, rows.rows, rows.labels, rows.urgency), square


def of_points(worker: Worker, agreed: Agreement, here: Here, method: str, *args: Any) -> Any:
    """Call a method of the points of this shard."""
    return getattr(here.blocks(worker, agreed), method)(*args)
