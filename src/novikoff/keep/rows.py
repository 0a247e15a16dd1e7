"""Rows of numbers, dense or sparse, in a file."""

import numpy as np

from novikoff.engine.rows import Csr, Rows, as_rows, csr_rows
from novikoff.keep.expect import Table, check_finite, check_within
from novikoff.keep.layout import Arrays, ModelFileError


def rows_to_arrays(rows: Rows, name: str) -> Arrays:
    if not rows.is_sparse:
        return {f"{name}.rows": rows.matrix}
    data, indices, indptr = rows.matrix
    end = int(indptr[-1])
    return {f"{name}.values": data[:end], f"{name}.columns": indices[:end], f"{name}.pointers": indptr}


def rows_table(name: str, sparse: bool) -> Table:
    if not sparse:
        return {f"{name}.rows": ("f4 f8", f"{name}.n", "columns")}
    return {
        f"{name}.values": ("f4 f8", f"{name}.entries"),
        f"{name}.columns": ("u4 u8", f"{name}.entries"),
        f"{name}.pointers": ("u4 u8", f"{name}.n + 1"),
    }


def rows_from_arrays(arrays: Arrays, name: str, sparse: bool, n_columns: int) -> Rows:
    """Rows whose arrays have the types and shapes of the table; no kernel may be led outside of them."""
    if not sparse:
        check_finite(arrays, f"{name}.rows")
        return as_rows(arrays[f"{name}.rows"])
    csr = Csr(*(arrays[f"{name}.{part}"] for part in ("values", "columns", "pointers")))
    check_csr(csr, name, n_columns)
    check_finite(arrays, f"{name}.values")
    return csr_rows(*csr, n_columns)


def check_csr(csr: Csr, name: str, n_columns: int) -> None:
    data, indices, indptr = csr
    if indices.dtype != indptr.dtype:
        raise ModelFileError(f"the columns and pointers of {name} are of different types")
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(data) or np.any(indptr[1:] < indptr[:-1]):
        raise ModelFileError(f"the row pointers of {name} do not ascend from 0 to the number of entries")
    check_within(indices, f"{name}.columns", n_columns)
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    if not np.isin(falls, indptr).all():
        raise ModelFileError(f"the columns of {name} do not ascend in every row")
