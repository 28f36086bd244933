"""Likelihood ratios of probabilities."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from baserate import FitError, NotAProbabilityError, draw, infer, tally
from tests.draw.drawings import check_repainting, lines_of, make_tallies

# Two bins: one positive and three negatives below ½, three and one above it.
TALLY = tally([0, 0, 0, 1, 1, 1, 1, 0], [0.2] * 4 + [0.8] * 4)


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.likelihood_ratio(make_tallies()))
    check_repainting(draw.likelihood_ratio(make_tallies(models=2, group=True)))


def test_ratios_by_hand() -> None:
    drawing = draw.likelihood_ratio(TALLY, options=infer.CurveOptions(bins=2))
    _, implied, observed, *_ = lines_of(drawing.ax)
    assert np.allclose(observed, [[0.2, 1 / 3], [0.8, 3]])
    assert np.allclose(implied, [[0.2, 1 / 4], [0.8, 4]])


def test_ratios_do_not_depend_on_the_prevalence() -> None:
    rarer = tally([0] * 30 + [1, 1, 1, 1] + [0] * 10, [0.2] * 31 + [0.8] * 13)
    observed = lines_of(draw.likelihood_ratio(rarer, options=infer.CurveOptions(bins=2)).ax)[2]
    assert np.allclose(observed[:, 1], [1 / 3, 3])


def test_bins_of_one_class_are_arrows_at_the_edges() -> None:
    perfect = draw.likelihood_ratio(tally([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])).ax
    low, high = perfect.get_ylim()
    observed, under, over = lines_of(perfect)[2:]
    assert np.isnan(observed[:, 1]).all()
    assert np.allclose(under, [[0.1, low], [0.2, low]])
    assert np.allclose(over, [[0.8, high], [0.9, high]])


def test_empty_arrows_take_no_space() -> None:
    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw.likelihood_ratio(TALLY, ax=right)
    figure.draw_without_rendering()
    assert left.get_position().width > 0.3


def test_single_class_and_other_scores_raise() -> None:
    with pytest.raises(FitError, match="no positives; give rows of both"):
        draw.likelihood_ratio(tally([0, 0], [0.1, 0.2]))
    with pytest.raises(NotAProbabilityError):
        draw.likelihood_ratio(tally([0, 1], [-1, 3]))
