"""A finite estimate of the same design: Firth's, fitted by the package firthmodels.

Firth's penalty adds half the logarithm of the determinant of the information to the likelihood (Firth 1993; Heinze and
Schemper 2002 for logistic regression, 2001 for Cox models). It does not depend on the units of the columns, which are
scaled here by powers of two, so that the solver's steps have a suitable length. This is not a proof.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.prove.existence.likelihood import Floats, Likelihood
from novikoff.say import estimates as say

# A larger dense design is refused: this many numbers take 800 MB.
MOST_NUMBERS = 10**8
# Below about 1e-6 firthmodels does not always detect that a step improved the likelihood, and does not stop.
MOST_STEPS, TOLERANCE = 200, 1e-5
# Numbers of a design. firthmodels compiles its loops on first use, which takes longer than to fit fewer numbers.
WORTH_COMPILING = 200_000


@dataclass(frozen=True, eq=False)
class FiniteEstimate:
    """Coefficients with the ends of their profile-likelihood intervals; an end that was not found is NaN."""

    coefficients: tuple[str, ...]
    estimate: Floats
    lower: Floats
    upper: Floats
    level: float
    method: str
    converged: bool

    def __str__(self) -> str:
        return say.finite(self)


def firth(likelihood: Likelihood, level: float = 0.95) -> FiniteEstimate:
    """Return Firth's estimate; raise ValueError, naming alternatives, for unsupported families and options."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie between 0 and 1, such as 0.95")
    family, used = likelihood.family, likelihood.used
    if family not in ("binomial", "cox"):
        raise ValueError(f"there is no Firth's estimate for {say.MODELS[family]} here; {say.ELSEWHERE[family]}")
    offset = np.zeros(likelihood.n_rows) if likelihood.offset is None else likelihood.offset
    if family == "cox":
        _check_cox(likelihood, offset)
    if len(used) * len(likelihood.columns) > MOST_NUMBERS:
        raise ValueError(
            f"Firth's estimate needs a dense design, and {len(used):,} rows of {len(likelihood.columns):,} columns are "
            "too large; leave out the fixed effects, or merge their levels"
        )
    X = likelihood.X[used].toarray()
    units = np.exp2(np.frexp(np.abs(X).max(axis=0, initial=0.0))[1] - 1.0)
    try:
        import firthmodels
    except ImportError:
        message = "Firth's estimate requires firthmodels; install it with: pip install 'novikoff[firth]'"
        raise ImportError(message) from None
    how: Any = {"max_iter": MOST_STEPS, "gtol": TOLERANCE, "xtol": TOLERANCE}
    how |= {"backend": "auto" if X.size > WORTH_COMPILING else "numpy"}  # NumPy fits small designs in seconds
    try:
        if family == "cox":
            event, time = (likelihood.numbers[name][used] for name in ("event", "time"))
            outcome = event > 0, time - min(time.min(), 0.0)  # only their order counts; they must not be negative
            fitted = firthmodels.FirthCoxPH(**how).fit(X / units, outcome)
        else:
            rows, outcome, weights, offsets = _trials(likelihood, X / units, offset[used])
            model = firthmodels.FirthLogisticRegression(fit_intercept=False, **how)
            fitted = model.fit(rows, outcome, sample_weight=weights, offset=offsets)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"Firth's estimate cannot be computed: {error} Drop collinear columns first") from None
    ends = np.asarray(fitted.conf_int(alpha=1 - level, method="pl", max_iter=MOST_STEPS)) / units[:, None]
    estimate, converged = np.asarray(fitted.coef_) / units, bool(fitted.converged_)
    return FiniteEstimate(likelihood.columns, estimate, ends[:, 0], ends[:, 1], level, say.FIRTH[family], converged)


def _trials(likelihood: Likelihood, X: Floats, offset: Floats) -> tuple[Floats, Any, Floats, Floats]:
    """Return every row once with its successes and once with its failures, each as often as its weight."""
    counts = np.append(*(likelihood.numbers[name][likelihood.used] for name in ("successes", "failures")))
    weights = counts * np.tile(likelihood.numbers["weight"][likelihood.used], 2)
    outcome, some = np.repeat([1, 0], len(X)), weights > 0
    if len(set(outcome[some].tolist())) < 2:
        raise ValueError("all outcomes are alike, and there is nothing to estimate")
    return np.tile(X, (2, 1))[some], outcome[some], weights[some], np.tile(offset, 2)[some]


def _check_cox(likelihood: Likelihood, offset: Floats) -> None:
    weights = likelihood.numbers["weight"][likelihood.used]
    unknown = [name for name in ("entry", "stratum") if name in likelihood.numbers]
    unknown += [name for name, is_given in (("weights", (weights != 1).any()), ("offset", offset.any())) if is_given]
    if unknown:
        names = ", ".join(unknown).replace("stratum", "strata")
        raise ValueError(f"firthmodels' Cox regression has no {names}; {say.ELSEWHERE['cox']}")
