"""Displays have the numbers of scikit-learn's displays, and the lines of the figures."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from matplotlib.figure import Figure
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import ConfusionMatrixDisplay, DetCurveDisplay, PrecisionRecallDisplay, RocCurveDisplay
from sklearn.naive_bayes import GaussianNB

from baserate import Counts, OptionError, ShapeError, UnknownNameError, draw, evaluate
from tests.draw.drawings import legend_of, panels_of

Array = npt.NDArray[Any]
PAIRS: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "roc": (draw.RocDisplay, RocCurveDisplay, ("fpr", "tpr", "roc_auc")),
    "pr": (
        draw.PrecisionRecallDisplay,
        PrecisionRecallDisplay,
        ("precision", "recall", "average_precision", "prevalence_pos_label"),
    ),
    "det": (draw.DetDisplay, DetCurveDisplay, ("fpr", "fnr")),
    "calibration": (draw.CalibrationDisplay, CalibrationDisplay, ("prob_true", "prob_pred")),
}
"""Our display, scikit-learn's, and the attributes with numbers."""


@cache
def cancer() -> tuple[Any, Array, Array]:
    """Return a classifier, and rows that it was not fitted to."""
    x, y = load_breast_cancer(return_X_y=True)
    return GaussianNB().fit(x[::2, :3], y[::2]), x[1::2, :3], y[1::2]


def theirs(display: Any, way: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401
    return getattr(display, way)(*args, ax=Figure().add_subplot(), **options)


def check_numbers(name: str, ours: Any, others: Any, *, without: str = "") -> None:  # noqa: ANN401
    for each in {*PAIRS[name][2]} - {without}:
        np.testing.assert_allclose(getattr(ours, each), getattr(others, each), rtol=1e-12, atol=1e-15, err_msg=each)


@pytest.mark.parametrize("name", PAIRS)
def test_numbers_of_estimators_agree_with_scikit_learn(name: str) -> None:
    model, x, y = cancer()
    ours, others, _ = PAIRS[name]
    display = ours.from_estimator(model, x, y)
    check_numbers(name, display, theirs(others, "from_estimator", model, x, y))
    assert display.name == "GaussianNB"
    assert any("GaussianNB" in text for text in legend_of(display.ax_))


OPTIONS = {
    "roc": [{"drop_intermediate": False}, {"pos_label": 0}],
    "pr": [{"drop_intermediate": True}, {"pos_label": 0}],
    "det": [{"drop_intermediate": False}, {"pos_label": 0}],
    "calibration": [{"n_bins": 3}, {"n_bins": 15}, {"strategy": "quantile", "n_bins": 4}],
}


@pytest.mark.parametrize(("name", "options"), [(name, each) for name, several in OPTIONS.items() for each in several])
def test_options_of_scikit_learn(name: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(200) < 0.4).astype(int)
    p = rng.permutation(200) / 400 + 0.4 * y
    ours, others, _ = PAIRS[name]
    check_numbers(name, ours.from_predictions(y, p, **options), theirs(others, "from_predictions", y, p, **options))


@pytest.mark.parametrize("name", ["roc", "pr", "det"])
@settings(max_examples=15)  # each is drawn
@given(
    rows=st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(1, 3)), min_size=3, max_size=30).filter(
        lambda rows: len({truth for truth, *_ in rows}) == 2
    )
)
def test_numbers_of_weighted_rows_with_ties(name: str, rows: list[tuple[bool, int, int]]) -> None:
    y, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    ours, others, _ = PAIRS[name]
    args = (y.astype(int), score / 10)
    check_numbers(
        name,
        ours.from_predictions(*args, sample_weight=weight),
        theirs(others, "from_predictions", *args, sample_weight=weight),
        without="prevalence_pos_label",  # scikit-learn's does not depend on weights
    )


def test_thresholds() -> None:
    y, p = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    assert draw.RocDisplay.from_predictions(y, p).thresholds.tolist() == [np.inf, 0.9, 0.6, 0.4, 0.1]
    assert draw.PrecisionRecallDisplay.from_predictions(y, p).thresholds.tolist() == [0.1, 0.4, 0.6, 0.9]
    assert draw.RocCurveDisplay is draw.RocDisplay
    assert draw.DetCurveDisplay is draw.DetDisplay


def test_line_has_the_numbers() -> None:
    model, x, y = cancer()
    display = draw.RocDisplay.from_estimator(model, x, y, drop_intermediate=False)
    np.testing.assert_allclose(display.line_.get_xdata(), display.fpr)
    np.testing.assert_allclose(display.line_.get_ydata(), display.tpr)
    calibration = draw.CalibrationDisplay.from_estimator(model, x, y)
    np.testing.assert_allclose(calibration.line_.get_xydata(), np.c_[calibration.prob_pred, calibration.prob_true])
    benefit = draw.DecisionCurveDisplay.from_estimator(model, x, y)
    np.testing.assert_allclose(benefit.line_.get_xydata(), np.c_[benefit.thresholds, benefit.net_benefit])


def test_decision_curve_by_hand() -> None:
    y, p = [1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1]
    display = draw.DecisionCurveDisplay.from_predictions(y, p, thresholds=[0.5], name="risk")
    assert display.net_benefit.tolist() == pytest.approx([(1 - 1) / 5])
    assert display.net_benefit_all.tolist() == pytest.approx([(2 - 3) / 5])
    assert "risk" in legend_of(display.ax_)


def test_several_models() -> None:
    model, x, y = cancer()
    models = {"bayes": model, "logistic": LogisticRegression().fit(x, y)}
    display = draw.RocDisplay.from_estimator(models, x, y)
    for name, each in models.items():
        single = draw.RocDisplay.from_estimator(each, x, y)
        np.testing.assert_array_equal(display.fpr[name], single.fpr)
        assert display.roc_auc[name] == single.roc_auc
    assert len(display.line_) == 2
    by_group = draw.DecisionCurveDisplay.from_estimator(model, x, y, group=["f", "m"] * (len(y) // 2))
    assert [*by_group.net_benefit] == ["everybody", "group = f", "group = m"]
    for line, name in zip(by_group.line_, by_group.net_benefit, strict=True):
        np.testing.assert_allclose(line.get_ydata(), by_group.net_benefit[name])


def test_all_functions_take_several_estimators() -> None:
    model, x, y = cancer()
    models = {"bayes": model, "ridge": RidgeClassifier().fit(x, y)}
    drawing = draw.roc(models, x, y, hull=False)
    scores = {"bayes": model.predict_proba(x)[:, 1], "ridge": models["ridge"].decision_function(x)}
    assert drawing.numbers.to_json() == draw.roc(y, scores, hull=False).numbers.to_json()
    assert list(evaluate({"a": model, "b": model}, x, y, fp=1, fn=1).models) == ["a", "b"]
    with pytest.raises(OptionError, match=r"was given classifiers; expected features and labels, too"):
        draw.roc(models)


DISPLAYS: list[Callable[..., Any]] = [
    draw.RocDisplay.from_predictions,
    draw.PrecisionRecallDisplay.from_predictions,
    draw.DetDisplay.from_predictions,
    draw.CalibrationDisplay.from_predictions,
    draw.DecisionCurveDisplay.from_predictions,
]


@pytest.mark.parametrize("make", DISPLAYS, ids=["roc", "pr", "det", "calibration", "decision"])
def test_second_display_on_the_same_axes(make: Callable[..., Any]) -> None:
    model, x, y = cancer()
    p = model.predict_proba(x)[:, 1]
    ax = Figure().add_subplot()
    first, second = make(y, p, name="first", ax=ax), make(y, p**2, name="second", ax=ax)
    assert first.ax_ is second.ax_ is ax
    assert first.line_.get_color() != second.line_.get_color()
    texts = legend_of(ax)
    assert {"first", "second"} <= {text.partition(":")[0] for text in texts}
    assert len(texts) == len({*texts})
    assert len(panels_of(ax)) <= 1
    own = Figure().add_subplot()
    again = second.plot(own)
    assert again.ax_ is own
    np.testing.assert_allclose(again.line_.get_xydata(), second.line_.get_xydata())
    assert again.line_.get_color() == draw.RocDisplay.from_predictions(y, p).line_.get_color()


def test_numbers_at_another_prevalence_are_those_of_the_figure() -> None:
    model, x, y = cancer()
    display = draw.PrecisionRecallDisplay.from_estimator(model, x, y, prevalence="2%")
    assert display.prevalence_pos_label == pytest.approx(0.02)
    np.testing.assert_allclose(display.precision[0], 0.02)
    (row,) = display.drawing.parts["average_precision"].rows()
    assert row["value"] == pytest.approx(display.average_precision)
    painted = np.asarray(display.line_.get_ydata())[::-1]
    np.testing.assert_allclose(painted[:-1], display.precision[:-1])
    weights = np.where(y == 1, 0.02 / y.mean(), 0.98 / (1 - y.mean()))
    others = theirs(PrecisionRecallDisplay, "from_estimator", model, x, y, sample_weight=weights)
    assert display.average_precision == pytest.approx(others.average_precision)


def test_chance_may_be_left_out() -> None:
    y, p = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    for display in (draw.RocDisplay, draw.PrecisionRecallDisplay, draw.DetDisplay):
        with_chance, without = (display.from_predictions(y, p, plot_chance_level=each) for each in (True, False))
        assert any("Chance" in text for text in legend_of(with_chance.ax_))
        assert len(without.ax_.get_lines()) == len(with_chance.ax_.get_lines()) - 1


def test_confusion_matrix_agrees_with_scikit_learn() -> None:
    x, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = RidgeClassifier().fit(x[::2, :2], names[::2])
    weight = np.arange(len(y)) % 3 + 1
    for options in (
        {},
        {"normalize": "true"},
        {"normalize": "pred"},
        {"normalize": "all"},
        {"labels": ["c", "a", "b"]},
    ):
        for more in ({}, {"sample_weight": weight}):
            both = options | more
            ours = draw.ConfusionMatrixDisplay.from_estimator(model, x[:, :2], names, **both)
            others = theirs(ConfusionMatrixDisplay, "from_estimator", model, x[:, :2], names, **both)
            np.testing.assert_allclose(ours.confusion_matrix, others.confusion_matrix)
            assert ours.display_labels == tuple(others.display_labels)
    assert ours.text_.shape == (3, 3)
    assert len(ours.im_.get_array().ravel()) == 9
    named = draw.ConfusionMatrixDisplay.from_predictions([0, 1, 1], [0, 1, 0], display_labels=["well", "sick"])
    assert named.display_labels == ("well", "sick")
    assert named.ax_.get_yticklabels()[1].get_text().startswith("sick")
    with pytest.raises(ShapeError, match="display_labels has 1 labels for 2 classes"):
        draw.ConfusionMatrixDisplay.from_predictions([0, 1, 1], [0, 1, 0], display_labels=["well"])


def test_confusion_matrix_of_scores() -> None:
    model, x, y = cancer()
    p = model.predict_proba(x)[:, 1]
    display = draw.ConfusionMatrixDisplay.from_estimator(model, x, y, threshold=0.3)
    flagged = p >= 0.3
    wanted = [[(flagged & (y == 1)).sum(), (~flagged & (y == 1)).sum()]]
    wanted += [[(flagged & (y == 0)).sum(), (~flagged & (y == 0)).sum()]]
    assert display.confusion_matrix.tolist() == wanted


def test_wrong_arguments_are_refused() -> None:
    y, p = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    with pytest.raises(UnknownNameError, match=r"there is no option 'hul'\. Did you mean 'hull'"):
        draw.RocDisplay.from_predictions(y, p, hul=False)
    with pytest.raises(OptionError, match="strategy is 'kmeans'; expected 'uniform' or 'quantile'"):
        draw.CalibrationDisplay.from_predictions(y, p, strategy="kmeans")
    with pytest.raises(OptionError, match=r"CalibrationDisplay sets it\. Use baserate\.draw\.reliability"):
        draw.CalibrationDisplay.from_predictions(y, p, what="isotonic")
    with pytest.raises(OptionError, match="DetDisplay needs scores, not labels"):
        draw.DetDisplay.from_predictions(Counts(tp=1, fp=1, fn=1, tn=1))
    with pytest.raises(OptionError, match="RocDisplay needs labels and scores"):
        draw.RocDisplay.from_predictions(y)


def test_displays_import_matplotlib_only_on_use() -> None:
    code = "import sys; from baserate.draw import RocDisplay, ConfusionMatrixDisplay; print(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "baserate.draw._displays" in output
    assert not {"matplotlib", "sklearn", "pandas"} & {*output}
