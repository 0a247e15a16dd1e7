"""The ways in: arrays, a formula with a table, or a model of another library. All end in one likelihood.

Models, fitted or not, are known by what they have: none of their libraries is imported here. statsmodels' models have
`endog` and `exog`; those of linearmodels `dependent` and `exog`; lifelines' fitter of Cox models has the names of the
columns of a table, which it does not keep.
"""

from typing import Any

import numpy as np

from novikoff.prove.existence.arrays import REFUSED, from_arrays, row_labels_of
from novikoff.prove.existence.likelihood import Likelihood

# statsmodels' classes that say which family they are.
CLASSES = {
    "Logit": "binomial",
    "Probit": "binomial",
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

Inputs = tuple[Any, Any, dict[str, Any]]


def is_model(thing: Any) -> bool:
    """Whether this is a model, or what came out of fitting one, rather than an array."""
    thing = _unfitted(thing)
    if hasattr(thing, "shape") or isinstance(thing, list | tuple):
        return False
    return _has(thing, "endog", "exog_names") or _has(thing, "dependent", "exog") or _is_lifelines(thing)


def arrays_of(thing: Any, table: Any = None) -> Inputs:
    """The design, the response, and the options for `from_arrays`."""
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
    options: dict[str, Any] = {"fit_intercept": False, "names": list(model.exog_names)[: X.shape[1]]}
    family = _glm_family(model) if hasattr(model, "family") else CLASSES.get(type(model).__name__)
    if type(model).__name__ in LEAST_SQUARES:
        options["why_not"] = REFUSED["gaussian"]
    options |= {"family": family, **_rows_of(model, len(y))}
    weights = [getattr(model, name, None) for name in ("freq_weights", "var_weights")]
    given = [np.asarray(w, dtype=np.float64) for w in weights if w is not None and np.size(w) == len(y)]
    if given:
        options["weights"] = np.minimum.reduce(given)
    if family == "log-binomial" and np.size(getattr(model, "offset", 0)) == len(y):
        options["offset"] = np.asarray(model.offset, dtype=np.float64)
    if family == "multinomial":
        names = getattr(model, "_ynames_map", {})
        y = np.array([names.get(int(code), str(int(code))) for code in y])
        options["reference"] = names.get(0, "0")
    if family == "ordinal":
        return X, _ordered(model, y), options
    if family == "conditional":
        options["strata"] = np.asarray(model.groups)
    if family == "cox":
        options |= {"event": np.asarray(model.status), "ties": model.ties}
        for theirs, ours in (("entry", "entry"), ("strata", "strata")):
            value = getattr(model, theirs, None)
            if value is not None:
                options[ours] = np.asarray(value)
    return X, y, options


def _rows_of(model: Any, n_rows: int) -> dict[str, Any]:
    """The labels of the rows that were not dropped, and their positions among all."""
    data = getattr(model, "data", None)
    dropped = getattr(data, "missing_row_idx", None)
    found = {"row_labels": getattr(data, "row_labels", None)}
    if dropped is not None and len(dropped):
        found["row_positions"] = np.delete(np.arange(n_rows + len(dropped)), dropped)
    return found


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
    """Ordered labels as codes in the order of the model, with their names."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in model.labels]
    return _Ordered([labels[int(code)] for code in codes], labels)


class _Ordered(list[Any]):
    """Labels that know their order."""

    def __init__(self, labels: list[Any], categories: list[Any]) -> None:
        super().__init__(labels)
        self.categories = categories


# -- linearmodels -----------------------------------------------------------------------------------------------------


def _of_linearmodels(model: Any) -> Inputs:
    """A linear model with the data of another one: the family has to be said."""
    X, names = _table_of(model.exog)
    y, _ = _table_of(model.dependent)
    options: dict[str, Any] = {"family": None, "fit_intercept": False, "names": names}
    effects = {}
    if getattr(model, "entity_effects", False):
        effects["entity"] = np.asarray(model.exog.entity_ids).ravel()
    if getattr(model, "time_effects", False):
        effects["time"] = np.asarray(model.exog.time_ids).ravel()
    if effects:
        options["fixed_effects"] = effects
    options["why_not"] = REFUSED["gaussian"]
    options["row_labels"] = getattr(model.dependent, "index", None)
    if (kept := getattr(model, "not_null", None)) is not None:
        options["row_positions"] = np.flatnonzero(np.asarray(kept).ravel())
    return X, y.ravel(), options


def _table_of(data: Any) -> tuple[Any, list[str]]:
    values = data.values2d if hasattr(data, "values2d") else data.ndarray
    return np.asarray(values), [str(name) for name in (data.vars if hasattr(data, "vars") else data.cols)]


# -- lifelines --------------------------------------------------------------------------------------------------------


def _is_lifelines(thing: Any) -> bool:
    return type(thing).__name__ == "CoxPHFitter" or _has(thing, "duration_col", "event_col")


def _of_lifelines(fitter: Any, table: Any) -> Inputs:
    """lifelines keeps the names of columns; the table has to be given again."""
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
    options |= {"family": "cox", "fit_intercept": False}
    cluster = getattr(fitter, "cluster_col", None)
    others = {fitter.duration_col, cluster, *strata, *named.values()}
    if getattr(fitter, "formula", None):
        from novikoff.prove.existence.formulas import design_of

        X, options["names"] = design_of(str(fitter.formula), table, others - {None}, has_intercept=False)
        options["row_labels"] = row_labels_of(table)
    else:
        X = table[[name for name in table.columns if name not in others]]
    return X, table[fitter.duration_col], options


def likelihood_of(model: Any, data: Any = None, **options: Any) -> Likelihood:
    """The likelihood that somebody means; see `existence` for the options."""
    if isinstance(model, str):
        from novikoff.prove.existence.formulas import from_formula

        return from_formula(model, data, **options)
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
