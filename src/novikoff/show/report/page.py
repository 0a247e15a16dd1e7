"""Reports: one HTML file that says what was read, what was learned and what is proved, and how to check that again.

A report loads nothing and runs nothing: it opens from a disk, travels by mail, and prints.
"""

from collections.abc import Sequence

from novikoff.engine.rounding import at_least
from novikoff.features.encode import Encoding
from novikoff.learn.model import Classifier
from novikoff.prove.separable.certificate import Certificate
from novikoff.prove.separable.question import Verdict
from novikoff.say.words import whole_at_most
from novikoff.show.report.check import Names, check_section
from novikoff.show.report.evidence import Evidence
from novikoff.show.report.markup import Markup, cut, element, name
from novikoff.show.report.proof import certificate_section, proof_section, theorem_section
from novikoff.show.report.sections import (
    confusion_section,
    data_section,
    picture_section,
    run_section,
    weights_section,
)
from novikoff.show.report.style import POLICY, STYLE
from novikoff.show.style import GAMMA


def fit_report(
    model: Classifier, evidence: Evidence, names: Names | None = None, *, certificate: Certificate | None = None
) -> str:
    """The report on a model: an HTML page.

    `evidence` is what `gather` found in the training data, `certificate` is about these, and `names` tells what files
    and columns are called. A certificate that the model brings along is not shown: nobody has proved it here.
    """
    names = names or Names(label=model.parameters.get("label"))
    is_in_model = model.certificate is not None
    run, classes = model.record, model.classes.tolist()
    size = (sum(evidence.counts), model.n_columns or 0)
    return _page(
        "What was learned from",
        names,
        [
            _verdict_card(certificate),
            _card(f"{run.mistakes:,}", "mistakes while learning"),
            None if certificate is None else _bound_card(certificate),
            None if run.errors is None else _card(f"{run.errors:,} of {run.n_rows or 0:,}", "training rows wrong"),
        ],
        [
            data_section(names, size, classes, evidence.counts, model.encoding),
            run_section(model, evidence.steps),
            proof_section(run, certificate, evidence),
            None if certificate is None else certificate_section(certificate, evidence.labels),
            picture_section(evidence),
            weights_section(model),
            None if evidence.confusion is None else confusion_section(evidence.confusion, classes),
            None if certificate is None else check_section(names, is_in_model=is_in_model),
        ],
    )


def certify_report(
    certificate: Certificate, evidence: Evidence, names: Names | None = None, *, encoding: Encoding | None = None
) -> str:
    """The report on a certificate: an HTML page. The arguments are like those of `fit_report`.

    >>> from novikoff.prove.separable.search.certify import certify
    >>> page = certify_report(certify([[0.0], [1.0]], ["a", "b"]), Evidence((1, 1)), Names(label="letter"))
    >>> page.startswith("<!DOCTYPE html>"), "separable (exact)" in page
    (True, True)
    """
    names = names or Names()
    size = (certificate.n_rows, certificate.n_columns)
    return _page(
        "What is proved of",
        names,
        [_verdict_card(certificate), _margin_card(certificate), _bound_card(certificate)],
        [
            data_section(names, size, certificate.classes, evidence.counts, encoding),
            certificate_section(certificate, evidence.labels),
            theorem_section(certificate),
            picture_section(evidence),
            check_section(names, is_in_model=False),
        ],
    )


def _page(title: str, names: Names, cards: Sequence[Markup | None], parts: Sequence[Markup | None]) -> str:
    shown = names.files[0] if names.files else "the data"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"novikoff: {cut(shown)}"),
        element("style", Markup(STYLE)),
    )
    body = element(
        "body",
        element("header", element("h1", f"{title} ", name(shown, 120))),
        element("div", *cards, class_="cards"),
        element("main", *parts),
        element("footer", "Made by novikoff. This page loads nothing and runs nothing."),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _card(value: str, what: str, look: str = "") -> Markup:
    return element("div", element("b", value), element("span", what), class_=f"card {look}".strip())


def _verdict_card(certificate: Certificate | None) -> Markup:
    if certificate is None:
        return _card("not certified", "novikoff certify does it", "warn")
    look = "good" if certificate.verdict is Verdict.SEPARABLE else "warn"
    return _card(certificate.verdict.value, f"in {certificate.arithmetic} arithmetic", look)


def _bound_card(certificate: Certificate) -> Markup:
    if certificate.mistake_bound is None:
        return _card("no bound", "on the mistakes, for nothing separates" if certificate.obstruction else "is proved")
    return _card(whole_at_most(certificate.mistake_bound), "mistakes at most, by the theorem")


def _margin_card(certificate: Certificate) -> Markup | None:
    if certificate.verdict is not Verdict.SEPARABLE:
        return None
    return _card(at_least(certificate.margin.lower), f"margin {GAMMA}, at least")
