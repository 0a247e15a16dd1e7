"""The conversion through which all examples reach a kernel.

Whatever the input (C or Fortran order, float32 or float64, integers, CSR with 32- or 64-bit indices, read-only,
memory-mapped, byte-swapped), a kernel sees one of few types: a C-ordered read-only matrix of floats, or a `Csr`
triple with unsigned indices. Few types mean few compilations, read-only means that no kernel can change the user's
data, and unsigned indices save a wrap-around check for every entry. Arrays that fit already are not copied.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.csr import as_csr, check_structure
from novikoff.engine.csr import without_repeats as without_repeats
from novikoff.engine.linear import count_rows_without_repeats, fill_folded_squares, longest_row
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.threads import over_rows

# Beyond the first, a squared length or a score of a long run could overflow float64; below the second, products of
# coordinates lose digits or vanish.
LONGEST_SQUARE = 2.0**1000
SHORTEST_SQUARE = 2.0**-900

# With at most this many columns, duplicates in a row are detected by marking its columns.
MOST_MARKED = 2**26


class Csr(NamedTuple):
    """Compressed sparse rows: the entries of row i are data[indptr[i]:indptr[i+1]], each column at most once."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """Examples, ready for the kernels.

    `matrix` is what a kernel takes, `widest` the most entries that a row has. The entries of sparse rows are in
    `ascending` columns, each once, unless rows were requested in any order: then they may also have `repeats`.
    """

    matrix: Any
    n_rows: int
    n_columns: int
    widest: int
    ascending: bool = True
    repeats: bool = False

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.matrix, Csr)

    @property
    def entries(self) -> NDArray[Any]:
        """All stored coordinates."""
        return self.matrix.data if self.is_sparse else self.matrix

    @property
    def in_float64(self) -> Any:
        """The matrix for a kernel that is compiled for float64 alone: a copy unless it is float64 already."""
        numbers = _read_only(self.entries.astype(np.float64, copy=False))
        return self.matrix._replace(data=numbers) if self.is_sparse else numbers

    @property
    def n_entries(self) -> int:
        """The number of stored coordinates."""
        return int(self.matrix.indptr[-1]) if self.is_sparse else self.n_rows * self.n_columns

    def is_whole(self) -> bool:
        """Whether every coordinate is an integer."""
        pieces = np.array_split(self.entries, 1 + self.entries.size // 100_000)
        return all(np.array_equal(piece, np.rint(piece)) for piece in pieces)

    def part(self, start: int, stop: int) -> "Rows":
        """Return rows `start` to `stop`, sharing their entries."""
        if not self.is_sparse:
            return as_rows(self.matrix[start:stop])
        data, indices, indptr = self.matrix
        first, last = int(indptr[start]), int(indptr[stop])
        pointers = indptr[start : stop + 1] - indptr[start]
        return self.ordered_alike(csr_rows(data[first:last], indices[first:last], pointers, self.n_columns))

    def take(self, rows: NDArray[Any]) -> "Rows":
        """Return a copy of some rows."""
        if not self.is_sparse:
            return as_rows(self.matrix[rows])
        data, indices, indptr = self.matrix
        first = indptr[rows].astype(np.int64)
        lengths = indptr[rows + 1].astype(np.int64) - first
        ends = np.cumsum(lengths)
        entries = np.repeat(first - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
        pointers = np.concatenate([[0], ends]).astype(indptr.dtype)
        return self.ordered_alike(csr_rows(data[entries], indices[entries], pointers, self.n_columns))

    def ordered_alike(self, others: "Rows") -> "Rows":
        """Mark other rows, whose entries are in the order of these, accordingly."""
        return replace(others, ascending=self.ascending, repeats=self.repeats)

    def in_order(self) -> "Rows":
        """Return the same rows with ascending columns, each once: a copy unless they are like that."""
        return self if self.ascending else as_rows(self.as_scipy())

    def without_repeats(self) -> "Rows":
        """Return the same rows with every column once: a copy only if there are repeats."""
        if not self.repeats:
            return self
        count = count_rows_without_repeats.for_parts(self.n_entries)

        def names_a_column_twice(start: int, stop: int) -> bool:
            marks = np.zeros(self.n_columns, dtype=np.uint32)
            return bool(count(span(self.matrix, start, stop), stop - start, marks) < stop - start)

        if any(over_rows(names_a_column_twice, self.n_rows, self.n_entries)):
            return self.in_order()
        return replace(self, repeats=False)

    def as_sparse(self) -> "Rows":
        """Return the same rows in CSR: a copy unless they are sparse."""
        if self.is_sparse:
            return self
        from scipy.sparse import csr_array

        return as_rows(csr_array(self.matrix))

    def as_array(self) -> NDArray[np.float64]:
        """Return all rows as a dense float64 matrix."""
        return np.asarray(self.as_scipy().toarray() if self.is_sparse else self.matrix, dtype=np.float64)

    def as_scipy(self) -> Any:
        """Return sparse rows as a SciPy CSR array that shares their entries."""
        from scipy.sparse import csr_array

        data, indices, indptr = self.matrix
        if self.n_columns > np.iinfo(np.int32).max:  # a column would be negative in a signed 32-bit view
            indices, indptr = indices.astype(np.uint64), indptr.astype(np.uint64)
        signed = np.dtype(f"i{indices.itemsize}")
        return csr_array((data, indices.view(signed), indptr.view(signed)), shape=(self.n_rows, self.n_columns))


def span(matrix: Any, start: int, stop: int) -> Any:
    """Return rows `start` to `stop` of a matrix as a kernel takes them: nothing is computed or copied."""
    if not isinstance(matrix, Csr):
        return matrix[start:stop]
    return matrix._replace(indptr=matrix.indptr[start : stop + 1])


def as_rows(X: Any, *, any_order: bool = False) -> Rows:
    """Return examples as the kernels need them: no copy if they are like that already.

    Sparse rows are sorted by column, unless they may be in `any_order`, which the kernels of `engine/linear.py` allow.
    """
    if isinstance(X, Rows):
        return X if any_order else X.in_order()
    if hasattr(X, "tocsr"):
        return _from_scipy(X, any_order)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"X has {array.ndim} dimension(s), but examples are the rows of a matrix; "
            "use X.reshape(1, -1) for one example, X.reshape(-1, 1) for one column"
        )
    array = _as_floats(array)
    array = _read_only(np.require(array, requirements=["C", "A"]))
    n_rows, n_columns = array.shape
    return Rows(array, n_rows, n_columns, n_columns)


def _from_scipy(X: Any, any_order: bool) -> Rows:
    X = as_csr(X)
    if any_order and X.data.dtype.kind in "iuf" and X.shape[1] <= MOST_MARKED:
        check_structure(X)
        if not X.has_sorted_indices:
            return replace(_of_csr(X), ascending=False, repeats=True)
    return _of_csr(without_repeats(X))


def _of_csr(X: Any) -> Rows:
    """Return the arrays of a SciPy matrix as they are."""
    n_columns = X.shape[1]
    indices = X.indices if X.indices.dtype in (np.int32, np.int64) else X.indices.astype(np.int64)
    indptr = X.indptr if X.indptr.dtype == indices.dtype else X.indptr.astype(indices.dtype)
    unsigned = np.dtype(f"u{indices.itemsize}")
    indices = np.ascontiguousarray(indices).view(unsigned)
    return csr_rows(_as_floats(X.data), indices, np.ascontiguousarray(indptr).view(unsigned), n_columns)


def csr_rows(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_columns: int) -> Rows:
    """Return CSR rows that are sorted already: unsigned indices and pointers of one type, floats as data."""
    n_rows = len(indptr) - 1
    widest = int(np.diff(indptr).max()) if n_rows else 0
    matrix = Csr(_read_only(np.require(data, requirements=["C", "A"])), _read_only(indices), _read_only(indptr))
    return Rows(matrix, n_rows, n_columns, widest)


def _as_floats(array: NDArray[Any]) -> NDArray[Any]:
    """Keep float32 and float64; convert small integers to float32, which holds them exactly, the rest to float64."""
    kind = array.dtype
    if kind in (np.float32, np.float64):
        return array.astype(kind.newbyteorder("="), copy=False)
    if kind.kind == "c":
        raise ValueError("X has complex numbers. Complex data not supported: a perceptron's points are real vectors")
    if kind.kind in "SU":
        raise ValueError(f"X has strings ({kind}); convert them to numbers first, for example with X.astype(float)")
    if kind.kind in "mM":
        raise ValueError(f"X has dates or durations ({kind}); subtract a reference date and count days first")
    if kind.itemsize < (4 if kind.kind == "f" else 3):
        return array.astype(np.float32)
    return array.astype(np.float64)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def check_finite(rows: Rows) -> None:
    """Raise an error that names the first number that is not finite, if there is one."""
    if np.isfinite(rows.entries).all():
        return
    place = int(np.argmin(np.isfinite(rows.entries)))
    if rows.is_sparse:
        row, column = int(np.searchsorted(rows.matrix.indptr, place, side="right")) - 1, rows.matrix.indices[place]
    else:
        row, column = divmod(place, rows.n_columns)
    raise ValueError(f"X contains NaN or infinity in row {row}, column {column}; impute or drop it")


def longest_square(rows: Rows, constant: float) -> float:
    """Return the squared length of the longest folded row, never below the exact value; checks that all is finite."""
    slack = 4.0 * (rows.widest + 4) * UNIT_ROUNDOFF
    look = longest_row.for_parts(rows.n_entries)

    def work(start: int, stop: int) -> float:
        found, first_bad = look(span(rows.matrix, start, stop), stop - start, constant, slack)
        if start + first_bad < stop:
            raise ValueError(_what_is_wrong(rows, start + int(first_bad)))
        return float(found)

    longest = max(over_rows(work, rows.n_rows, rows.n_entries))
    if longest > LONGEST_SQUARE:
        raise ValueError(
            f"the longest row of X has length {longest**0.5:.3g}, so long that scores would overflow float64; "
            "divide X by a power of ten"
        )
    if longest < SHORTEST_SQUARE and np.any(rows.entries):
        raise ValueError(
            "the rows of X are so short that products of their coordinates underflow in float64; "
            "multiply X by a power of ten"
        )
    return longest


def folded_squares(rows: Rows, constant: float) -> NDArray[np.float64]:
    """Return the squared length of every folded row, of which `longest_square` is the largest."""
    found, fill = np.empty(rows.n_rows), fill_folded_squares.for_parts(rows.n_entries)

    def work(start: int, stop: int) -> None:
        fill(span(rows.matrix, start, stop), constant, found[start:stop])

    over_rows(work, rows.n_rows, rows.n_entries)
    return found


def _what_is_wrong(rows: Rows, row: int) -> str:
    one = rows.part(row, row + 1)
    x = one.entries.astype(np.float64).ravel()
    if np.isnan(x).any():
        what, place, fix = "NaN", int(np.flatnonzero(np.isnan(x))[0]), "impute or drop missing values"
    elif np.isinf(x).any():
        what, place, fix = "infinity", int(np.flatnonzero(np.isinf(x))[0]), "replace it by a finite number"
    else:
        place = int(np.argmax(np.abs(x)))
        what, fix = f"{x[place]:.3g}, whose square overflows float64", "divide X by a power of ten"
    column = one.matrix.indices[place] if one.is_sparse else place
    return f"X contains {what} in row {row}, column {column}; {fix} before learning"
