"""Whether estimates are finite, worded for statisticians: what is infinite, what is finite, which rows, what to do.

Each function takes an answer, `novikoff.prove.existence.certificate.Existence`.
"""

import textwrap
from collections import Counter
from typing import Any, Final

from novikoff.say.words import counted, listed

# The status of a coefficient, in claims and in tables.
FINITE: Final = "finite"
UNIDENTIFIED: Final = "not identified"
UNDETERMINED: Final = "sign undetermined"
INFINITE: Final = "infinite"
UP: Final = "+inf"
DOWN: Final = "-inf"

MODELS = {
    "binomial": "binomial regression",
    "log-binomial": "binomial regression with the log link",
    "poisson": "Poisson regression",
    "negative-binomial": "negative binomial regression",
    "multinomial": "multinomial regression",
    "ordinal": "ordinal regression",
    "cox": "Cox regression",
    "conditional": "conditional logistic regression",
}

# The families in which a level counts as success.
TWO_OUTCOMES = ("binomial", "log-binomial", "conditional")

# The heading of each kind of coefficient, in this order.
HEADINGS = {
    UP: "to +infinity",
    DOWN: "to -infinity",
    UNDETERMINED: UNDETERMINED,
    INFINITE: "to infinity",
    UNIDENTIFIED: UNIDENTIFIED,
    FINITE: FINITE,
}

# The options of a formula that change the answer.
OPTIONS = ("weights", "offset", "strata")

# The most names and rows listed, and the width of lines.
MOST_NAMES, MOST_ROWS, WIDTH = 8, 12, 100

_FIRTH = (
    "report Firth's estimate, which is finite, with profile-likelihood intervals: found.finite(), or --finite (package "
    "firthmodels, pip install 'novikoff[firth]')"
)
_DROP = (
    "drop the separated rows, as Stata's ppmlhdfe does, and then the columns that are constant or collinear: what was "
    "finite stays as it is, and can be estimated from the rest"
)
# Finite estimates in other packages.
ELSEWHERE = {
    "log-binomial": "R's brglm2 has a penalised estimate (brglmFit, log link)",
    "poisson": f"{_DROP}; or use R's brglm2 (brglmFit)",
    "negative-binomial": f"{_DROP}; or use R's brglm2 (brnb)",
    "multinomial": "R's brglm2 has a penalised estimate (brmultinom)",
    "ordinal": "R's brglm2 has a penalised estimate for adjacent categories (bracl)",
    "cox": "R's coxphf has them",
    "conditional": "R's coxphf has a penalised estimate: a Cox model with strata and one time for all",
}
ADVICE = {family: f"merge rare levels; or {where}" for family, where in ELSEWHERE.items()} | {
    "binomial": f"merge rare levels; drop a column that determines the outcome; or {_FIRTH}",
    "cox": f"merge rare levels; or {_FIRTH}",
}
BEYOND_FIRTHMODELS = "merge rare levels; or report Firth's estimate by R's coxphf, which has entry times and strata"
FIRTH = {
    "binomial": "Firth's logistic regression (firthmodels)",
    "cox": "Firth's Cox regression (firthmodels, Breslow's ties)",
}


def in_words(found: Any) -> str:
    """Return the whole answer, line by line."""
    facts = [
        ("response", response(found)),
        ("omitted", omitted(found)),
        *fates(found),
        ("separated", separated(found)),
        ("what to do", what_to_do(found)),
    ]
    lines = [f"{verdict(found)[0].upper()}{verdict(found)[1:]}."]
    for name, value in facts:
        if value is not None:
            lines += textwrap.wrap(value, WIDTH, initial_indent=f"  {name:<19}", subsequent_indent=" " * 21)
    return "\n".join(lines)


def response(found: Any) -> str | None:
    """State which level of the response counts as success, or the order of its classes; None if it has neither."""
    (left, columns), classes = found.response, found.about.classes
    if found.family in TWO_OUTCOMES and len(columns) == 2:
        return f"{columns[0]} counts successes, {columns[1]} failures"
    if found.family in TWO_OUTCOMES:
        return f"{left}: success is {1 if classes is None else classes[1]}"
    if classes is None:
        return None
    order = f"the reference is {classes[0]}" if found.family == "multinomial" else "in this order"
    return f"{left}: {listed(classes, MOST_NAMES)}; {order}"


def omitted(found: Any) -> str | None:
    """State how many rows are not in the design, and which."""
    if not found.omitted:
        return None
    total, why = counted(found.n_rows + len(found.omitted), "row"), "with missing values, or dropped by the model"
    return f"{len(found.omitted):,} of {total} {why} {_rows(found.omitted, found.omitted)}"


def _rows(rows: Any, positions: Any) -> str:
    how = "the first is 0" if rows == positions else "by their index"
    return f"({how}): {listed(rows[:MOST_ROWS], MOST_ROWS)}{', ...' if len(rows) > MOST_ROWS else ''}"


def finite(fitted: Any) -> str:
    """Return Firth's estimates with their intervals, as a table."""
    columns = [[name, *(f"{v:.4g}" for v in getattr(fitted, name))] for name in ("estimate", "lower", "upper")]
    names, widths = ["", *fitted.coefficients], [max(map(len, column)) for column in columns]
    lines = [
        f"  {name:<{max(map(len, names))}}" + "".join(f"  {v:>{w}}" for v, w in zip(row, widths, strict=True))
        for name, row in zip(names, zip(*columns, strict=True), strict=True)
    ]
    return "\n".join([_method(fitted), *lines])


def finite_in_brief(fitted: Any) -> str:
    """Return Firth's estimates with their intervals, in one line."""
    ends = zip(fitted.coefficients, fitted.estimate, fitted.lower, fitted.upper, strict=True)
    parts = [f"{name} {value:.4g} ({low:.4g} to {high:.4g})" for name, value, low, high in ends]
    return f"{_method(fitted)}: {', '.join(parts)}"


def _method(fitted: Any) -> str:
    doubt = "" if fitted.converged else "; the fit did not converge: do not report it"
    return f"{fitted.method}, with {100 * fitted.level:.4g} % profile-likelihood intervals{doubt}"


def question(found: Any) -> list[tuple[str, str | None]]:
    """Return the inputs besides the family that determine the answer, as headings and texts, None if not given."""
    formula = found.about.formula
    options = {} if formula is None else formula.options
    return [
        ("response", response(found)),
        *((name, options.get(name)) for name in OPTIONS),
        ("ties", found.about.ties),
        ("intercept", "none" if options.get("fit_intercept") is False else None),
    ]


def in_brief(found: Any) -> str:
    """State which estimates are infinite, as a clause."""
    model = MODELS[found.family]
    if found.estimate.name == "UNDECIDED":
        return f"whether this {model} has infinite estimates is undecided"
    if found.diverging is None:
        return f"this {model} has infinite estimates; which ones was not determined in time"
    infinite = [f"{name} ({sign})" for name, sign in found.diverging.items() if sign not in (INFINITE, UNIDENTIFIED)]
    infinite += [name for name, sign in found.diverging.items() if sign == INFINITE]
    unknown = [name for name, sign in found.diverging.items() if sign == UNIDENTIFIED]
    parts = [f"infinite estimates of this {model}: {listed(infinite, MOST_NAMES) if infinite else 'none'}"]
    return "; ".join([*parts, *([f"not identified: {listed(unknown, MOST_NAMES)}"] if unknown else [])])


def verdict(found: Any) -> str:
    """State whether the estimate exists, in one sentence."""
    model = MODELS[found.family]
    if found.estimate.name == "UNDECIDED":
        return f"not decided: whether this {model} has a maximum likelihood estimate"
    if found.estimate.name == "NO_START":
        return f"proved: this {model} has no likelihood; no coefficients give probabilities of at most 1"
    if found.estimate.name == "EXISTS":
        is_unique = UNIDENTIFIED not in (found.diverging or {}).values()
        how = "and it is finite" if is_unique else "but it is not unique"
        return f"proved: this {model} has a maximum likelihood estimate, {how}"
    return f"proved: this {model} has no maximum likelihood estimate; {_how_many(found)}"


def _how_many(found: Any) -> str:
    if found.diverging is None:
        return "some coefficients are infinite"
    kinds = Counter(found.diverging.values())
    infinite, total = kinds.total() - kinds[UNIDENTIFIED], counted(len(found.coefficients), "coefficient")
    if not infinite:
        return "some of those that are not identified are infinite"
    return f"{infinite:,} of {total} {'is' if infinite == 1 else 'are'} infinite"


def fates(found: Any) -> list[tuple[str, str]]:
    """Return the names of coefficients by heading; for a fixed effect, the number of its levels."""
    if not found.diverging:
        return []
    effect_of = {place: name for name, start, stop in found.about.effects for place in range(start, stop)}
    sizes = {name: stop - start for name, start, stop in found.about.effects}
    groups: dict[str, dict[str | None, list[str]]] = {heading: {} for heading in HEADINGS}
    for place, name in enumerate(found.coefficients):
        effect = effect_of.get(place % max(len(found.about.columns), 1))
        groups[found.diverging.get(name, FINITE)].setdefault(effect, []).append(name)
    lines = []
    for sign, heading in HEADINGS.items():
        parts = []
        for effect, names in groups[sign].items():
            if effect is None or (sign != FINITE and len(names) <= MOST_NAMES):
                parts.append(listed(names, MOST_NAMES))
            else:
                share = (
                    f"all {sizes[effect]:,}" if len(names) == sizes[effect] else f"{len(names):,} of {sizes[effect]:,}"
                )
                parts.append(f"{share} levels of {effect}")
        if parts:
            lines.append((heading, "; ".join(parts)))
    return lines


def separated(found: Any) -> str | None:
    """State which rows are separated."""
    rows = found.separated_rows
    if not rows:
        return None
    return f"{len(rows):,} of {counted(found.n_rows, 'row')} {_rows(rows, found.separated_positions)}"


def what_to_do(found: Any) -> str | None:
    """State the remedies."""
    if found.estimate.name == "UNDECIDED":
        return "raise the time limit"
    if found.estimate.name == "NO_START":
        return "add an intercept, or check the offsets; the logit link has no such limit"
    beyond = found.family == "cox" and {"entry", "stratum"} & {*found.about.numbers}
    advice = [] if found.estimate.name == "EXISTS" else [BEYOND_FIRTHMODELS if beyond else ADVICE[found.family]]
    if INFINITE in (found.diverging or {}).values():
        advice.append("request the signs (signs=True, --diverging)")
    if UNIDENTIFIED in (found.diverging or {}).values():
        advice.append("drop collinear columns until every coefficient is identified")
    return "; ".join(advice) or None
