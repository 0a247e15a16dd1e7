"""Pictures are drawn without a screen, and every test closes its own."""

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
