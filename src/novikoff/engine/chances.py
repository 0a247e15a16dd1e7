"""Upper bounds on a probability, from counts; they fail with probability `doubt` at most.

Nothing here knows what was counted: the caller of a bound states which rows were independent of what. Derivations are
in docs/how-to/new_rows.md.
"""

import math
from collections.abc import Callable

# A bound is raised by far more than rounding can change it.
ROUNDING = 1e-9


def clopper_pearson(errors: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval (1934) for the error probability, after `errors` in n independent trials.

    Each end is missed with probability (1 - confidence)/2 at most, for any error probability.

    >>> lower, upper = clopper_pearson(0, 100)
    >>> lower, round(upper, 4)
    (0.0, 0.0362)
    """
    check_confidence(confidence)
    if not 0 <= errors <= n or n < 1:
        raise ValueError(f"there cannot be {errors} errors in {n} trials")
    from scipy.special import betaincinv

    doubt = (1.0 - confidence) / 2.0
    lower = 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, doubt))
    return lower * (1.0 - ROUNDING), binomial_chance_at_most(errors, n, doubt)


def binomial_chance_at_most(errors: int, n: int, doubt: float) -> float:
    """Return only the upper end, after `errors` in n independent trials; 1 if n is 0.

    >>> round(binomial_chance_at_most(0, 149, 0.05), 4), binomial_chance_at_most(0, 0, 0.05)
    (0.0199, 1.0)
    """
    if errors >= n:
        return 1.0
    from scipy.special import betaincinv

    return raised(float(betaincinv(errors + 1, n - errors, 1.0 - doubt)))


def trials_needed(chance: float, doubt: float) -> int:
    """Return the fewest trials without an error that prove this bound: ln(doubt)/ln(1 - chance), rounded up.

    >>> trials_needed(0.02, 0.05), trials_needed(0.01, 0.05)
    (149, 299)
    """
    n = math.ceil(math.log(doubt) / math.log1p(-chance))
    return n if binomial_chance_at_most(0, n, doubt) <= chance else n + 1


def mean_chance_at_most(errors: float, n: float, doubt: float) -> float:
    """Bound the mean of n probabilities, each fixed before its trial, perhaps by earlier trials; `errors` occurred.

    For 0 < c <= 1 the product of (1 - c)^[error]/(1 - c p) over the trials has the mean 1, and so has any mixture over
    c. As log(1 - c p) is concave in p, it is at least (1 - c)^errors/(1 - c mean)^n, which by Markov's inequality is
    1/doubt or more with probability `doubt` at most. A binomial tail is not valid: p may depend on earlier trials.

    >>> round(mean_chance_at_most(0, 100, 0.05), 4), round(mean_chance_at_most(30, 1000, 0.05), 4)
    (0.0412, 0.0488)
    """
    if n <= 0:
        return 1.0
    slowest = min(1.0, math.sqrt(2.0 * math.log(1.0 / doubt) / n))
    bets = [0.5**power for power in range(1 + math.ceil(-math.log2(slowest)))]

    def gain(mean: float) -> float:
        """Return the logarithm of the mixture."""
        logs = [_log_won(bet, errors, n, mean) for bet in bets]
        largest = max(logs)
        if not math.isfinite(largest):
            return largest
        return largest + math.log(sum(math.exp(log - largest) for log in logs) / len(bets))

    return _first_at_least(gain, math.log(1.0 / doubt), errors / n)


def _log_won(bet: float, errors: float, n: float, mean: float) -> float:
    if bet == 1.0:
        return -math.inf if errors else (math.inf if mean >= 1.0 else -n * math.log1p(-mean))
    return errors * math.log1p(-bet) - n * math.log1p(-bet * mean)


def compressed_chance_at_most(n: int, kept: int, errors: int, doubt: float) -> float:
    """Bound the error probability of a rule that `kept` of n independent rows determine, with `errors` on the others.

    For fixed places of the kept rows the others are fresh trials of the rule. There are C(n, k) choices of places, and
    k gets the fraction 1/((k + 1)(k + 2)) of the doubt; these add up to 1. The binomial tail is bounded by Chernoff's
    exp(-N kl(errors/N, chance)) with N = n - k, which is exact without errors. See Littlestone and Warmuth (1986),
    Floyd and Warmuth (1995).

    >>> round(compressed_chance_at_most(1000, 10, 0, 0.05), 4), compressed_chance_at_most(10, 10, 0, 0.05)
    (0.0605, 1.0)
    """
    fresh = n - kept
    if errors >= fresh:
        return 1.0
    choices = math.lgamma(n + 1) - math.lgamma(kept + 1) - math.lgamma(fresh + 1)
    needed = choices + math.log((kept + 1) * (kept + 2) / doubt)
    share = errors / fresh

    def evidence(chance: float) -> float:
        if chance >= 1.0:
            return math.inf
        of_errors = share * math.log(share / chance) if share else 0.0
        return fresh * (of_errors + (1.0 - share) * math.log((1.0 - share) / (1.0 - chance)))

    return _first_at_least(evidence, needed, share)


def _first_at_least(rising: Callable[[float], float], level: float, start: float) -> float:
    """Return the first number from `start` to 1 where an increasing function reaches a level, rounded up; 1 if none."""
    low, high = start, 1.0
    if not rising(high) >= level:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) >= level else (middle, high)
    return raised(high)


def raised(chance: float) -> float:
    """Return a probability, raised to cover rounding."""
    return min(1.0, chance * (1.0 + ROUNDING))


def check_confidence(confidence: float) -> None:
    """Raise an error unless the confidence is valid."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence!r} must be a number between 0 and 1, such as 0.95")
