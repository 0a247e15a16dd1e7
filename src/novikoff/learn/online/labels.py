"""The labels of a stream: known beforehand, or as they come."""

from collections.abc import Hashable, Iterable
from typing import Any

from novikoff.data.missing import is_missing


class Labels:
    """Every label's place among the classes, in order of appearance; the classes, in order; the signs of two."""

    __slots__ = ("are_fixed", "classes", "places", "signs")

    def __init__(self, classes: Iterable[Hashable] | None = None) -> None:
        self.places: dict[Any, int] = {}
        self.classes: tuple[Any, ...] = ()
        self.signs: dict[Any, float] = {}
        self.are_fixed = classes is not None
        if classes is not None:
            self.set(_as_classes(classes))

    def set(self, labels: Iterable[Hashable]) -> None:
        """Let these be the labels, in order of appearance."""
        appeared = list(labels)
        self.classes = _in_order(appeared)
        places = {label: place for place, label in enumerate(self.classes)}
        self.places = {label: places[label] for label in appeared}
        self.signs = dict(zip(self.classes, (-1.0, 1.0), strict=True)) if len(appeared) == 2 else {}

    def check(self, label: Hashable) -> None:
        """Refuse what cannot be a label here."""
        try:
            known = label in self.places
        except TypeError:
            raise TypeError(f"label {label!r} is not hashable; use a string, a number or a tuple of them") from None
        if not known and self.are_fixed:
            how = "name it there, or leave classes out, and labels are learned as they come"
            raise ValueError(f"label {label!r} is not in classes={list(self.classes)!r}; {how}")
        if not known and is_missing(label):
            raise ValueError(f"the label {label!r} stands for none at all, as NaN and None do; leave such examples out")


def _as_classes(classes: Iterable[Hashable]) -> list[Hashable]:
    labels: list[Hashable] = [classes] if isinstance(classes, str) else list(classes)
    if len(labels) < 2 or len(set(labels)) < len(labels) or any(map(is_missing, labels)):
        raise ValueError(f"classes={classes!r} must be a list of at least two labels, each of them once")
    return labels


def _in_order(labels: list[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)
