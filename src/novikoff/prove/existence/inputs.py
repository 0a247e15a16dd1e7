"""The inputs: arrays, a formula with a table, or a model of another library. Each is converted to a likelihood.

Models, fitted or not, are recognised by their attributes, without importing their libraries. statsmodels' models have
`endog` and `exog`; those of linearmodels `dependent` and `exog`; lifelines' Cox fitter has the names of the columns of
a table, but not the table; pyfixest's have a formula, and the rows that they did not drop.
"""

import re
from typing import Any, Unpack

import numpy as np

from novikoff.prove.existence.arrays import REFUSED, from_arrays, row_labels_of
from novikoff.prove.existence.likelihood import Likelihood, ModelOptions, Origin

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
LEAST_SQUARES = ("OLS", "WLS", "GLS", "GLSAR", "PanelOLS", "PooledOLS", "RandomEffects", "AbsorbingLS", "IV2SLS")
# The families of statsmodels' GLM; the binomial one depends on its link.
GLM_FAMILIES = {"Poisson": "poisson", "NegativeBinomial": "negative-binomial"}
LINKS = ("Logit", "Probit", "CLogLog", "LogLog", "Cauchy")

# The family for each `_method` of pyfixest's models.
PYFIXEST = {"fepois": "poisson", "feglm-logit": "binomial", "feglm-probit": "binomial"}

Inputs = tuple[Any, Any, ModelOptions, Origin]


def is_model(thing: Any) -> bool:
    """Whether this is a model, or the result of fitting one, rather than an array."""
    thing = _unfitted(thing)
    if hasattr(thing, "shape") or isinstance(thing, list | tuple):
        return False
    return _has(thing, "endog", "exog_names") or _has(thing, "dependent", "exog") or _is_lifelines(thing)


def arrays_of(thing: Any, table: Any = None) -> Inputs:
    """Return the arguments of `from_arrays`."""
    model = _unfitted(thing)
    if _is_lifelines(model):
        return _of_lifelines(model, table)
    if table is not None:
        raise ValueError(f"a {type(model).__name__} has its own data; leave the second argument out")
    return _of_statsmodels(model) if hasattr(model, "exog_names") else _of_linearmodels(model)


def _unfitted(thing: Any) -> Any:
    inner = getattr(thing, "model", None)
    return inner if inner is not None and hasattr(inner, "exog") else thing


def _has(thing: Any, *names: str) -> bool:
    return all(hasattr(thing, name) for name in names)


# -- statsmodels ------------------------------------------------------------------------------------------------------


def _of_statsmodels(model: Any) -> Inputs:
    X, y = np.asarray(model.exog), np.asarray(model.endog)
    family = _glm_family(model) if hasattr(model, "family") else CLASSES.get(type(model).__name__)
    options = ModelOptions(family=family, fit_intercept=False)
    data = getattr(model, "data", None)
    dropped = getattr(data, "missing_row_idx", None)
    columns, omitted = list(model.exog_names)[: X.shape[1]], () if dropped is None else tuple(map(int, dropped))
    origin = Origin(columns, None, getattr(data, "row_labels", None), omitted)
    weights = [getattr(model, name, None) for name in ("freq_weights", "var_weights")]
    given = [np.asarray(w, dtype=np.float64) for w in weights if w is not None and np.size(w) == len(y)]
    if given:
        options["weights"] = np.minimum.reduce(given)
    if len(y) > 1 and np.size(getattr(model, "offset", 0)) == len(y):
        options["offset"] = np.asarray(model.offset, dtype=np.float64)
    if family == "multinomial":
        names = getattr(model, "_ynames_map", {})
        y = np.array([names.get(int(code), str(int(code))) for code in y])
        options["reference"] = names.get(0, "0")
    if family == "ordinal":
        return X, _ordered(model, y), options, origin
    if family == "conditional":
        options["strata"] = np.asarray(model.groups)
    if family == "cox":
        options["event"], options["ties"] = np.asarray(model.status), model.ties
        if getattr(model, "entry", None) is not None:
            options["entry"] = np.asarray(model.entry)
        if getattr(model, "strata", None) is not None:
            options["strata"] = np.asarray(model.strata)
    return X, y, options, origin


def _glm_family(model: Any) -> str:
    name, link = type(model.family).__name__, type(model.family.link).__name__
    if name == "Binomial" and link in LINKS:
        return "binomial"
    if name == "Binomial" and link == "Log":
        return "log-binomial"
    if name in GLM_FAMILIES and link == "Log":
        return GLM_FAMILIES[name]
    raise ValueError(f"a GLM of the family {name} with the link {link} is not supported by existence")


def _ordered(model: Any, codes: Any) -> Any:
    """Return ordered labels from codes in the order of the model."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in model.labels]
    return _Ordered([labels[int(code)] for code in codes], labels)


class _Ordered(list[Any]):
    """Labels with their order."""

    def __init__(self, labels: list[Any], categories: list[Any]) -> None:
        super().__init__(labels)
        self.categories = categories


# -- linearmodels -----------------------------------------------------------------------------------------------------


def _of_linearmodels(model: Any) -> Inputs:
    """Use only the data of a linear model: the family must be given."""
    X, names = _table_of(model.exog)
    y, _ = _table_of(model.dependent)
    options = ModelOptions(family=None, fit_intercept=False)
    effects = {}
    if getattr(model, "entity_effects", False):
        effects["entity"] = np.asarray(model.exog.entity_ids).ravel()
    if getattr(model, "time_effects", False):
        effects["time"] = np.asarray(model.exog.time_ids).ravel()
    if effects:
        options["fixed_effects"] = effects
    kept = np.asarray(getattr(model, "not_null", True)).ravel()
    origin = Origin(names, None, getattr(model.dependent, "index", None), tuple(np.flatnonzero(~kept).tolist()))
    return X, y.ravel(), options, origin


def _table_of(data: Any) -> tuple[Any, list[str]]:
    values = data.values2d if hasattr(data, "values2d") else data.ndarray
    return np.asarray(values), [str(name) for name in (data.vars if hasattr(data, "vars") else data.cols)]


# -- lifelines --------------------------------------------------------------------------------------------------------


def _is_lifelines(thing: Any) -> bool:
    return type(thing).__name__ == "CoxPHFitter" or _has(thing, "duration_col", "event_col")


def _of_lifelines(fitter: Any, table: Any) -> Inputs:
    """lifelines stores the names of columns only; the table must be given again."""
    if table is None or not hasattr(fitter, "duration_col"):
        raise ValueError(
            "lifelines' models do not keep their table: give it as the second argument, and fit the model first, or "
            "write a formula: existence('week ~ age + prio', table, family='cox', event='arrest')"
        )
    strata = fitter.strata if fitter.strata is not None else []
    strata = [strata] if isinstance(strata, str) else list(strata)
    named = {"event": fitter.event_col, "entry": fitter.entry_col, "weights": fitter.weights_col}
    options: dict[str, Any] = {ours: table[name] for ours, name in named.items() if name is not None}
    if strata:
        options["strata"] = [str(row) for row in table[strata].itertuples(index=False)]
    asked = ModelOptions(**{**options, "family": "cox", "fit_intercept": False})  # type: ignore[typeddict-item]
    cluster = getattr(fitter, "cluster_col", None)
    others = {fitter.duration_col, cluster, *strata, *named.values()}
    if getattr(fitter, "formula", None):
        from novikoff.prove.existence.formulas import design_of

        X, names = design_of(str(fitter.formula), table, others - {None}, has_intercept=False)
        return X, table[fitter.duration_col], asked, Origin(names, None, row_labels_of(table))
    X = table[[name for name in table.columns if name not in others]]
    return X, table[fitter.duration_col], asked, Origin()


# -- pyfixest ---------------------------------------------------------------------------------------------------------


def _is_pyfixest(thing: Any) -> bool:
    return _has(thing, "_fml", "_method", "_coefnames") or hasattr(thing, "all_fitted_models")


def _of_pyfixest(fit: Any, table: Any, options: ModelOptions) -> Likelihood:
    """Apply its formula to the rows that it kept, or to the table: its stored design is weighted and demeaned."""
    from novikoff.prove.existence.formulas import from_formula

    if hasattr(fit, "all_fitted_models"):
        raise ValueError("these are several models of pyfixest: pass one of to_list()")
    family = options.get("family") or PYFIXEST.get(fit._method)
    if family is None or fit._is_iv:
        raise ValueError(
            f"pyfixest's {fit._method}: {REFUSED['gaussian']}; fepois and feglm's logit and probit are taken"
        )
    if table is None and fit.n_separation_na:
        raise ValueError(
            f"pyfixest dropped {fit.n_separation_na} rows as separated, and does not keep them: give the table, too, "
            "as in existence(fit, table), or fit with separation_check=[]"
        )
    kept: Any = getattr(fit, "_data", None)
    if table is None and (kept is None or not len(kept)):
        raise ValueError("this model of pyfixest has no data: give the table, too, or fit with store_data=True")
    if re.search(r"\bi\(", fit._fml):
        raise ValueError(f"{fit._fml}: pyfixest's i(a) and i(a, b) are not supported; fit with C(a) and C(a):b")
    columns = {"weights": fit._weights_name, "offset": fit._offset_name}
    asked = ModelOptions(**{**columns, **_given(options), "family": family})  # type: ignore[typeddict-item]
    if table is not None:
        return from_formula(fit._fml, table, asked)
    positions = np.asarray(kept.index)
    omitted = np.setdiff1d(np.arange(max(len(kept) + len(fit._na_index), int(positions.max()) + 1)), positions)
    return from_formula(fit._fml, kept, asked, omitted=tuple(omitted.tolist()))


def likelihood_of(
    model: Any, data: Any = None, *, is_from_file: bool = False, **options: Unpack[ModelOptions]
) -> Likelihood:
    """Return the likelihood of a model and its data; see `existence` for the options."""
    if isinstance(model, str):
        from novikoff.prove.existence.formulas import from_formula

        return from_formula(model, data, options, is_from_file=is_from_file)
    if _is_pyfixest(model):
        return _of_pyfixest(model, data, options)
    given = _given(options)
    if is_model(model):
        X, y, found, origin = arrays_of(model, data)
        given.pop("fit_intercept", None)
        asked = {**found, **given}
        if asked.get("family") is None and _is_least_squares(_unfitted(model)):
            why = REFUSED["gaussian"]
            raise ValueError(f"{type(model).__name__}: {why}; to ask about its data, pass family=")
        return from_arrays(X, y, ModelOptions(**asked), origin)  # type: ignore[typeddict-item]
    if data is None and (hasattr(model, "in_one_piece") or hasattr(model, "is_table")):
        model, data = _examples(model)
    if data is None:
        raise ValueError("X alone is not enough: pass the response y, or a formula and a table, or a model")
    return from_arrays(model, data, ModelOptions(**{"family": "binomial", **given}))  # type: ignore[typeddict-item]


def _is_least_squares(model: Any) -> bool:
    return type(model).__name__ in LEAST_SQUARES or not hasattr(model, "exog_names")


def _examples(source: Any) -> tuple[Any, Any]:
    """Return the rows and labels of `Examples`, or of a reader of numeric files."""
    from novikoff.prove.separable.in_blocks import exactly

    if getattr(source, "is_table", False):
        raise ValueError("columns of a table have to become numbers first: write a formula, and give the table with it")
    with exactly(source) as examples:
        X, labels = examples.in_one_piece()
        return X.copy(), labels.copy()


def _given(options: ModelOptions) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
