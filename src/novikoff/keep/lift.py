"""A lift in a file: it has learned nothing but the number of its columns, and their names."""

from collections.abc import Callable, Mapping
from typing import Any

from novikoff.features.lift import LiftModel
from novikoff.keep.expect import check_arrays, ensure, fields
from novikoff.keep.header import Evidence, check_unencoded, decode_parameters
from novikoff.keep.layout import Parts

LEARNER = "Paraboloid"


def to_parts(model: LiftModel, evidence: Evidence) -> Parts:
    header = {
        "learner": LEARNER,
        "parameters": {},
        "classes": None,
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "encoding": None,
        "run": None,
        **evidence.to_header(),
        "state": {"n_columns": model.n_columns},
    }
    return Parts(header, {})


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> LiftModel:
    header = fields(parts.header)
    check_unencoded(header)
    decode_parameters(header, functions)
    check_arrays(parts.arrays, {}, {})
    names, n_columns = header.optional_texts("feature_names"), header.part("state").whole("n_columns", least=1)
    ensure(names is None or len(names) == n_columns, "there are not as many names as columns")
    return LiftModel(n_columns, names)
