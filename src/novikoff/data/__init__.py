"""Data sets: files read in pieces, and the order in which their examples are visited."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.data.reading import read

__all__ = ["read"]


def __getattr__(name: str) -> Any:
    if name != "read":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from novikoff.data.reading import read

    globals()["read"] = read
    return read
