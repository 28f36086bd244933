"""ROC curves."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import (
    Costs,
    Counts,
    Cut,
    FitError,
    OptionError,
    Policy,
    RandomizedCut,
    ShapeError,
    curve,
    decide,
    draw,
    infer,
    measure,
    read,
    shift,
    tally,
)
from tests.draw.drawings import check_repainting, legend_of, lines_of, make_tallies

TALLY = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
LABEL_COUNTS = Counts(tp=2, fp=1, fn=1, tn=2)


@pytest.mark.slow
def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.roc(make_tallies(models=2), band=True, threshold=0.5, costs=Costs(fp=1, fn=5)))
    check_repainting(draw.roc(make_tallies(group=True), band="simultaneous", hull=False))
    check_repainting(draw.roc({"risk": TALLY, "rule": LABEL_COUNTS}))
    check_repainting(draw.roc(make_tallies(models=2), band=True, smooth="binormal-ml"))


def test_lines_are_curve_hull_and_references() -> None:
    line, hull, chance, perfect = (each.tolist() for each in lines_of(draw.roc(TALLY).ax))
    third = 1 / 3
    assert line == [[0, 0], [0, third], [0, 2 / 3], [third, 2 / 3], [third, 1], [2 / 3, 1], [1, 1]]
    assert hull == [[0, 0], [0, 2 / 3], [third, 1], [1, 1]]
    assert chance == [[0, 0], [1, 1]]
    assert perfect == [[0, 0], [0, 1], [1, 1]]


def test_hull_is_drawn_only_where_it_differs() -> None:
    convex = tally([1, 1, 0, 0], [0.9, 0.8, 0.3, 0.3])
    assert "hull" not in draw.roc(convex).parts
    assert "hull" not in draw.roc(TALLY, hull=False).parts
    both = draw.roc({"convex": convex, "other": TALLY}).parts["hull"]
    assert {*both.columns["model"]} == {"other"}


def test_the_legend_gives_the_auc_with_its_interval() -> None:
    tallies = make_tallies(group=True)
    result = {str(row["group"]): row for row in infer.summary(tallies, measures=["auc"]).rows()}
    output = legend_of(draw.roc(tallies).ax)
    north = result["{'site': 'north'}"]
    bounds = f"95% CI {north['low']:.3f} to {north['high']:.3f}"
    assert output[1] == f"site = north: AUC {north['value']:.3f} ({bounds})"
    assert "(90% CI" in legend_of(draw.roc(tallies, level=0.9).ax)[0]


def test_bands_are_those_of_infer() -> None:
    tallies = make_tallies()
    for band in (True, "simultaneous"):
        result = draw.roc(tallies, band=band, level=0.9).parts["curve"]
        expected = infer.confidence_bands(tallies, "roc", level=0.9, simultaneous=band == "simultaneous", points=1000)
        assert result.rows() == expected.rows()
        assert result.data["level"] == 0.9


def test_predicted_labels_are_points_beside_curves_or_alone() -> None:
    drawing = draw.roc({"risk": TALLY, "rule": LABEL_COUNTS})
    (point,) = drawing.parts["points"].rows()
    assert (point["name"], point["threshold"]) == ("rule", None)
    assert [1 / 3, 2 / 3] in [each.tolist()[0] for each in lines_of(drawing.ax) if len(each) == 1]
    alone = draw.roc({"a": LABEL_COUNTS, "b": Counts(tp=3, fp=2, fn=0, tn=1)})
    assert list(alone.parts) == ["points", "reference"]
    assert draw.roc(LABEL_COUNTS).parts["points"].columns["name"] == ["labels"]


def test_columns_of_labels_are_points_of_every_group() -> None:
    table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "says": [1, 1, 0, 0], "sex": ["f", "f", "m", "m"]}
    read_in = read.tallies(table, truth="sick", score="risk", predicted="says", group="sex")
    points = draw.roc(read_in).parts["points"].rows()
    assert [row["name"] for row in points] == ["says", "says, sex = f", "says, sex = m"]
    assert [(row["fpr"], row["sensitivity"]) for row in points] == [(0.5, 0.5), (1, 1), (0, 0)]
    assert "says" in legend_of(draw.roc(read.tallies(table, truth="sick", predicted="says")).ax)


@settings(max_examples=10)  # each example draws a figure
@given(st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_iso_cost_line_touches_the_cheapest_point(ratio: float, prevalence: float) -> None:
    costs = Costs(fp=1, fn=ratio)
    tallies = make_tallies(60, models=2)
    parts = draw.roc(tallies, costs=costs, prevalence=prevalence).parts
    first, best, last = parts["iso_cost"].rows()
    reweighted = {name: shift.reweigh(curve(tallies.pooled(name)), prevalence=prevalence) for name in tallies.models}
    least = min(float((costs.total(each.counts) / each.total).min()) for each in reweighted.values())
    assert best["cost"] == pytest.approx(least, abs=1e-9)
    for row in (first, best, last):
        fpr, tpr = row["fpr"], row["sensitivity"]
        assert prevalence * ratio * (1 - tpr) + (1 - prevalence) * fpr == pytest.approx(least, abs=1e-9)
        assert -1e-9 <= fpr <= 1 + 1e-9
        assert -1e-9 <= tpr <= 1 + 1e-9
    assert any("Iso-cost line" in label for label in legend_of(draw.roc(tallies, costs=costs).ax))


def test_the_iso_cost_label_names_flagging_none() -> None:
    assert "Iso-cost line, 0.1667 per person: score at 0.6" in legend_of(draw.roc(TALLY, costs=Costs(fp=1, fn=2)).ax)
    worse = tally([0, 1], [0.9, 0.1])
    assert any("flag nobody" in label for label in legend_of(draw.roc(worse, costs=Costs(fp=9, fn=1)).ax))
    assert any("flag everybody" in label for label in legend_of(draw.roc(worse, costs=Costs(fp=1, fn=9)).ax))


def test_iso_cost_line_is_horizontal_without_cost_of_false_positives() -> None:
    rows = draw.roc(TALLY, costs=Costs(fp=0, fn=1)).parts["iso_cost"].rows()
    assert [(row["fpr"], row["sensitivity"]) for row in (rows[0], rows[2])] == [(0, 1), (1, 1)]


def test_marks_lie_on_the_curve_or_at_expected_rates() -> None:
    half = Policy(by_group={(): RandomizedCut((Cut((0.8,)), Cut((0.6,))), (0.5, 0.5))}, otherwise="refuse")
    rows = draw.roc(TALLY, threshold=[0.5, 0.85], policy=half).parts["marks"].rows()
    expected = [(1 / 3, 1), (0, 1 / 3), (1 / 6, 5 / 6)]
    assert np.allclose([(row["fpr"], row["sensitivity"]) for row in rows], expected)
    chosen = decide.youden(curve(TALLY))
    assert "Policy youden" in legend_of(draw.roc(TALLY, policy=chosen).ax)


def test_group_of_one_class_is_a_gap_with_undefined_auc() -> None:
    table = {"sick": [1, 0, 1, 1], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    drawing = draw.roc(read.tallies(table, truth="sick", score="risk", group="sex"), band=True, threshold=0.5)
    assert np.isnan(lines_of(drawing.ax)[2][:, 0]).all()
    assert "sex = m: AUC undefined" in legend_of(drawing.ax)


def test_perfect_and_constant_scores_are_drawn() -> None:
    assert lines_of(draw.roc(tally([1, 0, 1], [0.5] * 3)).ax)[0].tolist() == [[0, 0], [1, 1]]
    perfect = lines_of(draw.roc(tally([1, 1, 0], [3, 2, 1])).ax)[0].tolist()
    assert perfect == [[0, 0], [0, 0.5], [0, 1], [1, 1]]


def test_curves_of_many_rows_are_thinned() -> None:
    drawing = draw.roc(make_tallies(20_000))
    line = lines_of(drawing.ax)[0]
    assert len(line) <= 1000
    area = float(np.trapezoid(line[:, 1], line[:, 0]))
    assert area == pytest.approx(measure.auc(curve(make_tallies(20_000).tally)), abs=1e-3)


def test_names_of_any_kind_are_in_the_legend() -> None:
    output = legend_of(draw.roc({"_a": TALLY, "$x$": TALLY, "long " * 30: TALLY}).ax)
    assert output[0].strip("\u200a").startswith("_a: AUC")
    assert output[1].startswith(r"\$x\$: AUC")
    assert output[2].startswith("long long")


def test_invalid_options_raise() -> None:
    with pytest.raises(FitError, match="a ROC curve needs both classes, and there are no negatives"):
        draw.roc(tally([True, True], [0.1, 0.2]))
    with pytest.raises(OptionError, match="the ROC curve does not depend on the prevalence; give costs="):
        draw.roc(TALLY, prevalence=0.1)
    with pytest.raises(OptionError, match="labels have no threshold to mark"):
        draw.roc(LABEL_COUNTS, threshold=0.5)
    with pytest.raises(OptionError, match="band is 'wide'; expected True, False or 'simultaneous'"):
        draw.roc(TALLY, band="wide")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="the models have different prevalences"):
        draw.roc({"a": TALLY, "b": tally([1, 1, 1, 0], [4, 3, 2, 1])}, costs=Costs(fp=1, fn=1))
    with pytest.raises(ShapeError, match=r"rule has \(7,\) tables; expected one"):
        draw.roc({"rule": curve(TALLY).counts})
    with pytest.raises(OptionError, match="nothing cannot be drawn"):
        draw.roc({})


MANY = tally([1, 1, 0, 1, 0, 1, 0, 0, 1, 0], [0.9, 0.8, 0.7, 0.65, 0.6, 0.5, 0.4, 0.35, 0.3, 0.1])


def test_a_smooth_curve_lies_over_the_points() -> None:
    drawing = draw.roc(MANY, smooth="binormal-ml", band=True)
    assert list(drawing.parts) == ["curve", "auc", "smooth", "reference"]
    smooth = infer.smooth_roc(MANY, points=501)
    assert list(drawing.parts["smooth"].columns["sensitivity"]) == smooth.columns["sensitivity"].tolist()
    assert "low" in drawing.parts["smooth"].columns
    assert "low" not in drawing.parts["curve"].columns
    labels = [str(line.get_label()) for line in drawing.ax.lines]
    assert labels[0].startswith("empirical, AUC")
    assert labels[1].startswith("smooth (binormal-ml), AUC")
    thin, thick = drawing.ax.lines[:2]
    assert thin.get_linewidth() < thick.get_linewidth()
    assert "low" not in draw.roc(MANY, smooth="normal").parts["smooth"].columns


def test_smooth_curves_of_several_models_have_their_colors() -> None:
    drawing = draw.roc({"a": MANY, "b": MANY}, smooth="density")
    lines = drawing.ax.lines
    assert [line.get_color() for line in lines[:2]] == [line.get_color() for line in lines[2:4]]
    assert [str(line.get_label()) for line in lines[:1]] == ["Empirical curves"]
    assert str(lines[3].get_label()).startswith("b: smooth (density), AUC")


def test_smooth_curves_that_do_not_exist() -> None:
    constant = tally([1, 0, 1, 0], [0.5] * 4)
    with pytest.raises(FitError, match="the negatives have 1 distinct score"):
        draw.roc(constant, smooth="density")
    labels = [str(line.get_label()) for line in draw.roc({"a": MANY, "b": constant}, smooth="density").ax.lines]
    assert "b: smooth (density), AUC\xa0undefined" in labels


def test_smooth_curves_need_scores_and_pointwise_bands() -> None:
    with pytest.raises(OptionError, match="labels have no smooth ROC curve"):
        draw.roc({"rule": LABEL_COUNTS}, smooth="normal")
    with pytest.raises(OptionError, match="pointwise bands only"):
        draw.roc(MANY, smooth="normal", band="simultaneous")
