"""A lift in a file: its only learned state is the number of its columns, and their names."""

from collections.abc import Callable, Mapping
from typing import Any

from novikoff.features.lift import LiftModel
from novikoff.keep import checks
from novikoff.keep.checks import ensure
from novikoff.keep.codec import EVIDENCE, Codec
from novikoff.keep.layout import FileParts
from novikoff.keep.parameters import decode_parameters

BY_HAND = (*EVIDENCE, "parameters")


def to_parts(model: LiftModel) -> FileParts:
    return FileParts({"parameters": {}, **Codec().write_fields(model, {})}, {})


def from_parts(parts: FileParts, functions: Mapping[str, Callable[..., Any]]) -> LiftModel:
    decode_parameters(parts.header, functions)
    checks.all_taken(parts.arrays)
    model = LiftModel(**Codec().read_fields(LiftModel, parts.header, {}, without=BY_HAND))
    names = model.feature_names
    ensure(model.n_columns >= 1, "there are no columns")
    ensure(names is None or len(names) == model.n_columns, "there are not as many names as columns")
    return model
