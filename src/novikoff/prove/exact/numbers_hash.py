"""The fingerprint of what a proof is about: SHA-256 of a line with the shapes, of the numbers, and of the labels.

`docs/certificates.md` says it byte by byte, for whoever writes another checker.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novikoff.prove.exact.document import canonical


def numbers_sha256(
    kind: str, shape: Iterable[int], arrays: Iterable[ArrayLike], labels: Sequence[Any] | None = None
) -> str:
    """Of the line `novikoff KIND SHAPE...`, the arrays in float64, and the labels in JSON if there are any.

    >>> numbers_sha256("inequalities", (1, 2), [[[1.0, -0.0]]])[:16]
    '6a4ef33655992bf6'
    >>> import struct
    >>> hashlib.sha256(b"novikoff inequalities 1 2\\n" + struct.pack("<2d", 1.0, 0.0)).hexdigest()[:16]
    '6a4ef33655992bf6'
    """
    digest = hashlib.sha256(f"novikoff {kind} {' '.join(map(str, shape))}\n".encode("ascii"))
    for array in arrays:
        numbers = np.asarray(array, dtype=np.float64) + 0.0  # -0.0 is 0.0
        digest.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
    if labels is not None:
        digest.update(canonical(list(labels)).encode())
    return digest.hexdigest()
