"""The parts of a report that prove: the run's own proof with its curves, the certificate, and how to check it again."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from novikoff.engine.rounding import at_least, at_most, decimal_digits
from novikoff.learn.run import Run
from novikoff.prove.run.follow import FollowedProof
from novikoff.prove.separable.certificate import Certificate, Obstruction, Support
from novikoff.say import runs as say
from novikoff.say.words import counted, radius_in_words, whole_at_most
from novikoff.show.report.charts import Curve, line_chart
from novikoff.show.report.evidence import Evidence
from novikoff.show.report.markup import (
    Markup,
    cut,
    element,
    facts,
    figure,
    joined,
    left_out,
    name,
    section,
    table,
)
from novikoff.show.style import ALPHA, GAMMA, MINUS, typeset

MOST_ROWS = 24
MOST_DIGITS = 24
INEQUALITY = f"k·{GAMMA} ≤ ⟨w,u⟩ ≤ ‖w‖ ≤ √k·R"


# -- the proof along the run ------------------------------------------------------------------------------------------


def proof_section(run: Run, certificate: Certificate | None, evidence: Evidence) -> Markup:
    """What the mistakes prove: that there can be no more than so many, or that no wide margin is there."""
    if evidence.proof is not None:
        return _followed(evidence.proof, certificate)
    many = certificate is not None and certificate.problem.has_rivals
    if (
        certificate is not None
        and not run.weighted
        and (sentence := certificate.against_bound(run.mistakes, run.narrow, run.lead)) is not None
    ):
        return section("The proof", f"{typeset(sentence)}.", _last_line(run, certificate))
    if not run.updates:
        return section("The proof", "Without a mistake there is nothing to prove.")
    return section(
        "The proof",
        f"{say.made_rule_out(run)}.",
        None if evidence.lengths is None else _ruled_out(evidence.lengths, at_most(run.margin_at_most)),
        None if evidence.allowance is None else element("p", f"Freund and Schapire (1999): {evidence.allowance}"),
        element("p", "Here w is the sum of Kesler's vectors, one for each mistake.", class_="note") if many else None,
    )


def _ceiling(factor: float) -> str:
    """The longest that the weights can be after k updates, each of which adds at most so many R^2 to ‖w‖²."""
    return "√k·R" if factor == 1 else f"√({factor:g}k)·R"


def _last_line(run: Run, certificate: Certificate) -> Markup:
    """The inequality at the end of the run, from what the record keeps."""
    k, factor = run.updates, certificate.factor * (1.0 + 2.0 * run.lead)
    ceiling = math.sqrt(factor * k) * run.radius
    values = [
        (f"k·{GAMMA}, at least", at_least(k * certificate.margin.lower)),
        ("‖w‖", f"{run.weights_length:.6g}"),
        (f"{_ceiling(factor)}, at most", at_most(ceiling)),
    ]
    words = f"After the last update, k = {k:,}: the length of the weights lies between its floor and its ceiling."
    return joined([element("p", words), facts(values)])


def _followed(proof: FollowedProof, certificate: Certificate | None) -> Markup:
    """The four quantities of the proof after every mistake, and a few of them as numbers."""
    many = certificate is not None and certificate.problem.has_rivals
    known = None if certificate is None or proof.lead else certificate.bound_in_words
    bound = whole_at_most(proof.bound) if known is None else typeset(known)
    R, S, made = _symbols(proof)
    verdict = "every inequality held" if proof.holds else "not every inequality held"
    sentence = f"{INEQUALITY.replace('R', R)} after every one of {counted(proof.mistakes, made)}: {verdict}."
    k, beyond = proof.made, _beyond(proof)
    curves = [
        Curve(f"√k·{R}, the ceiling of the length", beyond, np.sqrt(beyond * proof.step_square), "grey dashed"),
        Curve("‖w‖, the length of the weights", k, proof.length, "red"),
        Curve("⟨w,u⟩, the progress along the separator", k, proof.progress, "blue"),
        Curve(f"k·{GAMMA}, the floor of the progress", beyond, beyond * proof.margin, "grey dotted"),
    ]
    meeting = _meeting(math.sqrt(proof.step_square), proof.margin)
    chart = line_chart(curves, x_name=f"{made}s k", y_name="length", says=sentence, mark=meeting)
    caption = (
        f"The floor rises faster than the ceiling, and where they meet there is no room for weights: the theorem "
        f"allows {bound} {made}s; {proof.mistakes:,} were made."
    )
    kesler = "w is the sum of Kesler's vectors, one for each mistake, and R the length of the longest of these."
    head = ("k", f"k·{GAMMA}", "⟨w,u⟩", "‖w‖", f"√k·{R}", "cosine", f"{ALPHA}ₖ", f"{ALPHA}₀ {MINUS} k·{S}")
    parts = [proof.progress_floor, proof.progress, proof.length, proof.length_ceiling, proof.cosine]
    parts += [proof.distance, proof.distance_ceiling]
    lines = [(f"{i:,}", *(f"{part[i]:.6g}" for part in parts)) for i in proof.worth_showing(8)]
    return section(
        "The proof",
        sentence,
        figure(chart, caption),
        _distance(proof, beyond),
        element("p", kesler, class_="note") if many else None,
        table(head, lines, left=0),
    )


def _distance(proof: FollowedProof, beyond: Any) -> Markup | None:
    """Another proof of the bound: the distance falls with every mistake, and it cannot fall below 0."""
    first, (_, S, made) = proof.distance[0], _symbols(proof)
    fourth = "S²" if proof.asks_for_more else "R⁴"
    if not math.isfinite(first):
        return None
    meeting = _meeting(math.sqrt(proof.step_square), proof.margin)
    ceiling = first * np.maximum(1.0 - beyond / meeting, 0.0)
    curves = [
        Curve(f"{fourth}/{GAMMA}² {MINUS} k·{S}, its ceiling", beyond, ceiling, "grey dashed"),
        Curve(f"{ALPHA}ₖ, the distance", proof.made, proof.distance, "blue"),
    ]
    says = f"The distance {ALPHA}ₖ = ‖w {MINUS} ({S}/{GAMMA})·u‖² falls by at least {S} with every {made}."
    chart = line_chart(curves, x_name=f"{made}s k", y_name="distance", says=says, mark=meeting)
    caption = f"{says} It starts at {fourth}/{GAMMA}² and cannot fall below 0: the same bound, proved another way."
    return figure(chart, caption)


def _beyond(proof: FollowedProof) -> Any:
    """Where to draw floor and ceiling: to their meeting if that is in sight, else some way beyond the run."""
    meeting = _meeting(math.sqrt(proof.step_square), proof.margin)
    end = meeting * 1.05 if meeting <= 4 * max(proof.mistakes, 1) else 1.3 * max(proof.mistakes, 1)
    return np.union1d(np.linspace(0.0, max(end, proof.mistakes), 120), np.linspace(0.0, 1.0, 12))


def _meeting(R: float, gamma: float) -> float:
    """(R/gamma)^2, where floor and ceiling meet; infinite beyond the floats."""
    ratio = R / gamma
    return ratio * ratio


def _symbols(proof: FollowedProof) -> tuple[str, str, str]:
    """What stands for R, and for R^2, where a learner asks for more than a positive score; and what k counts."""
    R, S = ("√S", "S") if proof.asks_for_more else ("R", "R²")
    return R, S, "update" if proof.lead else "mistake"


def _ruled_out(lengths: Any, ceiling: str) -> Markup:
    k = np.arange(1.0, len(lengths))
    curve = Curve("‖w‖/k: no separator has a wider margin", k, lengths[1:] / k, "blue")
    says = f"The margins that are not ruled out, down to {ceiling}"
    chart = line_chart([curve], x_name="mistakes k", y_name="margin", says=says, log=True)
    caption = (
        "After k mistakes no separator has a margin above ‖w‖/k. Each mistake adds an example to w; when w grows more "
        "slowly than k, only ever thinner margins are left."
    )
    return figure(chart, caption)


def theorem_section(certificate: Certificate) -> Markup | None:
    """Floor and ceiling of the proof, up to where they meet: for data that nobody has learned from yet."""
    if certificate.mistake_bound is None or not certificate.margin.lower:
        return None
    gamma, R = certificate.margin.lower, certificate.radius * math.sqrt(certificate.factor)
    meeting = _meeting(R, gamma)
    if not math.isfinite(meeting):
        return None
    k = np.linspace(0.0, 1.08 * meeting, 200)
    curves = [
        Curve(f"{_ceiling(certificate.factor)}, the ceiling of the length ‖w‖", k, np.sqrt(k) * R, "red dashed"),
        Curve(f"k·{GAMMA}, the floor of the progress ⟨w,u⟩", k, k * gamma, "blue"),
    ]
    sentence = f"Whatever the order of the examples, {typeset(certificate.promise or '')}."
    chart = line_chart(curves, x_name="mistakes k", y_name="length", says=sentence, mark=meeting)
    caption = (
        f"Every mistake adds at least {GAMMA} along the separator, but makes the weights longer only like √k. Progress "
        "is never more than length, so the run is over where the lines meet."
    )
    return section("The theorem", sentence, figure(chart, caption))


# -- the certificate --------------------------------------------------------------------------------------------------


def certificate_section(certificate: Certificate, labels: Mapping[int, Any]) -> Markup:
    """The certificate in words and in numbers."""
    return section(
        "The certificate",
        cut(str(certificate), 2000),
        facts(
            [
                ("verdict", certificate.verdict_in_words),
                ("margin", typeset(certificate.margin_in_words) if certificate.margin_in_words else None),
                (
                    "distance in the picture",
                    f"at least {at_least(certificate.geometric_margin)}" if certificate.geometric_margin else None,
                ),
                ("longest example", typeset(radius_in_words(certificate.radius))),
                ("mistakes at most", typeset(certificate.bound_in_words) if certificate.bound_in_words else None),
                ("bias", "folded in" if certificate.fit_intercept else "none"),
                ("fingerprint", element("code", certificate.data_hash)),
            ]
        ),
        _proof_rows(certificate, labels),
        _diverging(certificate),
    )


def _proof_rows(certificate: Certificate, labels: Mapping[int, Any]) -> Markup | None:
    """The rows that stand in the way of a separator, or those that fix the margin."""
    as_points = f"these rows (the first is 0) {certificate.problem.as_points}"
    found: Obstruction | Support | None = certificate.obstruction or certificate.support
    if found is None:
        return None
    if certificate.obstruction is not None:
        title, weights = "Why nothing separates", [_whole(weight) for weight in certificate.obstruction.weights]
        words = (
            f"T{as_points[1:]}, with the bias folded in if there is one, and with these whole weights, cancel exactly. "
            f"{certificate.problem.contradiction}"
        )
    else:
        title, weights = "The rows that fix the margin", [f"{weight:.6g}" for weight in found.weights]
        words = f"No separator has a wider margin than the combination of {as_points}, with these weights, has length."
    shown = _rows_table(found.rows, weights, found.rivals, labels)
    return joined([element("h3", title), element("p", words), shown, left_out(MOST_ROWS, len(found.rows), "rows")])


def _whole(weight: int) -> str:
    digits = decimal_digits(weight)
    return f"{weight:,}" if digits <= MOST_DIGITS else f"a number of {digits:,} digits"


def _rows_table(
    rows: Sequence[int], weights: Sequence[str], rivals: Sequence[Any] | None, labels: Mapping[int, Any]
) -> Markup:
    """Rows with their class and weight; with many classes, against which other."""
    lines = []
    for place, (row, weight) in enumerate(zip(rows[:MOST_ROWS], weights[:MOST_ROWS], strict=True)):
        against = [] if rivals is None else [name(rivals[place])]
        lines.append([f"{row:,}", name(labels[row]) if row in labels else "", *against, weight])
    header = ["row", "class", *([] if rivals is None else ["against"]), "weight"]
    return table(header, lines, left=len(header) - 1)


def _diverging(certificate: Certificate) -> Markup | None:
    found = list((certificate.diverging or {}).items())
    if not found:
        return None
    lines = [(name(column), sign) for column, sign in found[:MOST_ROWS]]
    return joined(
        [
            element("h3", "Estimates of the regression that are not finite"),
            table(("coefficient", "estimate"), lines, left=2),
            left_out(MOST_ROWS, len(found), "coefficients"),
        ]
    )
