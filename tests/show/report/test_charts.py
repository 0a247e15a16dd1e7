"""Charts keep within their box, and their axes are readable."""

from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.show.report.charts import Line, powers, ticks


@settings(deadline=None, max_examples=60)
@given(*[st.floats(-3, 3) for _ in range(3)], st.floats(0.01, 2))
def test_a_line_and_its_band_stay_in_the_box_and_on_their_level(a, b, c, band):
    line, box = Line("", a, b, c, "blue", band), [(-1.0, -2.0), (2.0, -2.0), (2.0, 1.0), (-1.0, 1.0)]
    for found, off in ((line.across(box), 0.0), (line.strip(box), band)):
        for x, y in found:
            assert -1 - 1e-9 <= x <= 2 + 1e-9
            assert -2 - 1e-9 <= y <= 1 + 1e-9
            assert abs(a * x + b * y + c) <= off + 1e-7


@settings(deadline=None, max_examples=60)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_an_axis_has_a_few_numbers_within_it(low, width):
    for found in (ticks(low, low + width), powers(low / 1e6, low / 1e6 + width / 1e5)):
        assert len(found) <= 12
        assert found == sorted(found)
    assert len(ticks(low, low + width)) >= 2
