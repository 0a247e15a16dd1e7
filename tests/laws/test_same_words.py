"""The same fact has the same words in Python, on the command line, in the report and in the lab."""

from xml.etree import ElementTree

import numpy as np
import pytest

from novikoff import Perceptron, certify
from novikoff.lab.scenes import SCENES
from novikoff.lab.state import parse_state
from novikoff.lab.trace import run_as_json
from novikoff.options import READOUTS
from novikoff.say import runs as say
from novikoff.say.runs import READOUT_WORDS
from novikoff.show.style import typeset
from tests.cli.calling import call

pytestmark = pytest.mark.usefixtures("without_pictures")

POINTS = {scene["name"]: scene["state"]["points"] for scene in SCENES if scene["name"] in ("wide", "xor", "shared")}


class Scene:
    """Points of the lab, and the same as a table that the command line fits, certifies and reports on."""

    def __init__(self, name, folder):
        self.state = {"points": [list(map(float, point)) for point in POINTS[name]], "max_iter": 20}
        table = np.array(self.state["points"])
        self.X, self.y = table[:, :2], table[:, 2].astype(int)
        lines = [f"{j} 0:{x!r} 1:{z!r}" for (x, z), j in zip(self.X.tolist(), self.y.tolist(), strict=True)]
        (folder / "points.svm").write_text("\n".join(lines) + "\n")
        self.folder = folder

    def shown(self, command, *options):
        """What a command prints, and what the page has that it writes: without lines and frames."""
        line = (command, "points.svm", "--report", "page.html", "--force", *options)
        done = call(*line, folder=self.folder)
        page = ElementTree.fromstring((self.folder / "page.html").read_text(encoding="utf-8").split("\n", 1)[1])
        return plain(done.out.replace("│", " ")), plain("".join(page.itertext()))


def plain(text):
    return " ".join(text.split())


@pytest.fixture(params=POINTS)
def scene(request, tmp_path):
    return Scene(request.param, tmp_path)


def test_a_certificate_says_the_same_everywhere(scene):
    certificate = certify(scene.X, scene.y)
    panel, page = scene.shown("certify")
    lab = run_as_json(parse_state(scene.state))["certificate"]
    assert lab["title"].lower() == certificate.verdict_in_words
    assert lab["meaning"].lower() == certificate.meaning.replace("hyperplane", "line")
    words = [fact["words"] for fact in lab["facts"]]
    for fact in (certificate.margin_in_words, certificate.promise):
        if fact is not None:
            assert fact in panel
            assert typeset(fact) in page
            assert typeset(fact) in words
            assert fact in str(certificate)
    for text in (panel, page, str(certificate)):
        assert f"{certificate.verdict_in_words}: {certificate.meaning}" in text
        assert (certificate.obstruction_in_words or "") in text
    if certificate.obstruction is not None:
        assert lab["obstruction"]["words"] == certificate.obstruction_in_words


@pytest.mark.filterwarnings("ignore::Warning")
def test_a_run_says_the_same_everywhere(scene):
    model = Perceptron(readout="last", shuffle=False, max_iter=20).fit(scene.X, scene.y)
    run, certificate = model.run_, certify(scene.X, scene.y)
    panel, page = scene.shown("fit", "--no-shuffle", "--max-iter", "20", "--readout", "last")
    lab = run_as_json(parse_state(scene.state))
    assert lab["ending"] == say.ending(run)
    for fact in filter(None, (say.ending(run), say.made(run), say.wrong(run), say.returned(run))):
        assert fact in panel
        assert fact in page
        assert fact[1:] in str(run).replace("\n", " ")
    against = certificate.against_bound(run.mistakes)
    assert (against or say.made_rule_out(run)) in panel
    if against is None:
        assert say.made_rule_out(run) in page


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("readout", READOUTS)
def test_a_read_out_has_one_name(readout, tmp_path):
    scene = Scene("wide", tmp_path)
    name = READOUT_WORDS[readout]
    panel, page = scene.shown("fit", "--readout", readout)
    model = Perceptron(readout=readout).fit(scene.X, scene.y)
    assert f"{name}: " in panel
    assert f"{name}: " in page
    assert f"{name[0].upper()}{name[1:]}: " in str(model.run_)
