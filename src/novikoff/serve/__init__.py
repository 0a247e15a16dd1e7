"""Models that predict while they learn, as a service. `Client` is loaded on first use."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.serve.client import Client

__all__ = ["Client"]


def __getattr__(name: str) -> Any:
    if name != "Client":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from novikoff.serve.client import Client

    return Client
