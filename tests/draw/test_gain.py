"""Gain and lift."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import rc_context, rcParamsDefault
from matplotlib.figure import Figure

from baserate import Counts, NotInstalledError, OptionError, curve, draw, infer, measure, tally
from tests.cli.shell import run
from tests.draw.drawings import check_repainting, legend_of, lines_of, make_tallies

TALLY = tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.gain(make_tallies(models=2)))
    check_repainting(draw.lift(make_tallies(group=True)))


def test_lines_are_the_gain_curve() -> None:
    drawing = draw.gain(TALLY)
    expected = measure.curves(make_tallies(), "gain", points=1000)
    assert list(drawing.parts["curve"].columns) == list(expected.columns)
    line, chance, perfect = (each.tolist() for each in lines_of(drawing.ax))
    assert line == [[0, 0], [0.25, 0.5], [0.5, 0.5], [0.75, 1], [1, 1]]
    assert chance == [[0, 0], [1, 1]]
    assert perfect == [[0, 0], [0.5, 1], [1, 1]]


def test_only_several_lines_are_named() -> None:
    assert legend_of(draw.lift(TALLY).ax) == ["Model", "Chance"]
    assert legend_of(draw.lift(make_tallies(group=True)).ax) == ["everybody", "site = north", "site = south", "Chance"]


def test_bands_marks_and_labels_are_shown() -> None:
    tallies = make_tallies()
    drawing = draw.lift({"risk": tallies.tally, "rule": Counts(tp=2, fp=1, fn=1, tn=2)}, band=True, threshold=0.5)
    expected = infer.confidence_bands(tallies, "lift", points=1000)
    assert np.array_equal(drawing.parts["curve"].columns["high"], expected.columns["high"], equal_nan=True)
    table = curve(tallies.tally).at(0.5)
    (mark,) = drawing.parts["marks"].rows()
    assert (mark["flag_rate"], mark["lift"]) == (measure.flag_rate(table), measure.lift(table))
    assert drawing.parts["points"].rows()[0]["lift"] == measure.lift(Counts(tp=2, fp=1, fn=1, tn=2))
    assert legend_of(drawing.ax) == ["Model", "95% confidence band, pointwise", "rule", "Threshold 0.5", "Chance"]


def test_perfect_line_needs_a_common_prevalence() -> None:
    assert "Perfect" in legend_of(draw.gain(make_tallies(models=2)).ax)
    assert "Perfect" not in legend_of(draw.gain({"a": TALLY, "b": tally([1, 1, 0], [3, 2, 1])}).ax)


def test_a_curve_of_one_point_is_visible() -> None:
    (line, _) = draw.lift(tally([1, 0], [0.5, 0.5])).ax.get_lines()
    assert line.get_marker() == "o"


def test_legends_are_below_or_beside_the_axes_and_inside_given_ones() -> None:
    below, beside = (draw.gain(make_tallies(models=7), width=width) for width in ("120mm", "180mm"))
    own = Figure(figsize=(5, 4))
    given = own.add_subplot()
    draw.gain(make_tallies(models=7), ax=given)
    assert own.get_size_inches().tolist() == [5, 4]
    under, right, inside = (each.get_legend() for each in (below.ax, beside.ax, given))
    assert under is not None
    assert right is not None
    assert inside is not None
    assert under.get_window_extent().y1 < below.ax.bbox.y0
    assert right.get_window_extent().x0 > beside.ax.bbox.x1
    assert inside.get_window_extent().x1 < given.bbox.x1


def test_small_axes_have_titles_in_two_lines() -> None:
    # Axes of a user have the user's style, and other packages change the global one when they are imported.
    with rc_context(rcParamsDefault):
        panels = Figure(figsize=(3, 3)).subplots(2, 2)
        draw.gain(TALLY, ax=panels[0, 0])
    assert panels[0, 0].get_xlabel() == "Flagged\n(share of all)"
    assert draw.gain(TALLY).ax.get_xlabel() == "Flagged (share of all)"


def test_lines_of_many_models_have_different_styles() -> None:
    lines: Any = draw.gain(make_tallies(40, models=20)).ax.get_lines()
    looks = {(line.get_color(), str(line._dash_pattern)) for line in lines}  # noqa: SLF001
    assert len(looks) == 22


def test_a_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NotInstalledError, match=r"pip install 'baserate\[plot\]'"):
        draw.gain(TALLY)
    result = run("draw", "gain", tmp_path / "none.csv", "--truth", "y", "--score", "p", "-o", tmp_path / "gain.svg")
    assert (result.exit_code, "pip install 'baserate[plot]'" in result.stderr) == (2, True)


def test_unknown_endings_and_invalid_data_raise(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"has an unknown file type; expected \.svg"):
        draw.gain(TALLY).save(tmp_path / "gain.bmp")
    with pytest.raises(OptionError, match="gain needs labels and scores"):
        draw.gain([1, 2])  # type: ignore[call-overload]
