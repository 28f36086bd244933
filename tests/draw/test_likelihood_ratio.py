"""Likelihood ratios of probabilities."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from baserate import FitError, NotAProbabilityError, draw, infer, tally
from tests.draw.drawings import is_kept, lines_of, people

# Two bins: one positive and three negatives below ½, three and one above it.
EIGHT = tally([0, 0, 0, 1, 1, 1, 1, 0], [0.2] * 4 + [0.8] * 4)


def test_a_drawing_stores_its_numbers_and_repaints_them() -> None:
    is_kept(draw.likelihood_ratio(people()))
    is_kept(draw.likelihood_ratio(people(models=2, group=True)))


def test_ratios_are_those_worked_by_hand() -> None:
    drawing = draw.likelihood_ratio(EIGHT, options=infer.CurveOptions(bins=2))
    _, implied, observed, *_ = lines_of(drawing.ax)
    assert np.allclose(observed, [[0.2, 1 / 3], [0.8, 3]])
    assert np.allclose(implied, [[0.2, 1 / 4], [0.8, 4]])


def test_the_prevalence_changes_no_ratio() -> None:
    rarer = tally([0] * 30 + [1, 1, 1, 1] + [0] * 10, [0.2] * 31 + [0.8] * 13)
    observed = lines_of(draw.likelihood_ratio(rarer, options=infer.CurveOptions(bins=2)).ax)[2]
    assert np.allclose(observed[:, 1], [1 / 3, 3])


def test_bins_of_one_class_stand_at_the_edges_and_leave_a_gap() -> None:
    perfect = draw.likelihood_ratio(tally([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])).ax
    low, high = perfect.get_ylim()
    observed, under, over = lines_of(perfect)[2:]
    assert np.isnan(observed[:, 1]).all()
    assert np.allclose(under, [[0.1, low], [0.2, low]])
    assert np.allclose(over, [[0.8, high], [0.9, high]])


def test_empty_arrows_take_no_space() -> None:
    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw.likelihood_ratio(EIGHT, ax=right)
    figure.draw_without_rendering()
    assert left.get_position().width > 0.3


def test_one_class_and_other_scores_are_refused() -> None:
    with pytest.raises(FitError, match="no positives; give rows of both"):
        draw.likelihood_ratio(tally([0, 0], [0.1, 0.2]))
    with pytest.raises(NotAProbabilityError):
        draw.likelihood_ratio(tally([0, 1], [-1, 3]))
