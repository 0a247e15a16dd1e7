"""scikit-learn's own tests of its Perceptron, as installed, with the import replaced."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model

from novikoff import Perceptron

SOURCE = Path(sklearn.linear_model.__file__).parent / "tests" / "test_perceptron.py"
THEIRS = "from sklearn.linear_model import Perceptron\n"

if not SOURCE.exists():
    pytest.skip("scikit-learn was installed without its tests", allow_module_level=True)


@pytest.fixture
def theirs():
    """Their tests by name, about our class."""
    text = SOURCE.read_text()
    assert THEIRS in text
    namespace = {"__name__": "theirs"}
    exec(compile(text.replace(THEIRS, "from novikoff import Perceptron\n"), SOURCE, "exec"), namespace)
    return namespace


def containers(theirs):
    return [*theirs["CSR_CONTAINERS"], np.array]


def test_no_test_of_theirs_is_left_out(theirs):
    known = {"accuracy", "correctness", "l1_ratio"}
    assert {name for name in theirs if name.startswith("test_")} == {
        *(f"test_perceptron_{name}" for name in known),
        "test_undefined_methods",
    }


def test_it_is_accurate_in_every_container(theirs):
    tried = [theirs["test_perceptron_accuracy"](container) for container in containers(theirs)]
    assert len(tried) >= 2  # their test asserts the accuracy itself


def test_its_last_weights_are_those_of_the_textbook(theirs):
    theirs["Perceptron"] = partial(Perceptron, readout="last")
    with pytest.warns(UserWarning, match="did not converge"):
        theirs["test_perceptron_correctness"]()


def test_there_are_no_probabilities(theirs):
    theirs["test_undefined_methods"]()
    assert not hasattr(Perceptron(), "predict_proba")


def test_a_penalty_is_refused(theirs):
    with pytest.raises(ValueError, match="penalty"):
        theirs["test_perceptron_l1_ratio"]()
