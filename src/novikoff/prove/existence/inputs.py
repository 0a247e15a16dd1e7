"""The inputs: arrays, a formula with a table, or a model of statsmodels. Each is converted to a likelihood.

Models of statsmodels, fitted or not, are recognised by their attributes, without importing the library. A model of
another library has a formula, or columns of a table: ask about these.
"""

from typing import Any, Unpack

import numpy as np

from novikoff.prove.existence.arrays import REFUSED, from_arrays
from novikoff.prove.existence.likelihood import Likelihood, ModelOptions

# statsmodels' classes that determine the family.
CLASSES = dict.fromkeys(("Logit", "Probit"), "binomial") | {
    "MNLogit": "multinomial",
    "Poisson": "poisson",
    "NegativeBinomial": "negative-binomial",
    "NegativeBinomialP": "negative-binomial",
    "OrderedModel": "ordinal",
    "PHReg": "cox",
    "ConditionalLogit": "conditional",
}
LEAST_SQUARES = ("OLS", "WLS", "GLS", "GLSAR")
# The families of statsmodels' GLM; the binomial one depends on its link.
GLM_FAMILIES = {"Poisson": "poisson", "NegativeBinomial": "negative-binomial"}
LINKS = ("Logit", "Probit", "CLogLog", "LogLog", "Cauchy")


def likelihood_of(
    model: Any, data: Any = None, *, is_from_file: bool = False, **options: Unpack[ModelOptions]
) -> Likelihood:
    """Return the likelihood of a model and its data; see `existence` for the options."""
    if isinstance(model, str):
        from novikoff.prove.existence.formulas import from_formula

        return from_formula(model, data, options, is_from_file=is_from_file)
    given: Any = {name: value for name, value in options.items() if value is not None}
    is_table = hasattr(model, "shape")  # which may have columns of any name
    inner = None if is_table else getattr(model, "model", None)
    model = inner if hasattr(inner, "exog") else model
    if not is_table and hasattr(model, "endog") and hasattr(model, "exog_names"):
        if data is not None:
            raise ValueError(f"a {type(model).__name__} has its own data; leave the second argument out")
        return _of_statsmodels(model, given)
    if data is None and (hasattr(model, "in_one_piece") or hasattr(model, "is_table")):
        model, data = _examples(model)
    if data is None:
        raise ValueError(
            "X alone is not enough: pass the response y, or a formula and a table; of other libraries, only models of "
            "statsmodels are taken"
        )
    return from_arrays(model, data, ModelOptions(**{"family": "binomial", **given}))  # type: ignore[typeddict-item]


def _examples(source: Any) -> tuple[Any, Any]:
    """Return the rows and labels of `Examples`, or of a reader of numeric files."""
    from novikoff.prove.separable.in_blocks import exactly

    if getattr(source, "is_table", False):
        raise ValueError("columns of a table have to become numbers first: write a formula, and give the table with it")
    with exactly(source) as examples:
        X, labels = examples.in_one_piece()
        return X.copy(), labels.copy()


# -- statsmodels ------------------------------------------------------------------------------------------------------


def _of_statsmodels(model: Any, given: Any) -> Likelihood:
    X, y, name = np.asarray(model.exog), np.asarray(model.endog), type(model).__name__
    family = _glm_family(model) if hasattr(model, "family") else CLASSES.get(name)
    if family is None and "family" not in given and name in LEAST_SQUARES:
        raise ValueError(f"{name}: {REFUSED['gaussian']}; to ask about its data, pass family=")
    options: dict[str, Any] = {"family": family}
    weights = [getattr(model, name, None) for name in ("freq_weights", "var_weights")]
    one_a_row = [np.asarray(w, dtype=np.float64) for w in weights if w is not None and np.size(w) == len(y)]
    if one_a_row:
        options["weights"] = np.minimum.reduce(one_a_row)
    if len(y) > 1 and np.size(getattr(model, "offset", 0)) == len(y):
        options["offset"] = np.asarray(model.offset, dtype=np.float64)
    if family == "multinomial":
        names = getattr(model, "_ynames_map", {})
        y = np.array([names.get(int(code), str(int(code))) for code in y])
        options["reference"] = names.get(0, "0")
    if family == "ordinal":
        import pandas as pd

        y = pd.Categorical.from_codes(y.astype(int), model.labels, ordered=True)
    if family == "conditional":
        options["strata"] = np.asarray(model.groups)
    if family == "cox":
        entry, strata = getattr(model, "entry", None), getattr(model, "strata", None)
        y = np.column_stack([*([] if entry is None else [entry]), y, model.status])
        options |= {"ties": model.ties, "strata": None if strata is None else np.asarray(strata)}
    data = getattr(model, "data", None)
    dropped = getattr(data, "missing_row_idx", None)
    options = {**options, **given, "fit_intercept": False}
    return from_arrays(
        X, y, options,  # type: ignore[arg-type]
        names=list(model.exog_names)[: X.shape[1]],
        row_labels=getattr(data, "row_labels", None),
        omitted=() if dropped is None else tuple(map(int, dropped)),
    )  # fmt: skip


def _glm_family(model: Any) -> str:
    name, link = type(model.family).__name__, type(model.family.link).__name__
    if name == "Binomial" and link in LINKS:
        return "binomial"
    if name == "Binomial" and link == "Log":
        return "log-binomial"
    if name in GLM_FAMILIES and link == "Log":
        return GLM_FAMILIES[name]
    raise ValueError(f"a GLM of the family {name} with the link {link} is not supported by existence")
