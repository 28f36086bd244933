"""Size and words of figures: widths, titles, labels; and styles that differ without color."""

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from baserate import OptionError, UnknownNameError, draw, population
from baserate.draw import Drawing
from baserate.draw._layout import parse_length
from baserate.draw._style import COLORS, DASHES, MARKERS, NEGATIVE, POSITIVE, line_style_at
from tests.draw.drawings import legend_of, lines_of, make_tallies

TWO = make_tallies(models=2)


def lightness(color: str) -> float:
    """Return the lightness L* of a color, 0 to 100: how light it is in shades of gray."""
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in to_rgb(color)]
    luminance = sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return float(116 * luminance ** (1 / 3) - 16) if luminance > 0.008856 else 903.3 * luminance


@pytest.mark.parametrize(
    ("text", "inches"), [("85mm", 85 / 25.4), ("180 mm", 180 / 25.4), ("12CM", 12 / 2.54), ("3.35in", 3.35), (4, 4.0)]
)
def test_a_length_has_a_unit(text: str | float, inches: float) -> None:
    assert parse_length("width", text) == pytest.approx(inches)
    figure = draw.gain(TWO, width=text).figure
    assert figure.get_figwidth() == pytest.approx(inches)


@pytest.mark.parametrize("text", ["85", "mm", "85 miles", "2mm", "-85mm", "nanin", 0.1, 5000, "101in"])
def test_other_lengths_are_refused(text: str | float) -> None:
    with pytest.raises(OptionError, match=r"expected a length from 0\.5 to 100 inches, with its unit"):
        draw.gain(TWO, width=text)


def test_width_is_that_of_the_file(tmp_path: Path) -> None:
    from PIL import Image

    draw.gain(TWO).save(tmp_path / "gain.png", width="85mm", dpi=200)
    with Image.open(tmp_path / "gain.png") as picture:
        assert picture.size[0] == round(85 / 25.4 * 200)


@pytest.mark.parametrize("width", ["85mm", "180mm"])
def test_text_has_seven_to_eight_points_at_every_width(width: str) -> None:
    result = draw.roc(TWO, threshold=0.5, width=width, title="Discrimination")
    sizes = {each.get_fontsize() for each in result.figure.findobj(Text) if each.get_text()}
    assert sizes == {7.0, 8.0}


def test_height_can_be_stated() -> None:
    assert draw.roc(TWO, width="85mm", height="70mm").figure.get_size_inches() * 25.4 == pytest.approx([85, 70])


def test_words_replace_those_of_the_figure() -> None:
    words: Any = {"title": "Costs $5 to $9", "xlabel": "False alarms ($)", "ylabel": "Cases that are found"}
    result = draw.roc(TWO, **words)
    assert (result.ax.get_title(), result.ax.get_xlabel(), result.ax.get_ylabel()) == tuple(words.values())
    assert draw.roc(TWO).ax.get_xlabel() == "1 − Specificity"
    assert draw.roc(TWO).ax.get_ylabel() == "Sensitivity"
    below = draw.reliability(TWO, xlabel="Risk").ax
    assert below.get_xlabel() == ""  # the counts below share the axis
    assert [each.get_xlabel() for each in below.child_axes] == ["Risk"]


def test_panels_of_groups_have_one_title() -> None:
    result = draw.groups(make_tallies(group=True), threshold=0.5, xlabel="Estimate", ylabel="Hospital")
    assert (result.ax.get_xlabel(), result.ax.get_ylabel()) == ("Estimate", "Hospital")
    result.figure.draw_without_rendering()
    below = min(panel.get_tightbbox().y0 for panel in result.ax.child_axes)  # type: ignore[union-attr]
    assert result.ax.xaxis.label.get_window_extent().y1 <= below


def test_labels_replace_names_in_the_figure_alone() -> None:
    labels = {"risk0": "Model A", "north": "Northern Hospital", "site": "Hospital"}
    result = draw.gain(make_tallies(models=2, group=True), labels=labels)
    shown = legend_of(result.ax)
    assert "Model A" in shown
    assert "Model A, Hospital = Northern Hospital" in shown
    assert "risk1, Hospital = south" in shown
    assert {row["model"] for row in result.parts["curve"].rows()} == {"risk0", "risk1"}


def test_a_single_model_can_have_a_label() -> None:
    assert legend_of(draw.gain(make_tallies(), labels={"risk0": "Model A"}).ax)[0] == "Model A"
    assert legend_of(draw.gain(make_tallies()).ax)[0] == "Model"
    assert legend_of(draw.roc([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], labels={"score": "A"}).ax)[0].startswith("A: AUC")


def test_labels_of_classes_are_not_the_classes_of_the_data() -> None:
    result = draw.confusion_matrix(["a", "b", "b"], ["a", "a", "b"], labels={"a": "healthy"})
    assert any("healthy" in each.get_text() for each in result.ax.get_xticklabels())
    assert result.parts["cells"].columns["true"][0] == "a"
    ordered = draw.confusion_matrix(["a", "b", "b"], ["a", "a", "b"], labels=["b", "a"])
    assert ordered.parts["cells"].columns["true"][0] == "b"


def test_labels_of_nothing_or_of_two_models_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="risk9"):
        draw.gain(TWO, labels={"risk9": "Model A"})
    with pytest.raises(OptionError, match="label of two names"):
        draw.gain(TWO, labels={"risk0": "Model A", "risk1": "Model A"})


def test_given_axes_have_their_size() -> None:
    ax = Figure().add_subplot()
    assert draw.roc(TWO, ax=ax, title="Mine").ax.get_title() == "Mine"
    with pytest.raises(OptionError, match="has no use"):
        draw.roc(TWO, ax=ax, width="85mm")


def test_a_drawing_keeps_its_look() -> None:
    result = draw.gain(TWO, width="85mm", labels={"risk0": "Model A"}).plot(title="Again")
    assert result.figure.get_figwidth() == pytest.approx(85 / 25.4)
    assert legend_of(result.ax)[0] == "Model A"
    assert result.ax.get_title() == "Again"


def test_displays_have_the_same_options() -> None:
    display = draw.RocDisplay.from_predictions(
        [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], name="risk", width="85mm", xlabel="False alarms", labels={"risk": "Model A"}
    )
    assert display.figure_.get_figwidth() == pytest.approx(85 / 25.4)
    assert display.ax_.get_xlabel() == "False alarms"
    assert legend_of(display.ax_)[0].startswith("Model A: AUC")


def test_series_differ_without_color() -> None:
    styles = [(str(line_style_at(at)), COLORS[at % len(COLORS)]) for at in range(64)]
    assert len({*styles}) == 64
    assert len({str(dash) for dash in DASHES}) == len({*MARKERS}) == len(COLORS) == 8
    for one, other in combinations(range(8), 2):
        assert line_style_at(one) != line_style_at(other)
    # Neighbors, which are compared most, differ in shades of gray by themselves; all contrast with white paper.
    assert all(abs(lightness(a) - lightness(b)) >= 8 for a, b in pairwise(COLORS[:6]))
    assert all(lightness(each) < 72 for each in COLORS)
    assert abs(lightness(POSITIVE) - lightness(NEGATIVE)) >= 5


@pytest.mark.parametrize(
    "result", [draw.gain(make_tallies(models=4)), draw.decision_curve(make_tallies(models=4))], ids=["gain", "decision"]
)
def test_curves_of_a_figure_differ_in_dashes_and_markers(result: Drawing) -> None:
    names = {f"risk{at}" for at in range(4)}
    lines = [line for line in result.ax.get_lines() if line.get_label() in names]
    assert len(lines) == len(names)
    assert len({str(line._dash_pattern) for line in lines}) == len(names)  # type: ignore[attr-defined]  # noqa: SLF001
    assert len({line.get_marker() for line in lines}) == len(names)


def test_every_curve_is_in_the_legend() -> None:
    for result in (draw.gain(make_tallies()), draw.lift(make_tallies()), draw.det(make_tallies())):
        assert "Model" in legend_of(result.ax)
    assert {"LOWESS fit", "Perfect calibration", "95% consistency band"} == {
        *legend_of(draw.reliability(make_tallies(), what="lowess").ax)
    }
    thresholds = draw.scores(make_tallies(), threshold=[0.3, 0.5])
    assert len({line.get_linestyle() for line in thresholds.ax.get_lines()}) == 2


@pytest.mark.parametrize("seed", range(3))
def test_lowess_fit_is_a_probability(seed: int) -> None:
    truth, score = population.logit_normal(means=(-4, 1), prevalence=0.1).draw(150, seed)
    fit = draw.reliability(truth, score, what="lowess")
    line = next(each for each in fit.ax.get_lines() if each.get_label() == "LOWESS fit")
    heights = lines_of(fit.ax)[fit.ax.get_lines().index(line)][:, 1]
    assert 0 <= min(heights) <= max(heights) <= 1


def test_rates_are_percentages() -> None:
    result = draw.roc(TWO)
    result.figure.draw_without_rendering()
    expected = ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert [each.get_text() for each in result.ax.get_xticklabels()] == expected
    assert [each.get_text() for each in result.ax.get_yticklabels()] == expected
    marked = legend_of(draw.scores(make_tallies(), threshold=0.5).ax)
    assert marked[-1] == "Threshold 0.5: sensitivity 77.9%, FPR 10.0%"
    assert legend_of(draw.scores(make_tallies(20_000)).ax)[0] == "Positives (n = 5,912)"


def test_rates_of_groups_have_one_scale() -> None:
    data = make_tallies(group=True)
    result = draw.groups(data, measures=["flag_rate", "fpr", "precision", "lift"], threshold=0.5)
    panels: Any = result.ax.child_axes
    limits = [panel.get_xlim() for panel in panels]
    assert limits[0] == limits[1] == limits[2] != limits[3]
    assert [panel.get_title() for panel in panels] == ["Flag rate", "FPR", "PPV (precision)", "Lift"]
    low, high = limits[0]
    rows = [row for row in result.rows() if row["measure"] != "lift"]
    assert all(low <= row["low"] <= row["high"] <= high for row in rows)
