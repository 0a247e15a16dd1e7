"""Learning and proving on many machines, with the same theorem. Names are loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.cluster.engine import Local as Local
    from novikoff.cluster.engine import Ray as Ray
    from novikoff.cluster.learning import fit as fit
    from novikoff.cluster.proving import certify as certify
    from novikoff.cluster.proving import check as check

_HOMES = {"Local": "engine", "Ray": "engine", "certify": "proving", "check": "proving", "fit": "learning"}

__all__ = ["Local", "Ray", "certify", "check", "fit"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
