"""What every display obeys: scikit-learn's convention, and matplotlib only on use."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from novikoff import Perceptron, Separator, certify
from novikoff.say.words import whole_at_most
from novikoff.show.boundary import BoundaryDisplay
from novikoff.show.margins import MarginsDisplay
from novikoff.show.mistakes import MistakesDisplay
from novikoff.show.proof import ProofDisplay
from novikoff.show.style import DARK, LIGHT, class_colours

SOURCE = Path(__file__).resolve().parents[2] / "src"
X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])


def examples():
    """One of each, on the six points of the notes' kind."""
    model = Perceptron(readout="last", fit_intercept=False, shuffle=False, record_mistakes=True).fit(X, Y)
    return {
        "mistakes": MistakesDisplay.from_estimator(model, certificate=certify(X, Y, fit_intercept=False)),
        "proof": ProofDisplay.from_estimator(model, X, Y, separator=Separator([1.0, 0.0])),
        "boundary": BoundaryDisplay.from_estimator(model, X, Y, resolution=30),
        "margins": MarginsDisplay.from_estimator(model, X, Y),
    }


DISPLAYS = examples()


@pytest.mark.parametrize("name", DISPLAYS)
def test_plot_returns_the_display_with_its_axes_and_figure(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = DISPLAYS[name].plot()
        display.figure_.canvas.draw()
    assert display is DISPLAYS[name]
    axes = np.ravel(display.ax_)
    assert all(ax.figure is display.figure_ for ax in axes)
    assert all(ax.get_title() for ax in axes)
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in axes if name != "heaviest")


@pytest.mark.parametrize("name", DISPLAYS)
def test_it_draws_on_the_axes_given(name):
    figure, ax = plt.subplots()
    assert DISPLAYS[name].plot(ax=ax).ax_ is ax
    assert DISPLAYS[name].figure_ is figure
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("name", DISPLAYS)
def test_everything_drawn_has_a_legend(name):
    for ax in np.ravel(DISPLAYS[name].plot().ax_):
        words = [text.get_text() for text in ax.get_legend().get_texts()]
        assert words
        assert len(set(words)) == len(words)


def test_drawing_twice_draws_the_same():
    first = DISPLAYS["proof"].plot().ax_
    second = DISPLAYS["proof"].plot().ax_
    assert first is not second
    for one, other in zip(first, second, strict=True):
        drawn, again = ([line.get_xydata() for line in ax.lines] for ax in (one, other))
        assert all(np.array_equal(a, b) for a, b in zip(drawn, again, strict=True))


@pytest.mark.parametrize("name", DISPLAYS)
def test_without_matplotlib_the_error_says_how_to_get_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "novikoff\[plot\]"'):
        DISPLAYS[name].plot()


def test_a_display_is_imported_without_matplotlib_and_scikit_learn():
    homes = sorted({type(display).__module__ for display in DISPLAYS.values()})
    assert len(homes) == len(DISPLAYS)
    code = "import sys\n" + "\n".join(f"import {home}" for home in homes)
    code += "\nprint([name for name in ('matplotlib', 'sklearn', 'numba') if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def lightness(colour: str) -> float:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_two_classes_differ_on_grey_paper():
    assert lightness(LIGHT) - lightness(DARK) > 0.3


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_classes_go_from_dark_to_light(n):
    shades = [lightness(colour) for colour in class_colours(n)]
    assert len(shades) == n
    assert shades == sorted(set(shades))


def test_a_bound_in_words_is_never_below_the_bound():
    for bound in (0, 7, 10**9 - 1, 10**9, 10**12 + 1, 123_456_789_012_345_678):
        assert float(whole_at_most(bound).replace(",", "")) >= bound
