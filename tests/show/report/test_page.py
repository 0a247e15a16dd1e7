"""A report shows the library's numbers, loads nothing, and is not broken by what the data say."""

import re
import warnings
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.data.batches import Batch
from novikoff.data.examples import Examples
from novikoff.engine.rounding import at_least, at_most
from novikoff.engine.rows import as_rows
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.memory import LinearModel
from novikoff.prove.separable.certificate import Obstruction, Witnesses
from novikoff.prove.separable.conclude import InMemory, conclude
from novikoff.prove.separable.question import Verdict
from novikoff.prove.separable.search.certify import certify
from novikoff.say import runs as say
from novikoff.show.report.evidence import Evidence, gather
from novikoff.show.report.page import Names, certify_report, fit_report
from novikoff.show.report.picture import columns_to_draw
from novikoff.show.style import GAMMA
from tests.draws import draws

SIX = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=np.float64)
SIX_LABELS = np.array(["no", "yes", "yes", "no", "no", "yes"])
HOSTILE = [
    "</style><script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "]]>&lt;&amp;\0\x1b[31m",
    "\N{ARABIC LETTER SHEEN}\N{ARABIC LETTER REH} \u202e\N{ARABIC LETTER KAF}",
    "two\nlines\ttab",
    "x" * 5000,
    "&nbsp;{{}}${}",
]


def learned(X, y, *, names=None, **options):
    """A model with its certificate and its evidence, as the command makes them."""
    examples = Examples.of(X, y)
    found = learn_from([(X, y)], random_state=0, record_mistakes=True, **options)
    certificate = certify(X, y, fit_intercept=options.get("fit_intercept", True))
    parameters = {"label": "kind", **options}
    model = LinearModel.of(found, parameters, certificate=certificate.to_json())
    if names is not None:
        object.__setattr__(model, "feature_names", tuple(names))
    columns = columns_to_draw(None, X.shape[1], examples)
    evidence = gather(examples, model=model, certificate=certificate, mistakes=found.mistakes, columns=columns)
    return model, certificate, evidence


def blobs(n_classes, n_rows=120, n_columns=2, spread=0.3, seed=0):
    rng = np.random.default_rng(seed)
    centres = 4 * rng.normal(size=(n_classes, n_columns))
    y = np.arange(n_rows) % n_classes
    return centres[y] + spread * rng.normal(size=(n_rows, n_columns)), np.array([f"class {c:02}" for c in y])


def quasi():
    """Two points on the line x = 0, one of each class, and one point on either side of it."""
    return np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]), np.array(["a", "b", "a", "b"])


class Loose(HTMLParser):
    """What a forgiving parser, such as a browser's, makes of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def text_of(page):
    return " ".join("".join(ElementTree.fromstring(page.split("\n", 1)[1]).itertext()).split())


def charts_of(page):
    """The images of a page, which are in it."""
    sources = [value for name, value in Loose(page).attributes if name == "src"]
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    return [b64decode(source.split(",")[1]).decode() for source in sources]


def check_harmless(page):
    ElementTree.fromstring(page.split("\n", 1)[1])
    loose = Loose(page)
    assert not {"script", "link", "iframe", "object", "use", "image", "a"} & set(loose.tags)
    names = {name for name, _ in loose.attributes}
    assert not {"href", "xlink:href", "style", "srcset"} & names
    assert not [name for name in names if name.startswith("on")]
    for chart in charts_of(page):
        check_that_it_loads_nothing(chart)
    assert "url(" not in page
    assert "@import" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert len(page.encode()) < 1_000_000


def check_that_it_loads_nothing(chart):
    ElementTree.fromstring(chart)
    drawn = Loose(chart)
    assert not {"script", "img", "iframe", "foreignobject", "image", "a", "animate", "set"} & set(drawn.tags)
    assert all(value.startswith("#") for name, value in drawn.attributes if name.endswith("href"))
    assert not [name for name, _ in drawn.attributes if name.startswith("on")]
    assert all(part.startswith("#") for part in chart.split("url(")[1:])
    assert "@import" not in chart


def test_every_number_is_the_librarys():
    model, certificate, evidence = learned(SIX, SIX_LABELS, readout="last", fit_intercept=False, shuffle=False)
    page = fit_report(model, evidence, Names(("six.csv",)), certificate=certificate)
    words = text_of(page)
    run = model.run
    for number in (
        f"{run.mistakes} mistakes on 12 examples",
        f"R ≤ {at_most(run.radius)}",
        f"‖w‖ = {run.weights_length:.6g}",
        f"{GAMMA} = {at_least(certificate.margin.lower, 8)}",
        f"{GAMMA} = {at_most(certificate.margin.upper, 8)}",
        f"= {certificate.mistake_bound}",
        certificate.data_hash,
        f"{run.errors} of 6",
        "+3",
        "every inequality held",
    ):
        assert number in words, number
    check_harmless(page)


def test_the_confusion_matrix_counts_what_the_model_predicts():
    X, y = blobs(3, spread=3.0)
    model, _, evidence = learned(X, y)
    guessed = model.predict(Batch(as_rows(X), None))
    expected = [[int(np.sum((y == a) & (guessed == b))) for b in model.classes] for a in model.classes]
    assert evidence.confusion.tolist() == expected
    assert evidence.confusion.sum() - np.trace(evidence.confusion) == model.run.errors
    page = ElementTree.fromstring(fit_report(model, evidence).split("\n", 1)[1])
    heat = page.find(".//table[@class='heat']/tbody")
    assert [[int(cell.text.replace(",", "")) for cell in row.findall("td")] for row in heat] == expected


@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_proof_is_followed_for_many_classes_too(n_classes):
    X, y = blobs(n_classes)
    model, certificate, evidence = learned(X, y)
    proof = evidence.proof
    assert proof.mistakes == model.run.mistakes
    assert proof.holds
    assert proof.length[-1] == pytest.approx(model.run.weights_length, rel=1e-12)
    assert proof.margin == pytest.approx(certificate.margin.lower, rel=1e-9)
    assert f"{model.run.mistakes:,} were made" in text_of(fit_report(model, evidence))


def test_without_a_separator_the_mistakes_rule_margins_out():
    X, y = blobs(2, spread=6.0)
    model, certificate, evidence = learned(X, y)
    assert certificate.verdict is Verdict.OVERLAPPING
    assert evidence.lengths[-1] == pytest.approx(model.run.weights_length, rel=1e-12)
    assert evidence.allowance.bound >= model.run.mistakes
    words = text_of(fit_report(model, evidence))
    assert say.made_rule_out(model.run) in words
    assert str(evidence.allowance) in words
    for row in certificate.obstruction.rows:
        assert evidence.labels[row] == y[row]


def test_a_model_that_nobody_certified_has_a_report():
    model, _, evidence = learned(*blobs(2))
    object.__setattr__(model, "certificate", None)
    words = text_of(fit_report(model, Evidence(evidence.counts)))
    assert "not certified" in words
    assert "How to check it again" not in words


@pytest.mark.parametrize(("readout", "n_classes"), [("last", 3), ("vote", 2)])
def test_every_read_out_has_a_report(readout, n_classes):
    model, _, evidence = learned(*blobs(n_classes), readout=readout)
    check_harmless(fit_report(model, evidence))
    assert evidence.picture.scores.ndim == (2 if n_classes == 2 else 3)


@pytest.mark.parametrize("verdict", list(Verdict), ids=lambda verdict: verdict.value)
def test_every_verdict_has_a_report(verdict):
    data = {
        Verdict.SEPARABLE: (SIX, SIX_LABELS),
        Verdict.QUASI_SEPARABLE: quasi(),
        Verdict.OVERLAPPING: blobs(2, spread=6.0),
        Verdict.UNDECIDED: (SIX, SIX_LABELS),
        Verdict.NOT_SEPARABLE: quasi(),
    }
    X, y = data[verdict]
    known = {
        Verdict.UNDECIDED: Witnesses(),
        Verdict.NOT_SEPARABLE: Witnesses(obstruction=Obstruction((0, 1), (1, 1), spans=False)),
    }
    certificate = conclude(InMemory.of(X, y, True), known[verdict]) if verdict in known else certify(X, y)
    assert certificate.verdict is verdict
    columns = columns_to_draw(None, 2)
    evidence = gather(Examples.of(X, y), certificate=certificate, columns=columns)
    page = certify_report(certificate, evidence, Names(("a b.csv",), label="kind"))
    check_harmless(page)
    words = text_of(page)
    assert certificate.verdict_in_words in words
    assert "novikoff check table.cert 'a b.csv'" in words
    assert ("Why nothing separates" in words) == (certificate.obstruction is not None)
    assert ("at most, by the theorem" in words) == (verdict is Verdict.SEPARABLE)


def test_the_whole_weights_of_an_obstruction_are_shown():
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array(["same", "same", "other", "other"])
    certificate = certify(X, y)
    page = certify_report(certificate, gather(Examples.of(X, y), certificate=certificate))
    rows = re.findall(r"<tr><td>(\d)</td><td><bdi>(\w+)</bdi></td><td class=\"number\">(\d+)</td></tr>", page)
    assert rows == [("0", "same", "1"), ("1", "same", "1"), ("2", "other", "1"), ("3", "other", "1")]


def test_names_from_the_data_cannot_break_the_page():
    n = len(HOSTILE)
    X, _ = blobs(n, n_rows=60, n_columns=n)
    y = np.array(HOSTILE, dtype=object)[np.arange(60) % n].astype(str)
    model, certificate, evidence = learned(X, y, names=HOSTILE)
    page = fit_report(model, evidence, Names(tuple(HOSTILE), label=HOSTILE[1], model_file=HOSTILE[0]))
    check_harmless(page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    assert "\0" not in page
    names = Names(tuple(HOSTILE), HOSTILE[2], HOSTILE[1], tuple(HOSTILE), certificate_file=HOSTILE[4])
    check_harmless(certify_report(certificate, evidence, names))


def test_names_are_harmless_in_a_picture_too():
    y = np.array(HOSTILE[:2])[(SIX[:, 0] > 0).astype(int)]
    model, certificate, evidence = learned(SIX, y)
    columns = replace(columns_to_draw(None, 2), names=(HOSTILE[1], HOSTILE[4]))
    evidence = gather(Examples.of(SIX, y), model=model, certificate=certificate, columns=columns)
    for page in (fit_report(model, evidence), certify_report(certificate, evidence)):
        check_harmless(page)
        assert any("&lt;img src=x" in chart and r"two\nlines" in chart for chart in charts_of(page))


@settings(deadline=None, max_examples=draws(40))
@given(st.text(st.characters(), max_size=40))
def test_whatever_the_text_the_page_parses(words):
    certificate = certify([[0.0], [1.0]], ["a", "b"])
    with mock.patch("novikoff.show.style.can_draw", return_value=False):  # charts have no names of files in them
        check_harmless(certify_report(certificate, Evidence((1, 1)), Names((words,), label=words)))


def test_without_matplotlib_the_report_has_its_numbers_and_says_how_to_get_charts(monkeypatch):
    model, certificate, evidence = learned(SIX, SIX_LABELS, readout="last", fit_intercept=False, shuffle=False)
    with_charts = fit_report(model, evidence, certificate=certificate)
    monkeypatch.setattr("novikoff.show.style.can_draw", lambda: False)
    monkeypatch.setattr("novikoff.show.report.page.can_draw", lambda: False)
    page = fit_report(model, evidence, certificate=certificate)
    check_harmless(page)
    assert len(charts_of(with_charts)) == 3
    assert not charts_of(page)
    assert 'pip install "novikoff[plot]"' in text_of(page)
    assert "Mistakes of each of 2 epochs: 3, 0." in text_of(page)


def test_the_same_report_twice_is_the_same():
    model, certificate, evidence = learned(SIX, SIX_LABELS)
    first, second = (fit_report(model, evidence, certificate=certificate) for _ in range(2))
    assert first == second


def test_a_report_stays_small():
    rng = np.random.default_rng(0)
    y = np.array([f"{'long name ' * 20}{c}" for c in range(50)])[np.arange(300) % 50]
    X = rng.normal(size=(300, 2_000))
    names = [f"{'a very long feature name ' * 10}{j}" for j in range(2_000)]
    found = learn_from([(X, y)], random_state=0, max_iter=1, record_mistakes=True)
    model = LinearModel.of(found, {})
    object.__setattr__(model, "feature_names", tuple(names))
    evidence = gather(Examples.of(X, y), model=model, mistakes=found.mistakes)
    page = fit_report(model, evidence, Names(tuple(f"part-{i}.csv" for i in range(1000))))
    check_harmless(page)
    assert len(page) < 150_000
    words = text_of(page)
    assert "The first 40 of 50 classes are shown." in words
    assert "(1,000 in all)" in words


def test_many_epochs_and_rows_stay_small():
    X, y = blobs(2, n_rows=5000, spread=6.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _, evidence = learned(X, y, max_iter=70)
    page = fit_report(model, evidence)
    check_harmless(page)
    assert len(page) < 150_000
    shown = len(evidence.picture.X)
    assert 500 < shown < 650
    assert f"{shown} of 5,000 rows, evenly spaced" in text_of(page)


def test_a_picture_is_drawn_of_two_features():
    assert learned(*blobs(3, n_columns=3))[2].picture is None
    X = np.hstack([np.zeros((6, 1)), SIX])
    batches = [Batch(as_rows(X), SIX_LABELS)]
    assert columns_to_draw(None, 3, batches).names == ("column 1", "column 2")


def test_the_boundary_of_the_picture_is_where_the_score_changes_its_sign():
    model, certificate, evidence = learned(*blobs(2, seed=3))
    drawn = evidence.picture
    points = np.column_stack([part.ravel() for part in np.meshgrid(drawn.across, drawn.up)])
    np.testing.assert_allclose(drawn.scores.ravel(), model.scores(Batch(as_rows(points), None)), rtol=1e-9)
    np.testing.assert_allclose(drawn.widest.ravel(), certificate.separator.score(points), rtol=1e-9)
    proved = gather(Examples.of(*blobs(2, seed=3)), certificate=certificate, columns=columns_to_draw(None, 2)).picture
    assert proved.band == certificate.margin.lower
    assert np.abs(certificate.separator.score(proved.X)).min() >= proved.band * (1 - 1e-9)


def test_a_section_through_many_features_claims_no_band_and_no_lack_of_a_separator():
    X, y = blobs(2, n_columns=4)
    certificate = certify(X, y)
    columns = replace(columns_to_draw(None, 2), places=(0, 2), are_all=False, n_columns=4)
    drawn = gather(Examples.of(X, y), certificate=certificate, columns=columns).picture
    assert certificate.verdict is Verdict.SEPARABLE
    assert drawn.band is None
    assert drawn.scores is not None


def test_there_is_something_to_report_on():
    with pytest.raises(ValueError, match="pass a model, a certificate, or both"):
        gather(Examples.of(SIX, SIX_LABELS))
