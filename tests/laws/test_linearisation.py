"""Linearisation is the kernel technique (third note, 30.2): lifting and kernels make the same mistakes."""

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from novikoff import KernelPerceptron, Paraboloid, Perceptron


def lifted_product(A, B):
    """<z(x), z(x')> for z(x) = (x, ||x||^2)."""
    return A @ B.T + np.outer((A**2).sum(axis=1), (B**2).sum(axis=1))


@example(seed=1, tie="predict")
@example(seed=78, tie="mistake")
@given(seed=st.integers(0, 9_999), tie=st.sampled_from(["mistake", "predict"]))
def test_the_lift_and_its_kernel_make_the_same_mistakes(seed, tie):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-4, 5, (25, 2)).astype(float), generator.integers(0, 2, 25)
    assume(len(set(y)) == 2)
    options = {"tie": tie, "shuffle": False, "max_iter": 3, "record_mistakes": True}
    lifted = Perceptron(fit_intercept=False, **options).fit(Paraboloid().fit_transform(X), y)
    kernel = KernelPerceptron(kernel=lifted_product, **options).fit(X, y)
    assert kernel.mistake_rows_.tolist() == lifted.mistake_rows_.tolist()
    assert kernel.predict(X).tolist() == lifted.predict(Paraboloid().fit_transform(X)).tolist()
