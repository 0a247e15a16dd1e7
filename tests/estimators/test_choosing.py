"""What the training rows chose is in the estimator, and in its file."""

import numpy as np
import pytest

from novikoff import KernelPerceptron, Perceptron, load, save


@pytest.mark.parametrize("learner", [Perceptron, KernelPerceptron])
def test_what_was_chosen_survives_a_file(learner, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 5))
    y = X[:, 0] + 0.7 * generator.normal(size=300) > 0
    model = learner(lead="auto", early_stopping=True, random_state=0).fit(X, y)
    assert model.run_.leads_tried > 0
    save(model, tmp_path / "model.novikoff")
    again = load(tmp_path / "model.novikoff")
    assert (again.run_, again.lead_, again.lead) == (model.run_, model.lead_, "auto")
    assert "chosen on the validation" in str(again.run_)
