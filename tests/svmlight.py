"""svmlight text for tests: examples as text, and a file as one matrix."""

import numpy as np

from novikoff.data import read
from novikoff.data.batches import stacked


def write_svmlight(stream, X, y):
    """Column j becomes index j. A sparse matrix is written as it is stored, a dense one without its zeros."""
    for number, label in enumerate(y):
        if hasattr(X, "indptr"):
            entries = slice(X.indptr[number], X.indptr[number + 1])
            pairs = zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)
        else:
            pairs = ((j, x) for j, x in enumerate(X[number].tolist()) if x or str(x) == "-0.0")
        words = [repr(np.asarray(label).item()), *(f"{column}:{value!r}" for column, value in pairs)]
        stream.write(" ".join(words).encode() + b"\n")


def read_svmlight(path, zero_based="auto"):
    """All rows of a file as a CSR array, and their labels."""
    parts = list(read(path, format="svmlight", zero_based=zero_based))
    rows = stacked([part.rows for part in parts])
    return rows.as_scipy(), np.concatenate([part.labels for part in parts])
