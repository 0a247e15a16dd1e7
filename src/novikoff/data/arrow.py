"""Arrow's arrays as NumPy's, and back. Arrow's own way imports pandas wherever that is installed, which takes longer
than to read and learn a small table."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def as_numbers(numbers: NDArray[np.int64]) -> "pa.Array":
    """Whole numbers as Arrow has them."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def as_numpy(array: "pa.Array", missing: float | None = None) -> NDArray[Any]:
    """Numbers or booleans, shared where they can be; `missing` stands for the nulls among numbers, if there are any.

    >>> import pyarrow as pa
    >>> as_numpy(pa.array([1.5, None]), -1.0).tolist(), as_numpy(pa.array([True, False])).tolist()
    ([1.5, -1.0], [True, False])
    """
    import pyarrow as pa

    if missing is not None and array.null_count:
        values = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
        numbers = as_numpy(values).copy()
        numbers[as_numpy(array.is_null())] = missing
        return numbers
    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.uint8())).view(np.bool_)
    return np.from_dlpack(array)
