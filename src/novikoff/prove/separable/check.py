"""Check a certificate: derive what its witnesses prove about the data, and compare every field."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from novikoff.data.batches import Records
from novikoff.data.examples import Examples
from novikoff.features.examples import comes_in_batches
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.proof import difference, same
from novikoff.prove.existence.regression import regression
from novikoff.prove.separable.certificate import Certificate
from novikoff.prove.separable.conclude import InMemory, conclude
from novikoff.prove.separable.feature_space import InFeatureSpace, conclude_kernel
from novikoff.prove.separable.files import from_json, to_json
from novikoff.prove.separable.in_blocks import InBlocks, exactly
from novikoff.prove.separable.question import Problem
from novikoff.prove.separable.subject import Subject, Table

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


def check_certificate(
    certificate: Certificate, X: Any, y: ArrayLike | None = None, encoding: "Encoding | None" = None
) -> None:
    """Raise `CertificateError`, naming the difference, unless the data and the witnesses prove every claim."""

    def derive(claimed: Certificate) -> Certificate:
        known = None if claimed.table is None else claimed.table.encoding.to_dict()
        if encoding is not None and not same(encoding.to_dict(), known):
            raise CertificateError("the certificate is about numbers from another encoding than the one given")
        return _derived(claimed, X, y)

    check_derived(certificate, derive)


def check_derived(certificate: Certificate, derive: Callable[[Certificate], Certificate]) -> None:
    """Raise `CertificateError` unless `derive` proves every claim from the witnesses of a certificate."""
    claimed = _well_formed(certificate)
    try:
        derived = derive(claimed)
    except MemoryError as error:
        raise CertificateError(f"the certificate is too large to be proved again in memory: {error}") from None
    for where in difference(json.loads(to_json(claimed)), json.loads(to_json(derived))):
        raise CertificateError(f"the certificate is not true of these data: {where}")


@contextmanager
def unreadable_is_refused() -> Iterator[None]:
    """Raise `CertificateError` for data that cannot be read: they are not those that were certified."""
    try:
        yield
    except CertificateError:
        raise
    except ValueError as error:
        raise CertificateError(f"the data are not those that were certified: {error}") from error


def _well_formed(certificate: Certificate) -> Certificate:
    """The certificate, written and read again: one made in Python is trusted no more than a file."""
    try:
        text = to_json(certificate)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise CertificateError(f"the certificate is malformed: {error}") from None
    return from_json(text)


def _derived(claimed: Certificate, X: Any, y: ArrayLike | None) -> Certificate:
    if comes_in_batches(X):
        if y is not None or (claimed.kernel is not None and claimed.kernel.form == "precomputed"):
            raise ValueError("batches contain their labels and cannot be a kernel matrix: omit y, or pass arrays")
        _check_table(claimed, X)
        with unreadable_is_refused(), _examples_of(X, claimed.table) as examples:
            if claimed.kernel is not None:
                return _derived_in_feature_space(claimed, examples, None)
            blocks = InBlocks(examples, claimed.fit_intercept)
            check_subject(claimed, blocks.subject)
            return _with_estimates(
                conclude(blocks, claimed.witnesses), claimed, examples if claimed.table is None else X
            )
    if y is None:
        raise ValueError("y is missing: a matrix needs its labels; only a reader or batches have their own")
    if claimed.table is not None:
        raise CertificateError("the certificate is about a table; pass its reader, as in check(read(path, label=...))")
    if claimed.kernel is not None:
        return _derived_in_feature_space(claimed, X, y)
    data = InMemory.of(X, y, claimed.fit_intercept)
    check_subject(claimed, data.subject)
    return _with_estimates(conclude(data, claimed.witnesses), claimed, X, y)


def _with_estimates(derived: Certificate, claimed: Certificate, X: Any, y: ArrayLike | None = None) -> Certificate:
    """The same with the claimed estimates, after all claims about them are proved again."""
    if claimed.estimates is None:
        return derived
    claimed.estimates.check_likelihood(regression(X, y, derived))
    return replace(derived, estimates=claimed.estimates)


def _derived_in_feature_space(claimed: Certificate, X: Any, y: ArrayLike | None) -> Certificate:
    assert claimed.kernel is not None
    space = InFeatureSpace.of(X, y, claimed.kernel, claimed.fit_intercept)
    check_subject(claimed, space.subject)
    return conclude_kernel(space, claimed.witnesses)


def _examples_of(source: Any, table: Table | None) -> AbstractContextManager[Examples]:
    """The examples themselves; or those of a table, encoded as in the certificate, or of batches."""
    if table is None or isinstance(source, Examples):
        return exactly(source)
    if not table.encoding.is_of_table:  # numbers without names, which the encoding transforms
        return exactly(source, table.encoding, table.label)
    return exactly(_records_of(source), table.encoding, table.label)


def _records_of(source: Any) -> Iterator[Records]:
    """The records of a table; raises CertificateError for numbers that are already encoded."""
    for item in source:
        if not isinstance(item, Records):
            raise CertificateError("the certificate is about a table, and numbers were given; pass the table's reader")
        yield item


def _check_table(claimed: Certificate, source: Any) -> None:
    """Check that a table is given if and only if the certificate is about one, with the labels in the same column."""
    is_table = bool(getattr(source, "is_table", False))
    if is_table and claimed.table is None:
        raise CertificateError("the certificate is about numbers, and has no encoding for a table")
    if is_table and claimed.table is not None and source.label != claimed.table.label:
        raise CertificateError(
            f"the certificate is about the labels in {claimed.table.label!r}, but {source.label!r} was read as label"
        )


def check_subject(claimed: Subject, found: Subject) -> None:
    """Check that these are the data of the certificate: first the named fields, then the fingerprint of all."""
    for name in ("n_rows", "n_columns", "classes", "feature_names", "problem", "fit_intercept"):
        ours, theirs = getattr(found, name), getattr(claimed, name)
        if not same(ours, theirs):
            raise CertificateError(
                f"the data are not those that were certified: {name} is {_short(ours)}, not {_short(theirs)}"
            )
    if found.data_hash != claimed.data_hash:
        raise CertificateError("the data are not those that were certified: their fingerprints differ")


def _short(value: Any) -> str:
    text = repr(value.value if isinstance(value, Problem) else value)
    return text if len(text) <= 80 else f"{text:.77}..."
