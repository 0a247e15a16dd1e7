"""Charts keep within their box, and their axes are readable."""

from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.show.report.charts import Line, Scale, _clipped, powers, ticks


@settings(deadline=None, max_examples=60)
@given(*[st.floats(-3, 3) for _ in range(3)], st.floats(0.01, 2))
def test_a_line_and_its_band_stay_in_the_box_and_on_their_level(a, b, c, band):
    x, y = Scale(-1, 2, 0, 100), Scale(-2, 1, 100, 0)
    line = Line("", a, b, c, "blue", band)
    for levels in ((0.0,), (-band, band)):
        xs, ys = _clipped(line, x, y, levels)
        for p, q in zip(xs, ys, strict=True):
            assert -1 - 1e-9 <= p <= 2 + 1e-9
            assert -2 - 1e-9 <= q <= 1 + 1e-9
            assert levels[0] - 1e-9 <= a * p + b * q + c <= levels[-1] + 1e-9


@settings(deadline=None, max_examples=60)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_an_axis_has_a_few_numbers_within_it(low, width):
    for found in (ticks(low, low + width), powers(low / 1e6, low / 1e6 + width / 1e5)):
        assert len(found) <= 12
        assert found == sorted(found)
    assert len(ticks(low, low + width)) >= 2
