"""The certificate of a state, and what of it can be drawn: the widest boundary with its band, or why there is none."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from novikoff.lab.shapes import Shape, grid_shape, hull, plane_shape
from novikoff.lab.state import Floats, State
from novikoff.lab.walk import gram_of, kernel_of, kernel_options
from novikoff.learn.kernel.kernels import Vectors
from novikoff.prove.expressivity.search.separating_ball import separating_ball
from novikoff.prove.run.search.freund_schapire import freund_schapire_bound
from novikoff.prove.separable.certificate import Certificate, as_unit
from novikoff.prove.separable.margin import Separator
from novikoff.prove.separable.question import Verdict
from novikoff.prove.separable.search.certify import certify
from novikoff.say.words import radius_in_words
from novikoff.show.style import typeset

# Seconds after which a question is given up as undecided.
TIME_LIMIT = 5.0


@lru_cache(maxsize=32)
def certificate_of(state: State) -> Certificate | None:
    """Return the library's certificate; None until there are two classes."""
    if not state.has_two_classes:
        return None
    if state.is_kernel:
        return certify(state.rows, state.labels, fit_intercept=False, time_limit=TIME_LIMIT, **kernel_options(state))
    return certify(state.rows, state.labels, fit_intercept=state.adds_one, time_limit=TIME_LIMIT)


def evidence_as_json(state: State) -> dict[str, Any] | None:
    """Return what the certificate states, in numbers, in words, and in shapes."""
    certificate = certificate_of(state)
    if certificate is None:
        return None
    fields: dict[str, Any] = {
        "verdict": certificate.verdict.value,
        # In the space of a kernel numbers are enclosed in balls, which is a proof, too.
        "title": certificate.verdict_in_words.capitalize().replace("(balls)", "(proved)"),
        "meaning": certificate.meaning_of(separator_of(state)).capitalize(),
        "facts": facts(state, certificate),
        # What an update adds to ||w||^2 at most: with a lead, more than R^2.
        "radius": certificate.radius * math.sqrt(1.0 + 2.0 * state.lead),
        "margin": certificate.margin.lower,
        "bound": certificate.update_bound(state.lead),
        "support": [] if certificate.support is None else list(certificate.support.rows),
    }
    if has_margin(certificate):
        return {**fields, "widest": widest(state, certificate)}
    if certificate.verdict is Verdict.SEPARABLE:
        return fields
    return {**fields, "obstruction": obstruction(state, certificate)}


def separator_of(state: State) -> str:
    """Return what a hyperplane is called where it is drawn."""
    if state.space == "line":
        return "line" if state.fit_intercept else "line through 0"
    return "circle" if state.space == "circle" else "hyperplane in feature space"


def facts(state: State, certificate: Certificate) -> list[dict[str, Any]]:
    """Return what else is known, each by its name, in a number and in words."""
    found: list[tuple[str, float | None, str | None]] = [
        ("margin", certificate.margin.lower, certificate.margin_in_words),
        ("radius", certificate.radius, radius_in_words(certificate.radius) if certificate.promise else None),
        ("bound", certificate.update_bound(state.lead), certificate.promise_with(state.lead)),
    ]
    if certificate.verdict is not Verdict.SEPARABLE and not state.is_kernel and not state.lead:
        bound = freund_schapire_bound(state.rows, state.labels, fit_intercept=state.adds_one)
        found.append(("first_pass", bound.bound, f"Freund and Schapire (1999): {bound.promise}"))
    return [{"name": name, "value": value, "words": typeset(words)} for name, value, words in found if words]


def has_margin(certificate: Certificate | None) -> bool:
    """Whether a separator is known, not only that one exists."""
    return certificate is not None and certificate.mistake_bound is not None


def widest(state: State, certificate: Certificate) -> dict[str, Any]:
    """Return the hyperplane of the certificate, and the same moved by the margin to either side."""
    margin = certificate.margin.lower
    if isinstance(certificate.separator, Separator):
        u = state.as_plane(certificate.separator.folded)
        # If the 1 of the intercept is scaled, too, a margin is not a distance in the plane.
        sides = () if state.fit_intercept and state.is_scaled else (margin, -margin)
        shapes = [plane_shape([*u[:-1], u[-1] + moved], state.view) for moved in (0.0, *sides)]
    else:
        u, points = unit_coefficients(state, certificate), Vectors.of(state.rows)
        kernel = kernel_of(state)

        def moved_by(distance: float) -> Shape:
            return grid_shape(lambda plane: u @ kernel.between(points, Vectors.of(plane)) + distance, state.view)

        shapes = [moved_by(distance) for distance in (0.0, margin, -margin)]
    boundary, *band = (shape.as_json() for shape in shapes)
    return {"boundary": boundary, "band": band}


def unit_coefficients(state: State, certificate: Certificate) -> Floats:
    """Return the coefficients of the points in the unit vector of the certificate, in the space of a kernel."""
    signed = as_unit(certificate.coefficients or ()) * state.labels
    return np.asarray(signed / np.sqrt(signed @ gram_of(state) @ signed), dtype=np.float64)


def obstruction(state: State, certificate: Certificate) -> dict[str, Any] | None:
    """Return the rows whose examples cancel, their integer weights, and the hulls that intersect.

    With an intercept the weights of either class have the same sum, so the two weighted means are one point in both
    hulls. Without one, the hull of all y x contains the origin. Of lifted points, none of this is in the plane.
    """
    if certificate.obstruction is None:
        return None
    rows, weights = certificate.obstruction.rows, certificate.obstruction.weights
    fields: dict[str, Any] = {
        "rows": list(rows),
        "weights": [str(weight) for weight in weights],
        "words": certificate.obstruction_in_words,
    }
    if state.space != "line" or (state.is_scaled and state.fit_intercept):
        return {**fields, "hulls": [], "folded": [], "meeting": None}
    points, labels = state.rows[list(rows)], state.labels[list(rows)]
    if not state.fit_intercept:
        folded = (points * labels[:, None]).tolist()
        return {**fields, "hulls": [hull(map(tuple, folded))], "folded": folded, "meeting": [0.0, 0.0]}
    hulls = [hull(map(tuple, points[labels == label].tolist())) for label in (1, -1)]
    positive = [(weight, x) for weight, x, label in zip(weights, points, labels, strict=True) if label > 0]
    total = sum(weight for weight, _ in positive)
    meeting = sum((float(weight / total) * x for weight, x in positive), np.zeros(2))
    return {**fields, "hulls": hulls, "folded": [], "meeting": meeting.tolist()}


def balls_as_json(state: State) -> list[dict[str, Any]]:
    """For a circle, return whether one holds the red points and excludes the blue ones, and vice versa."""
    if state.space != "circle" or not state.has_two_classes:
        return []
    names = np.where(state.labels > 0, "red", "blue")
    try:
        found = [
            separating_ball(state.plane, names, inside=inside, time_limit=TIME_LIMIT) for inside in ("red", "blue")
        ]
    except TimeoutError:
        return []
    return [{"inside": ball.inside, "exists": bool(ball)} for ball in found]
