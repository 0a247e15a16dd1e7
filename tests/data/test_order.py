"""The order of the rows."""

import numpy as np
import pytest

from novikoff.data.order import POOL, RUN, given_order, random_order


@pytest.mark.parametrize("n", [1, 2, RUN, POOL, POOL + 1, 3 * POOL, 5 * POOL + 17])
def test_every_row_is_visited_exactly_once(n):
    order = random_order(n, np.random.default_rng(0))
    assert sorted(order.visit.tolist()) == list(range(n))
    assert given_order(n).visit.tolist() == list(range(n))


def test_several_epochs_visit_every_row_once_in_each():
    visits = random_order(7, np.random.default_rng(0), epochs=5).visit.reshape(5, 7)
    assert all(sorted(visit) == list(range(7)) for visit in visits.tolist())
    assert len({tuple(visit) for visit in visits.tolist()}) > 1


def test_the_order_depends_on_the_generator_alone():
    orders = [random_order(4 * POOL, np.random.default_rng(seed)).visit.tolist() for seed in (7, 7, 8)]
    assert orders[0] == orders[1] != orders[2]


def test_small_data_have_a_uniformly_random_order():
    """Every row stands first about equally often: 6 rows, 6,000 orders, four standard deviations."""
    generator = np.random.default_rng(0)
    first = np.bincount(random_order(6, generator, epochs=6_000).visit.reshape(-1, 6)[:, 0], minlength=6)
    assert abs(first - 1_000).max() < 4 * np.sqrt(6_000 * (1 / 6) * (5 / 6))


def test_neighbours_and_sorted_classes_are_mixed():
    """Data sorted by class: every stretch of a pool has both, and no row stays near its neighbour."""
    n = 64 * POOL
    visit = random_order(n, np.random.default_rng(0)).visit.astype(np.int64)
    second_class = (visit >= n // 2).reshape(-1, 128).mean(axis=1)
    assert second_class.min() > 0.05
    assert second_class.max() < 0.95
    assert np.mean(np.abs(np.diff(visit)) == 1) < 0.01
