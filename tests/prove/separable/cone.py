"""An oracle for cones: Fourier and Motzkin's elimination in fractions, for a handful of inequalities."""

from fractions import Fraction
from math import gcd, lcm

from novikoff.prove.separable.products import signs_of_products


def weakly_separates(points, vector):
    """Whether no point is on the wrong side, and not all are on the plane."""
    signs = signs_of_products(points, vector)
    return signs.min() >= 0 and signs.max() > 0


def can_be_positive(goal, points, zeros):
    """Whether some b has <goal, b> > 0, <z, b> >= 0 for all points and <e, b> = 0 for all rows that must vanish."""
    strict = {normalised(goal)}
    weak = {normalised(row) for row in points} | {normalised(row) for row in zeros}
    weak |= {normalised([-v for v in row]) for row in zeros}
    for column in range(len(goal)):
        strict, weak = without_column(strict, weak, column)
        if any(not any(row) for row in strict):
            return False
    return not strict


def without_column(strict, weak, column):
    """The inequalities that are left when a variable is eliminated."""
    rows = [(row, True) for row in strict] + [(row, False) for row in weak]
    kept = [(row, is_strict) for row, is_strict in rows if row[column] == 0]
    above = [(row, is_strict) for row, is_strict in rows if row[column] > 0]
    below = [(row, is_strict) for row, is_strict in rows if row[column] < 0]
    for up, up_strict in above:
        for down, down_strict in below:
            summed = [u * -down[column] + d * up[column] for u, d in zip(up, down, strict=True)]
            kept.append((normalised(summed), up_strict or down_strict))
    found_strict = {row for row, is_strict in kept if is_strict}
    return found_strict, {row for row, is_strict in kept if not is_strict and any(row)} - found_strict


def normalised(row):
    """Whole numbers without a common divisor, in the same proportions."""
    factor = lcm(*(Fraction(v).denominator for v in row))
    whole = [int(v * factor) for v in row]
    divisor = gcd(*whole) or 1
    return tuple(v // divisor for v in whole)
