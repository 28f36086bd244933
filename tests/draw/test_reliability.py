"""Reliability diagrams."""

import numpy as np
import pytest

from baserate import NotAProbabilityError, OptionError, draw, infer, read, tally
from baserate.draw._calibration import ReliabilityCurve
from tests.draw.drawings import check_repainting, legend_of, lines_of, make_tallies, spans_of

TALLY = tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])


@pytest.mark.quick(1)
@pytest.mark.parametrize("what", ["binned", "isotonic", "lowess"])
def test_drawing_stores_its_numbers_and_repaints_them(what: ReliabilityCurve) -> None:
    check_repainting(draw.reliability(make_tallies(), what=what))
    check_repainting(draw.reliability(make_tallies(models=2, group=True), what=what))


def test_points_intervals_and_bars_are_those_of_the_bins() -> None:
    ax = draw.reliability(TALLY, what="binned", options=infer.CurveOptions(bins=2)).ax
    assert lines_of(ax)[1].round(12).tolist() == [[0.2, 0], [0.85, 1]]
    bars = ax.child_axes[0].patches
    assert [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in bars] == [(0, 0.5, 2), (0.5, 0.5, 2)]  # type: ignore[attr-defined]
    expected = infer.calibration_curve(TALLY, options=infer.CurveOptions(bins=2))
    assert spans_of(ax, 1) == np.stack([expected["low"], expected["high"]], axis=1).tolist()


def test_curve_and_band_are_those_of_infer() -> None:
    drawing = draw.reliability(
        make_tallies(), what="isotonic", options=infer.CurveOptions(band="confidence", level=0.8)
    )
    expected = infer.calibration_curves(
        make_tallies(), "isotonic", options=infer.CurveOptions(band="confidence", level=0.8)
    )
    line = lines_of(drawing.ax)[1]
    assert np.array_equal(line.T, [expected.columns["probability"], expected.columns["share"]])
    (band,) = spans_of(drawing.ax, 1)
    assert {*expected.columns["low"], *expected.columns["high"]} <= set(band)
    legend = drawing.ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "Perfect calibration",
        "80% confidence band",
        "Isotonic fit",
    ]


@pytest.mark.parametrize(
    ("what", "curve", "band"),
    [
        ("binned", "Observed in bins", "95% CI (Wilson)"),
        ("isotonic", "Isotonic fit", "95% consistency band"),
        ("lowess", "LOWESS fit", "95% consistency band"),
    ],
)
@pytest.mark.parametrize("rows", [10, 400])
def test_legend_of_a_single_model_names_all_parts(what: ReliabilityCurve, curve: str, band: str, rows: int) -> None:
    assert legend_of(draw.reliability(make_tallies(rows), what=what).ax) == ["Perfect calibration", band, curve]


def test_the_legend_of_several_models_names_them() -> None:
    assert legend_of(draw.reliability(make_tallies(models=3)).ax) == ["Perfect calibration", "risk0", "risk1", "risk2"]


def test_lowess_fit_is_clipped_to_0_and_1() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(400)
    drawing = draw.reliability(tally(rng.random(400) < p**3, p), what="lowess")
    fit, (band,) = lines_of(drawing.ax)[1], spans_of(drawing.ax, 1)
    assert fit[:, 1].min() == 0
    assert fit[:, 1].max() <= 1
    assert 0 <= min(band) < max(band) <= 1


def test_counts_below_a_curve_are_of_all_rows() -> None:
    drawing = draw.reliability(make_tallies(), what="lowess")
    assert sum(drawing.parts["counts"].columns["mass"]) == 400
    assert sum(bar.get_height() for bar in drawing.ax.child_axes[0].patches) == 400  # type: ignore[attr-defined]


@pytest.mark.slow
def test_several_series_have_no_bands() -> None:
    several = draw.reliability(make_tallies(models=3))
    assert not several.ax.collections
    assert len(several.ax.child_axes[0].collections) == 3


def test_the_panel_is_square_and_bars_are_logarithmic_only_if_uneven() -> None:
    scores = np.repeat([0.05, 0.95], [500, 3])
    uneven = draw.reliability(tally(np.arange(503) % 2, scores)).ax
    assert uneven.get_box_aspect() == 1
    assert uneven.child_axes[0].get_yscale() == "log"
    assert draw.reliability(TALLY).ax.child_axes[0].get_yscale() == "linear"


@pytest.mark.parametrize("what", ["binned", "isotonic", "lowess"])
def test_single_class_and_single_score_are_drawn(what: ReliabilityCurve) -> None:
    alone = draw.reliability(tally([0, 0, 0], [0.1, 0.5, 0.9]), what=what)
    assert np.allclose(lines_of(alone.ax)[1][:, 1], 0)
    constant = draw.reliability(tally([1, 0, 1, 0], [0.3] * 4), what=what).ax.get_lines()[1]
    assert np.allclose(constant.get_xydata(), [[0.3, 0.5]])
    assert constant.get_marker() == "o"


def test_other_scores_raise() -> None:
    with pytest.raises(NotAProbabilityError, match="calibrate"):
        draw.reliability(tally([0, 1], [-1, 3]))
    with pytest.raises(OptionError, match="expected one of binned, isotonic, lowess"):
        draw.reliability(TALLY, what="local")  # type: ignore[call-overload]
    says = read.tallies({"y": [0, 1], "says": [0, 1]}, truth="y", predicted="says")
    with pytest.raises(OptionError, match="says contains labels"):
        draw.reliability(says)
