"""Cost curves and Brier curves."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Costs, FitError, OptionError, draw, measure, tally
from tests.draw.drawings import check_repainting, lines_of, make_tallies

TALLY = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3])


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.cost_curve(make_tallies(), costs=Costs(fp=1, fn=5), prevalence=0.1))
    check_repainting(draw.cost_curve(make_tallies(models=2, group=True), kind="brier"))


def test_trivial_costs_and_curve_by_hand() -> None:
    triangle, curve = lines_of(draw.cost_curve(TALLY).ax)
    x = triangle[:, 0]
    assert np.allclose(triangle[:, 1], np.minimum(x, 1 - x))
    # The hull has the corners (0, 2/3) and (1/3, 1).
    assert np.allclose(curve[:, 1], np.minimum(np.minimum(x, x / 3), np.minimum((1 - x) / 3, 1 - x)))


@given(fn=st.floats(0.1, 50), share=st.floats(0.01, 0.99))
def test_mark_is_the_cost_of_the_cheapest_threshold(fn: float, share: float) -> None:
    drawing = draw.cost_curve(make_tallies(), costs=Costs(fp=1, fn=fn), prevalence=share)
    (mark,) = drawing.parts["mark"].rows()
    least = min(
        fn * share * (1 - row["sensitivity"]) + (1 - share) * row["fpr"]
        for row in measure.curves(make_tallies(), "roc").rows()
    )
    assert np.isclose(mark["cost"], least / (fn * share + 1 - share))


def test_a_line_and_points_mark_costs_and_prevalence() -> None:
    *_, line, first, second = lines_of(
        draw.cost_curve(make_tallies(models=2), costs=Costs(fp=1, fn=9), prevalence=0.1).ax
    )
    assert line[:, 0].tolist() == [0.5, 0.5]
    assert first[0, 0] == second[0, 0] == 0.5
    assert first[0, 1] < second[0, 1]


def test_area_under_brier_curve_is_the_brier_score() -> None:
    least, loss = lines_of(draw.cost_curve(make_tallies(), kind="brier").ax)
    assert np.isclose(np.trapezoid(loss[:, 1], loss[:, 0]), measure.brier(make_tallies().tally), atol=1e-3)
    assert (least[:, 1] <= loss[:, 1] + 1e-12).all()


def test_conflicting_options_raise() -> None:
    with pytest.raises(OptionError, match="costs need a prevalence"):
        draw.cost_curve(TALLY, costs=Costs(fp=1, fn=9))
    with pytest.raises(OptionError, match=r"costs apply to cost curves only\. Leave out the costs or kind="):
        draw.cost_curve(TALLY, costs=Costs(fp=1, fn=9), prevalence=0.1, kind="brier")
    with pytest.raises(OptionError, match="covers all prevalences"):
        draw.cost_curve(TALLY, prevalence=0.1)
    with pytest.raises(FitError, match="no negatives; give rows of both"):
        draw.cost_curve(tally([1, 1], [0.1, 0.2]))
