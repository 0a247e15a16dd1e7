"""The layout of a model file: a JSON header and arrays, in the safetensors format. It contains no code.

A file is the length of the outer header (8 bytes, little-endian), the outer header, which names the arrays and has our
own header as one string among its metadata, and the arrays, one after the other. Any program that reads safetensors
can read the arrays. Our header begins with a SHA-256 of the whole file, computed with 64 zeros in its place, so that
every changed byte is detected.

A file is checked before it is used: sizes before anything is read, the format's version before anything else, the
checksum before the arrays, and, by the safetensors package, that the arrays fill the file without overlap.
"""

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from novikoff.data import strict_json
from novikoff.data.files import no_model
from novikoff.data.whole_file import WholeFile

# The only format that is written and read.
FORMAT = 1
KEY = "novikoff"

# The longest header that the safetensors format allows.
LONGEST_HEADER = 100_000_000
LENGTH = struct.Struct("<Q")
NO_DIGEST = "0" * 64

Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or has another format."""


class FileParts(NamedTuple):
    """The parts of a model file: the header, of JSON values, and the arrays."""

    header: dict[str, Any]
    arrays: Arrays


# -- writing ----------------------------------------------------------------------------------------------------------


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a model file; until it is complete, the path keeps its old content."""
    content = memoryview(_packed(header, arrays))
    place = _digest_place(bytes(content[: LENGTH.size + _header_length(content)]), NO_DIGEST)
    with WholeFile(path) as file:
        file.write(content[:place])
        file.write(hashlib.sha256(content).hexdigest().encode())
        file.write(content[place + len(NO_DIGEST) :])


def _packed(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the content of the file, with zeros in place of its checksum."""
    from safetensors.numpy import save

    transposed = sorted(name for name, array in arrays.items() if _is_transposed(array))
    text = dumped({"sha256": NO_DIGEST, **header, "transposed": transposed})
    if len(json.dumps(text)) > LONGEST_HEADER // 2:
        raise ValueError(
            f"the names in the model take {len(text) / 1e6:.0f} MB, and a model file has room for "
            f"{LONGEST_HEADER / 2e6:.0f} MB; learn with fewer or shorter names, or hash them"
        )
    flat = {name: np.ascontiguousarray(array.T if name in transposed else array) for name, array in arrays.items()}
    return bytes(save(flat, {KEY: text}))


def _is_transposed(array: NDArray[Any]) -> bool:
    """Whether an array is in Fortran order. The order is kept, because sums in another order round differently."""
    return array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous


def dumped(value: Any) -> str:
    """Return JSON in ASCII; raise ValueError for numbers that are not finite."""
    return json.dumps(value, allow_nan=False)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a model file. The rest is not read, so it may be damaged."""
    with _opened(Path(path)) as file:
        _, header = _read_header(file, Path(path))
    return header


def read(path: str | os.PathLike[str]) -> FileParts:
    """Return the header and the arrays of a model file, after all checks that do not depend on the learner."""
    path = Path(path)
    with _opened(path) as file:
        beginning, header = _read_header(file, path)
        _check_size(beginning, os.fstat(file.fileno()).st_size, path)
        try:
            file.seek(0)
            content = file.read()
        except (MemoryError, OverflowError):
            raise too_large(path) from None
    _check_digest(content, header, path)
    return FileParts(header, _unpacked(content, header, path))


def _opened(path: Path) -> BinaryIO:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; name the model file in it")
    return open(path, "rb")


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse to replace a file that is neither a model file nor empty."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        read_header(path)
    except ModelFileError:
        raise FileExistsError(f"{path} already exists and is not a model file; choose another name") from None


def refuse(path: Path, what: str) -> NoReturn:
    is_another = no_model(path)
    if is_another is not None:
        raise ModelFileError(f"{path} is not a model file: it is {is_another}")
    raise ModelFileError(f"{path} is not a model file, or is damaged: {what}")


def too_large(path: Path) -> MemoryError:
    """Return the error for a file that may be valid but does not fit into memory."""
    return MemoryError(f"{path} has {path.stat().st_size:,} bytes, and loading it takes more memory than there is")


def _read_header(file: BinaryIO, path: Path) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes up to the end of the outer header, and our own header in it."""
    size = os.fstat(file.fileno()).st_size
    beginning = file.read(LENGTH.size)
    length = _header_length(beginning) if len(beginning) == LENGTH.size else LONGEST_HEADER + 1
    if length > LONGEST_HEADER or LENGTH.size + length > size:
        refuse(path, f"its {size} bytes have no room for the header that it begins with; it may be cut off")
    beginning += file.read(length)
    try:
        text = strict_json.parse(beginning[LENGTH.size :])["__metadata__"][KEY]
        header = strict_json.parse(text)
        version = header["format"]
        if type(version) is not int or type(header["sha256"]) is not str:
            raise TypeError("the version or the checksum is of another type")
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(
            f"{path} is not a model file, or is damaged: its header cannot be read ({error!r})"
        ) from error
    if version != FORMAT:
        raise ModelFileError(
            f"{path} is a model of format {version}, and this version of novikoff reads format {FORMAT} only; load it "
            f"with the version that wrote it ({header.get('novikoff')!s:.40}), or learn the model again"
        )
    return beginning, header


def _check_size(beginning: bytes, size: int, path: Path) -> None:
    """Check that the arrays that the outer header names fill the file, before reading them."""
    tensors = [tensor for name, tensor in json.loads(beginning[LENGTH.size :]).items() if name != "__metadata__"]
    try:
        ends = [tensor["data_offsets"][1] for tensor in tensors]
    except (TypeError, LookupError):
        ends = [None]
    if any(type(end) is not int or not 0 <= end < 2**62 for end in ends):
        refuse(path, "its header does not say where its arrays are")
    if len(beginning) + max(ends, default=0) != size:
        claimed = len(beginning) + max(ends, default=0)
        refuse(path, f"its header names {claimed:,} bytes, and it has {size:,}; it may be cut off")


def _header_length(content: bytes | memoryview) -> int:
    return int(LENGTH.unpack_from(content)[0])


def _digest_place(beginning: bytes, digest: str) -> int:
    """Return the position of the checksum in our header: the first string after its name."""
    name = b'{\\"sha256\\": \\"'
    place = beginning.find(name) + len(name)
    if place < len(name) or beginning[place : place + len(NO_DIGEST)] != digest.encode():
        raise ValueError("the checksum is not in its place")
    return place


def _check_digest(content: bytes, header: Mapping[str, Any], path: Path) -> None:
    view = memoryview(content)
    try:
        place = _digest_place(content[: LENGTH.size + _header_length(content)], header["sha256"])
    except ValueError as error:
        refuse(path, str(error))
    digest = hashlib.sha256(view[:place])
    digest.update(NO_DIGEST.encode())
    digest.update(view[place + len(NO_DIGEST) :])
    if digest.hexdigest() != header["sha256"]:
        refuse(path, "its checksum is wrong, so some of it was changed or is missing; save the model again")


def _unpacked(content: bytes, header: Mapping[str, Any], path: Path) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    transposed = header.get("transposed")
    if not isinstance(transposed, list):
        refuse(path, "it does not state the order of its arrays")
    try:
        return {name: _in_order(array, name in transposed) for name, array in load(content).items()}
    except MemoryError:
        raise too_large(path) from None
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise ModelFileError(f"{path} is not a model file, or is damaged: {error}") from error


def _in_order(array: NDArray[Any], transposed: bool) -> NDArray[Any]:
    """Return an array in the order that it had when it was written."""
    if array.ndim > 2:
        raise ValueError(f"an array of {array.ndim} dimensions, where vectors and matrices are expected")
    if array.dtype == np.bool_ and np.any(array.view(np.uint8) > 1):
        raise ValueError("a truth value that is neither 0 nor 1")
    return array.T if transposed else array
