"""The ways in: arrays, a formula with a table, or a model of another library. All end in one likelihood."""

from typing import Any

from novikoff.prove.existence.arrays import from_arrays
from novikoff.prove.existence.likelihood import Likelihood


def likelihood_of(model: Any, data: Any = None, **options: Any) -> Likelihood:
    """The likelihood that somebody means; see `existence` for the options."""
    if isinstance(model, str):
        from novikoff.prove.existence.formulas import from_formula

        return from_formula(model, data, **options)
    from novikoff.prove.existence.objects import arrays_of, is_model

    if is_model(model):
        X, y, found = arrays_of(model, data)
        why_not = found.pop("why_not", None)
        asked = {**found, **{name: value for name, value in _given(options).items() if name != "fit_intercept"}}
        if why_not is not None and asked["family"] is None:
            raise ValueError(f"{type(model).__name__}: {why_not}; to ask about its data, say which family, by family=")
        return from_arrays(X, y, **asked)
    if data is None and (hasattr(model, "in_one_piece") or hasattr(model, "is_table")):
        model, data = _examples(model)
    if data is None:
        raise ValueError("X alone says nothing: give the response y, too, or a formula and a table, or a model")
    return from_arrays(model, data, **{"family": "binomial", **_given(options)})


def _examples(source: Any) -> tuple[Any, Any]:
    """The rows and labels of `Examples`, or of a reader of files that have numbers already."""
    from novikoff.prove.separable.in_blocks import exactly

    if getattr(source, "is_table", False):
        raise ValueError("columns of a table have to become numbers first: write a formula, and give the table with it")
    with exactly(source) as examples:
        X, labels = examples.in_one_piece()
        return X.copy(), labels.copy()


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
