"""Whether an estimate exists: every family against an exact linear program on small designs, and by its laws."""

import numpy as np
import pytest

from novikoff.prove.existence.certificate import Existence
from novikoff.prove.existence.search.existence import existence
from tests.prove.existence.cases import FAMILIES


def fates(found):
    return [found.fate(name) for name in found.coefficients]


def agrees(family, seed):
    data, options, known = FAMILIES[family](np.random.default_rng(seed))
    found = existence(*data, **options)
    if known is None:
        assert found.estimate.value == "no start"
    else:
        separated, expected = known
        assert found.exists is (not separated)
        assert set(found.separated_rows) == separated
        assert fates(found) == expected
    Existence.from_json(found.to_json()).check(*data, **options)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", range(4))
def test_every_family_agrees_with_an_exact_linear_program(family, part):
    for seed in range(40 * part, 40 * (part + 1)):
        agrees(family, seed)
