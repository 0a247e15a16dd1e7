"""Encode values that JSON does not support, and decode them: names, labels, parameters.

Strings, integers, finite floats, booleans, None and lists are written as they are. Everything else is an object with
one key, its type: `{"tuple": [1, "a"]}`. Reading creates values of these types only; no class is looked up by a name in
a file.

>>> encode(("colour", b"red", float("inf")))
{'tuple': ['colour', {'bytes': 'cmVk'}, {'float': 'inf'}]}
>>> decode(encode(("colour", b"red", float("inf"))))
('colour', b'red', inf)
"""

import base64
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data import strict_json
from novikoff.features.names import Intercept, OneHot
from novikoff.keep.layout import ModelFileError, dumped

# NumPy pads strings to the longest, so a short file could require huge arrays: one may have this many bytes, and all
# arrays of a file together fewer, plus an allowance for each byte of the file.
MOST_BYTES = 1 << 28
SMALL_BYTES = 1 << 26
BYTES_A_BYTE = 16

# NumPy's scalar types, and the types that they may be made from: np.bytes_(10**9) would be 10^9 zeros.
SCALARS: dict[str, tuple[Any, type]] = {
    kind.__name__: (kind, plain)
    for plain, kinds in (
        (bool, (np.bool_,)),
        (int, (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)),
        (float, (np.float16, np.float32, np.float64)),
        (str, (np.str_,)),
        (bytes, (np.bytes_,)),
    )
    for kind in kinds
}
FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}

# What an array may consist of: booleans, integers, floats of up to 64 bits, strings, bytes, or objects of these types.
ARRAY_KINDS = "biufUSO"
MOST_DIMENSIONS = 32
ARRAY_TYPE = rf"[<|][{ARRAY_KINDS}]\d{{0,9}}"


def encode(value: Any, what: str = "a value") -> Any:
    """Return the value as JSON; `what` names it in the error if that is impossible."""
    kind = type(value)
    if value is None or kind in (str, bool, int) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [encode(part, what) for part in value]
    tagged = _tagged(value, what)
    if tagged is None:
        raise ValueError(
            f"{what} is or contains {value!r}, a {kind.__name__}, which a model file cannot hold; it holds strings, "
            "numbers, bytes, None, and tuples, lists, sets and dictionaries of them"
        )
    return {tagged[0]: tagged[1]}


def _tagged(value: Any, what: str) -> tuple[str, Any] | None:
    kind = type(value)
    if kind is float:
        return "float", repr(value)
    if kind is bytes:
        return "bytes", base64.b64encode(value).decode()
    if kind is tuple:
        return "tuple", [encode(part, what) for part in value]
    if kind is frozenset or kind is set:
        return kind.__name__, sorted((encode(part, what) for part in value), key=dumped)
    if kind is dict:
        return "dict", [[encode(key, what), encode(part, what)] for key, part in value.items()]
    if kind is OneHot:
        return "one_hot", [encode(part, what) for part in value[1:]]
    if value is Intercept:
        return "intercept", None
    if kind.__name__ in SCALARS and SCALARS[kind.__name__][0] is kind:
        return "scalar", [kind.__name__, encode(value.item(), what)]
    if kind is np.ndarray:
        return "array", encode_array(value, what)
    return None


def decode(plain: Any) -> Any:
    """Return the value that `encode` wrote."""
    if isinstance(plain, list):
        return [decode(part) for part in plain]
    if not isinstance(plain, dict):
        return plain
    if len(plain) != 1:
        raise ModelFileError(f"a value has {len(plain)} tags, where one is expected")
    ((tag, content),) = plain.items()
    if tag not in _READERS:
        raise ModelFileError(f"a value has the unknown tag {tag!r:.60}")
    return _READERS[tag](content)


def encode_array(array: NDArray[Any], what: str) -> dict[str, Any]:
    """Return a small array, such as that of the classes, as JSON, with its exact type."""
    kind = array.dtype
    if kind.kind not in ARRAY_KINDS or (kind.kind == "f" and kind.itemsize > 8):
        raise ValueError(f"{what} is an array of {kind}, which a model file cannot hold; use strings or numbers")
    plain = {
        "type": kind.newbyteorder("=").str.replace(">", "<"),
        "shape": list(array.shape),
        "values": encode(array.ravel().tolist(), what),
    }
    if not _same(decode_array(plain), array):
        raise ValueError(
            f"{what}, an array of {kind}, would not come back from a file as it is; use strings or numbers"
        )
    return plain


def decode_array(plain: Any) -> NDArray[Any]:
    """Return the array that `encode_array` wrote."""
    if not re.fullmatch(ARRAY_TYPE, plain["type"]):
        raise ModelFileError(f"an array of {plain['type']:.60} is not among those that a model file holds")
    kind, shape, values = np.dtype(plain["type"]).newbyteorder("="), plain["shape"], decode(plain["values"])
    sizes = isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS and all(type(size) is int for size in shape)
    if not isinstance(values, list) or not sizes or math.prod(shape) != len(values) or min(shape, default=0) < 0:
        raise ModelFileError(f"an array of the shape {shape!r:.60} has another number of values")
    if len(values) * kind.itemsize > MOST_BYTES:
        raise ModelFileError(f"an array of {len(values)} values of {kind} is larger than any such array should be")
    array = np.empty(len(values), dtype=kind)
    array[:] = values
    return array.reshape(shape)


def check_room(plain: Any, n_bytes: int) -> None:
    """Refuse JSON that requires arrays out of proportion to its bytes, before any is allocated."""
    asked, waiting = 0, [plain]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            kind, values = value.get("type"), value.get("values")
            if isinstance(kind, str) and re.fullmatch(ARRAY_TYPE, kind) and isinstance(values, list):
                asked += len(values) * np.dtype(kind).itemsize
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if asked > SMALL_BYTES + BYTES_A_BYTE * n_bytes:
        raise ModelFileError(
            f"{n_bytes:,} bytes require arrays of {asked:,} bytes; a model has shorter names and labels"
        )


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if one.dtype != other.dtype.newbyteorder("=") or one.shape != other.shape:
        return False
    pairs = zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
    return all(type(a) is type(b) and (a == b or (a != a and b != b)) for a, b in pairs)


def encode_names(names: Iterable[Any], what: str) -> NDArray[np.uint8]:
    """Return names, possibly many, as an array, which keeps the header short."""
    return np.frombuffer(dumped(encode(list(names), what)).encode(), np.uint8)


def decode_names(array: NDArray[np.uint8]) -> list[Any]:
    """Return the names that `encode_names` wrote."""
    plain = strict_json.parse(array.tobytes(), most_bytes=array.nbytes)
    check_room(plain, array.nbytes)
    names = decode(plain)
    if not isinstance(names, list):
        raise ModelFileError("names are not a list")
    return names


def _read_scalar(content: Any) -> Any:
    (kind, plain), value = SCALARS[content[0]], decode(content[1])
    if len(content) != 2 or type(value) is not plain:
        raise ModelFileError(f"a {kind.__name__} cannot be made of {value!r:.60}")
    return kind(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda content: FLOATS[content],
    "bytes": lambda content: base64.b64decode(content, validate=True),
    "tuple": lambda content: tuple(decode(part) for part in content),
    "set": lambda content: {decode(part) for part in content},
    "frozenset": lambda content: frozenset(decode(part) for part in content),
    "dict": lambda content: {decode(key): decode(value) for key, value in content},
    "one_hot": lambda content: OneHot(*(decode(part) for part in content)),
    "intercept": lambda content: Intercept,
    "scalar": _read_scalar,
    "array": decode_array,
}
