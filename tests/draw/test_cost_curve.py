"""Cost curves and Brier curves."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Costs, FitError, OptionError, draw, measure, tally
from tests.draw.drawings import is_kept, lines_of, people

SIX = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3])


def test_a_drawing_stores_its_numbers_and_repaints_them() -> None:
    is_kept(draw.cost_curve(people(), costs=Costs(fp=1, fn=5), prevalence=0.1))
    is_kept(draw.cost_curve(people(models=2, group=True), kind="brier"))


def test_the_triangle_and_the_curve_by_hand() -> None:
    triangle, curve = lines_of(draw.cost_curve(SIX).ax)
    x = triangle[:, 0]
    assert np.allclose(triangle[:, 1], np.minimum(x, 1 - x))
    # The hull has the corners (0, 2/3) and (1/3, 1).
    assert np.allclose(curve[:, 1], np.minimum(np.minimum(x, x / 3), np.minimum((1 - x) / 3, 1 - x)))


@given(fn=st.floats(0.1, 50), share=st.floats(0.01, 0.99))
def test_the_mark_is_what_the_cheapest_threshold_costs(fn: float, share: float) -> None:
    drawing = draw.cost_curve(people(), costs=Costs(fp=1, fn=fn), prevalence=share)
    (mark,) = drawing.parts["mark"].rows()
    least = min(
        fn * share * (1 - row["sensitivity"]) + (1 - share) * row["fpr"]
        for row in measure.curves(people(), "roc").rows()
    )
    assert np.isclose(mark["cost"], least / (fn * share + 1 - share))


def test_a_line_and_points_mark_costs_and_prevalence() -> None:
    *_, line, first, second = lines_of(draw.cost_curve(people(models=2), costs=Costs(fp=1, fn=9), prevalence=0.1).ax)
    assert line[:, 0].tolist() == [0.5, 0.5]
    assert first[0, 0] == second[0, 0] == 0.5
    assert first[0, 1] < second[0, 1]


def test_the_area_under_a_brier_curve_is_the_brier_score() -> None:
    least, loss = lines_of(draw.cost_curve(people(), kind="brier").ax)
    assert np.isclose(np.trapezoid(loss[:, 1], loss[:, 0]), measure.brier(people().tally), atol=1e-3)
    assert (least[:, 1] <= loss[:, 1] + 1e-12).all()


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(OptionError, match="costs need a prevalence"):
        draw.cost_curve(SIX, costs=Costs(fp=1, fn=9))
    with pytest.raises(OptionError, match=r"costs apply to cost curves only\. Leave out the costs or kind="):
        draw.cost_curve(SIX, costs=Costs(fp=1, fn=9), prevalence=0.1, kind="brier")
    with pytest.raises(OptionError, match="covers all prevalences"):
        draw.cost_curve(SIX, prevalence=0.1)
    with pytest.raises(FitError, match="no negatives; give rows of both"):
        draw.cost_curve(tally([1, 1], [0.1, 0.2]))
