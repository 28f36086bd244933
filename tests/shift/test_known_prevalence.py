"""A known prevalence: errors, methods of intervals, and their coverage."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from baserate import (
    Confusion,
    Confusions,
    Counts,
    Curve,
    EmptyDataError,
    MissingValuesError,
    NotBinaryError,
    OptionError,
    ShapeError,
    Tally,
    calibration,
    infer,
    measure,
    read,
    shift,
    tally,
)
from baserate.measure import MEASURES, describe
from tests.tiers import take_in_tiers

TABLE = Counts(tp=80, fp=10, fn=20, tn=90)


def simulate_tally(n: int = 400, seed: int = 0) -> Tally:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    return tally(truth, np.clip(rng.normal(0.35 + 0.3 * truth, 0.2), 0.01, 0.99))


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: shift.reweigh(TABLE), "both or neither of prevalence="),
        (lambda: shift.reweigh(TABLE, prevalence=0.1, gamma=2.0), "both or neither of prevalence="),
        (lambda: shift.reweigh(TABLE, prevalence=0), "prevalence is 0; expected a prevalence from 1e-12 to 1 - 1e-12"),
        (
            lambda: shift.reweigh(simulate_tally(), prevalence=1),
            "prevalence is 1; expected a prevalence from 1e-12 to 1 - 1e-12",
        ),
        (lambda: shift.reweigh(simulate_tally(), prevalence=nan), "prevalence is nan"),
        (lambda: shift.reweigh(simulate_tally(), prevalence=True), "prevalence is True"),
        (lambda: shift.reweigh(simulate_tally(), gamma=0), "gamma is 0; expected a factor from 1e-12 to 1e12"),
        (
            lambda: shift.reweigh(TABLE, prevalence=np.array([0.1, 0, 1, nan])),
            "3 of 4 values of prevalence are not a prevalence from 1e-12",
        ),
        (
            lambda: shift.reweigh(Confusion(np.eye(3), tuple("abc")), prevalence=0.1),
            "a table of 3 classes needs a share for",
        ),
        (lambda: shift.reweigh(Confusion(np.eye(3), tuple("abc")), gamma=2.0), "needs a share for each"),
        (
            lambda: shift.reweigh(Confusion(np.eye(2), tuple("ab")), prevalence=[0.5, 0.6]),
            "shares above 0 that add up to 1",
        ),
        (lambda: shift.reweigh([1, 2], prevalence=0.1), "reweigh needs labels and scores"),  # type: ignore[call-overload]
        (lambda: shift.gamma(sample_prevalence=0.5, prevalence=0), "prevalence is 0"),
        (lambda: shift.gamma(sample_prevalence=1, prevalence=0.5), "sample_prevalence is 1"),
        (lambda: shift.gamma_of_sampling(under=0.1), "under is 0.1; .*If it is the share that was kept"),
        (lambda: shift.gamma_of_sampling(over=4), "over is 4; .*If each was taken several times"),
        (lambda: shift.gamma_of_counts(sample=(0, 5), original=(1, 1)), r"sample is \(0, 5\)"),
        (lambda: shift.prevalence_of_gamma(inf, sample_prevalence=0.5), "gamma is inf"),
        (lambda: shift.reprior([0.5], sample_prevalence=0.5, prevalence=0), "prevalence is 0"),
        (
            lambda: shift.reprior([[0.5, 0.5]], sample_prevalence=0.5, prevalence=[0.5, 0.5]),
            "give two prevalences, or twice the share",
        ),
        (lambda: shift.ppv(1.2, 0.9, 0.1), r"1 of 1 values of sensitivity lie outside \[0, 1\], such as 1.2"),
        (lambda: shift.npv(0.9, 0.9, np.array([0.1, nan])), "1 of 2 values of prevalence"),
        (lambda: shift.prevalence_curve(TABLE, "auc"), "auc is not a measure of decisions"),
        (lambda: shift.prevalence_curve(TABLE, []), "nothing to measure"),
        (lambda: shift.prevalence_curve(TABLE, "precision", threshold=0.5), "has no use"),
        (lambda: shift.prevalence_curve(tally([1, 0], [3, -1]), "precision"), "give threshold="),
        (lambda: shift.prevalence_curve(TABLE, "precision", prevalences=[0.1, 1.0]), "1 of 2 values of prevalence"),
        (
            lambda: shift.prevalence_curve({"y": [1, 0], "p": [0.1, 0.2]}, "precision"),
            "needs the name of the column of labels",
        ),
    ],
)
def test_invalid_options_raise(work: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        work()


def test_classes_without_rows_raise_a_data_error() -> None:
    with pytest.raises(NotBinaryError, match="there are no negatives"):
        shift.reweigh(tally([1, 1], [1, 2], positive=1), prevalence=0.1)
    with pytest.raises(NotBinaryError, match="there are no positives"):
        shift.reweigh(Counts(0, 1, 0, 1), prevalence=0.1)
    with pytest.raises(EmptyDataError, match="no rows of the class 'b'"):
        shift.reweigh(Confusion(np.diag([1.0, 0.0]), tuple("ab")), prevalence=[0.5, 0.5])


def test_invalid_shapes_raise() -> None:
    with pytest.raises(ShapeError, match="take one"):
        shift.prevalence_curve(Curve(simulate_tally()).counts, "precision")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="prevalences has shape"):
        shift.prevalence_table(TABLE, "precision", prevalences=[[0.1], [0.2]])
    with pytest.raises(MissingValuesError, match="1 of 2 thresholds are NaN"):
        shift.reprior_threshold(np.array([0.5, nan]), sample_prevalence=0.5, prevalence=0.1)


def test_reweighed_tables_of_any_shape() -> None:
    many = shift.reweigh(TABLE, prevalence=np.array([0.1, 0.5]))
    assert many.shape == many.squares.shape == many.rows.shape == (2,)
    assert measure.prevalence(many).tolist() == pytest.approx([0.1, 0.5])
    assert many.rows.tp.tolist() == [80, 80]
    counts = Curve(simulate_tally()).counts
    assert shift.reweigh(counts, prevalence=0.2).shape == counts.shape
    assert shift.reweigh(counts, gamma=2.0).reweighed
    again = shift.reweigh(shift.reweigh(TABLE, prevalence=0.3), gamma=1.0)
    assert (again.tp, again.tn) == pytest.approx((48, 126))


def test_a_stack_of_confusions_is_reweighed_as_one() -> None:
    mass = np.array([[[5.0, 1.0], [2.0, 2.0]], [[1.0, 1.0], [0.0, 8.0]]])
    result = shift.reweigh(Confusion(mass, ("a", "b")), prevalence=[0.25, 0.75])
    assert (result.truth / result.truth.sum(axis=-1, keepdims=True)).tolist() == [[0.25, 0.75]] * 2
    assert result.total.tolist() == [10, 10]  # type: ignore[attr-defined]


def test_groups_of_many_classes_have_shares_of_their_own() -> None:
    town = Confusion(np.array([[6.0, 2.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]), ("a", "b", "c"))
    farm = Confusion(np.array([[1.0, 1.0, 0.0], [0.0, 6.0, 0.0], [1.0, 1.0, 8.0]]), ("a", "b", "c"))
    data = Confusions({("town",): town, ("farm",): farm}, attributes=("home",))
    deployment = shift.reweigh(data, prevalence={"c": 0.1, "b": 0.2, "a": 0.7})
    assert (deployment.pooled.truth / deployment.pooled.total).tolist() == pytest.approx([0.7, 0.2, 0.1])
    assert deployment.pooled.total == pytest.approx(30)
    assert deployment.pooled.reweighed
    assert deployment.pooled.rows.mass.tolist() == (town.mass + farm.mass).tolist()
    # A group is as frequent within each class as it was, and decides as it did.
    for group, table in deployment.tables.items():
        before = data.tables[group]
        np.testing.assert_allclose(table.truth / deployment.pooled.truth, before.truth / data.pooled.truth)
        np.testing.assert_allclose(table.mass * before.truth[:, None], before.mass * table.truth[:, None])
    alone = shift.reweigh(data.pooled, prevalence=[0.7, 0.2, 0.1])
    np.testing.assert_allclose(deployment.pooled.mass, alone.mass)
    np.testing.assert_allclose(deployment.pooled.squares.mass, alone.squares.mass)
    with pytest.raises(OptionError, match="needs a share for each"):
        shift.reweigh(data, prevalence=0.5)
    accuracy = infer.multiclass_summary(deployment, measures=["accuracy"]).rows()
    result = [row for row in accuracy if row["measure"] == "accuracy"]
    assert [row["group"] and row["group"]["home"] for row in result] == [None, "town", "farm"]
    assert all(row["how"].endswith("prevalence known") for row in result[:1])
    assert result[0]["value"] == pytest.approx(0.7 * 7 / 10 + 0.2 * 9 / 10 + 0.1 * 8 / 10)


# Intervals.


def test_intervals_name_their_method() -> None:
    deployment = shift.reweigh(TABLE, prevalence=0.05)
    hows = {name: infer.estimate(name, deployment).how for name in ("precision", "npv", "accuracy", "f1", "prevalence")}
    assert hows["npv"] == infer.estimate("precision", deployment).how
    assert hows["precision"] == (
        "Wilson or Clopper–Pearson within each class, added in quadrature on log-odds; prevalence known"
    )
    assert hows["accuracy"] == "Wilson or Clopper–Pearson within each class, added in quadrature; prevalence known"
    assert hows["f1"] == hows["precision"]
    assert infer.estimate("kappa", deployment).how == "10000 Dirichlet samples of the cells within each class"
    assert hows["prevalence"] == "known"
    large = shift.reweigh(Counts(tp=800, fp=100, fn=200, tn=900), prevalence=0.05)
    assert infer.estimate("precision", large).how == "logit, prevalence known"


def test_mercaldo_by_hand() -> None:
    deployment = shift.reweigh(Counts(tp=800, fp=100, fn=200, tn=900), prevalence=0.05)
    result = infer.estimate("precision", deployment)
    middle = np.log(0.8 / 0.1) + np.log(0.05 / 0.95)
    half = 1.959963984540054 * np.sqrt(0.2 / (1000 * 0.8) + 0.9 / (1000 * 0.1))
    wanted = 1 / (1 + np.exp(-(middle + np.array([-half, half]))))
    assert (result.low, result.high) == pytest.approx(tuple(wanted), rel=1e-12)
    assert infer.estimate("precision", deployment, method="logit") == result
    fdr = infer.estimate("fdr", deployment)
    assert (1 - fdr.high, 1 - fdr.low) == pytest.approx((result.low, result.high), rel=1e-12)


@pytest.mark.parametrize("cells", [(0, 5, 20, 30), (20, 0, 5, 30), (20, 5, 0, 30), (20, 5, 5, 0), (20, 0, 0, 30)])
def test_intervals_are_finite_with_empty_cells(cells: tuple[int, int, int, int]) -> None:
    deployment = shift.reweigh(Counts(*cells), prevalence=0.02)
    for name in ("precision", "npv", "fdr", "false_omission_rate", "accuracy", "f1", "mcc"):
        result = infer.estimate(name, deployment)
        assert np.isnan(result.low) == np.isnan(result.value)
        if not np.isnan(result.value):
            assert result.low < result.high
    if 0 in cells[:2]:
        plain = infer.estimate("precision", deployment, method="logit")
        assert plain.why == "a cell is empty, so its logarithm is infinite"
        adjusted = infer.estimate("precision", deployment, method="adjusted-logit")
        assert adjusted.low < adjusted.high


@pytest.mark.parametrize(
    ("name", "method", "known"),
    [
        ("f1", "draws", "mover, stratified"),
        ("kappa", "draws", "stratified"),
        ("precision", "wilson", "logit, adjusted-logit, stratified"),
        ("accuracy", "bootstrap", "stratified"),
    ],
)
def test_methods_that_resample_the_prevalence_raise(name: str, method: str, known: str) -> None:
    deployment = shift.reweigh(TABLE, prevalence=0.05)
    output = f"makes no interval of {name} where the class shares are fixed; known are: {known}"
    with pytest.raises(OptionError, match=output):
        infer.estimate(name, deployment, method=method)
    assert infer.methods(name, deployment) == tuple(known.split(", "))


def test_interval_methods_of_reweighed_tallies() -> None:
    deployment = shift.reweigh(simulate_tally(), prevalence=0.05)
    for name in ("brier", "average_precision", "auc", "calibration_slope"):
        assert "stratified" in infer.methods(name, deployment)
        assert not {"resample", "bootstrap"} & set(infer.methods(name, deployment))
        assert not np.isnan(infer.estimate(name, deployment, method="stratified").low)
    with pytest.raises(OptionError, match="where the class shares are fixed"):
        infer.estimate("brier", deployment, method="bootstrap")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    take_in_tiers(
        ["brier", "average_precision", "ks", "log_loss", "brier_skill", "log_loss_skill", "cap_area"], quick=3
    ),
)
def test_closed_forms_agree_with_simulations_within_classes(name: str) -> None:
    deployment = shift.reweigh(simulate_tally(3000), prevalence=0.1)
    closed, simulated = infer.estimate(name, deployment), infer.estimate(name, deployment, method="stratified")
    width = simulated.high - simulated.low
    assert closed.high - closed.low == pytest.approx(width, rel=0.25 if name != "ks" else 0.6), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    take_in_tiers(["calibration_slope", "observed_expected", "mean_probability", "calibration_in_the_large"], quick=2),
)
def test_closed_forms_of_probabilities_agree_with_simulations_within_classes(name: str) -> None:
    deployment = shift.reweigh(simulate_tally(3000), prevalence=0.1)
    closed, simulated = infer.estimate(name, deployment), infer.estimate(name, deployment, method="stratified")
    assert (closed.low, closed.high) == pytest.approx((simulated.low, simulated.high), rel=0.05, abs=0.02), name


def test_ks_interval_does_not_change_with_prevalence() -> None:
    sample = simulate_tally()
    before, after = infer.estimate("ks", sample), infer.estimate("ks", shift.reweigh(sample, prevalence=0.01))
    assert (after.value, after.low, after.high) == pytest.approx((before.value, before.low, before.high), rel=1e-9)


def test_many_classes_are_resampled_within_classes() -> None:
    counts = np.array([[60.0, 30.0, 10.0], [5.0, 40.0, 5.0], [2.0, 3.0, 15.0]])
    deployment = shift.reweigh(Confusion(counts, tuple("abc")), prevalence={"a": 0.9, "b": 0.05, "c": 0.05})
    accuracy = infer.estimate("accuracy", deployment)
    assert accuracy.how == "Wilson or Clopper–Pearson within each class, added in quadrature; prevalence known"
    simulated = infer.estimate("accuracy", deployment, method="stratified")
    assert (accuracy.low, accuracy.high) == pytest.approx((simulated.low, simulated.high), abs=0.01)
    assert infer.estimate("mcc", deployment).how == "10000 Dirichlet samples of the cells within each class"


def test_bands_are_within_classes() -> None:
    sample = simulate_tally()
    deployment = shift.reweigh(sample, prevalence=0.05)
    roc, reweighed = infer.confidence_band(sample, "roc"), infer.confidence_band(deployment, "roc")
    for name in ("low", "high"):
        np.testing.assert_allclose(reweighed.columns[name], roc.columns[name], atol=1e-9)
    for what in ("pr", "gain", "precision", "f1", "accuracy"):
        result = infer.confidence_band(deployment, what)
        value = list(result.columns.values())[-3]
        defined = ~np.isnan(result.columns["low"])
        assert (result.columns["low"][defined] <= value[defined]).all()
        assert (result.columns["high"][defined] >= value[defined]).all()
    at = infer.confidence_band(deployment, "precision", points=None)
    place = len(at.columns["threshold"]) // 2
    alone = infer.estimate("precision", deployment, threshold=float(at.columns["threshold"][place]))
    assert at.columns["low"][place] == pytest.approx(alone.low)
    closed = infer.confidence_band(deployment, "f1", points=None)
    alone = infer.estimate("f1", deployment, threshold=float(at.columns["threshold"][place]))
    assert closed.columns["low"][place] == pytest.approx(alone.low)
    simulated = infer.confidence_band(deployment, "kappa", points=None)
    alone = infer.estimate("kappa", deployment, threshold=float(at.columns["threshold"][place]))
    assert simulated.columns["low"][place] == pytest.approx(alone.low, rel=0.05)
    assert simulated.how.endswith("within each class")


def test_average_precision_of_a_group_without_negatives_has_no_interval() -> None:
    table = {"sick": [1, 0, 1, 0], "risk": [0.5, 0.2, 0.3, 0.1], "site": ["north", "south", "north", "south"]}
    sample = read.tallies(table, truth="sick", score="risk", group="site")
    plain, known = (
        infer.estimate("average_precision", each.models["risk"]["north",])
        for each in (sample, shift.reweigh(sample, prevalence=0.2))
    )
    assert (known.value, known.low, known.high) == (1, plain.low, plain.high)


def test_summary_of_reweighed_tallies() -> None:
    table = {"y": [1, 0, 1, 0] * 30, "p": np.linspace(0.01, 0.99, 120)}
    data = shift.reweigh(read.tallies(table, truth="y", score="p"), prevalence=0.1)
    names = ["prevalence", "precision", "brier"]
    result = {row["measure"]: row for row in infer.summary(data, measures=names).rows()}
    assert result["prevalence"]["low"] == result["prevalence"]["high"]
    output = "classes are reweighted to a prevalence of 10%, taken as known; scores are not adjusted."
    assert infer.summary(data, measures=names).data["notes"][-1] == output
    assert shift.prevalence_curve(data).data["notes"] == [output]
    with pytest.raises(OptionError, match=r"method='bootstrap' makes no interval of .* where the class shares"):
        infer.summary(data, interval=infer.IntervalOptions(method="bootstrap"))
    logit = infer.summary(data, interval=infer.IntervalOptions(method="adjusted-logit")).rows()
    assert any((row["how"] or "").startswith("logit with z²/2") for row in logit)


def test_two_reweighed_samples_are_compared_by_their_own_intervals() -> None:
    a, b = (shift.reweigh(simulate_tally(seed=seed), prevalence=0.05) for seed in (1, 2))
    for name in ("precision", "f1", "brier"):
        at = 0.5 if describe(MEASURES[name]).of is Counts else None
        result = infer.compare_unpaired(a, b, measure=name, threshold=at).difference
        assert result.low < result.value < result.high
        assert result.how == "Newcombe's hybrid of both intervals"
    with pytest.raises(OptionError, match="the class shares are fixed"):
        infer.compare_unpaired(a, b, measure="brier", question=infer.Question(method="resample"))


# Probabilities at a known prevalence.


def simulate_calibrated(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 2, n)
    return rng.random(n) < p, p


@pytest.mark.slow
def test_probabilities_are_measured_raw_and_after_reprior() -> None:
    sample = tally(*simulate_calibrated(20_000, 1))
    raw = shift.reweigh(sample, prevalence=0.1)
    after = raw.with_scores(shift.reprior(raw.score, sample_prevalence=sample.prevalence, prevalence=0.1))
    assert measure.brier(after) < measure.brier(raw)
    assert measure.log_loss(after) < measure.log_loss(raw)
    for name in ("calibration_in_the_large", "calibration_intercept"):
        assert not infer.estimate(name, raw).low <= 0 <= infer.estimate(name, raw).high
        assert infer.estimate(name, after).low <= 0 <= infer.estimate(name, after).high
    slope = infer.estimate("calibration_slope", after)
    assert slope.low <= 1 <= slope.high
    assert infer.null_reference("ece", after).within
    assert not infer.null_reference("ece", raw).within
    tests = {check.name: check for check in infer.calibration_tests(after)}
    assert tests["cox"].p > 0.01
    assert tests["spiegelhalter_z"].p > 0.01
    for name in ("hosmer_lemeshow", "ecce"):
        assert "test the original rows, after reprior to their own prevalence" in (tests[name].why or "")
    assert infer.cox_test(raw).p < 1e-6


def test_null_reference_of_reweighed_rows_uses_the_number_of_rows() -> None:
    """Calibration errors of samples calibrated at the known prevalence are those of the null reference."""
    values, typical_values = [], []
    for seed in range(40):
        sample = tally(*simulate_calibrated(300, seed))
        raw = shift.reweigh(sample, prevalence=0.2)
        after = raw.with_scores(shift.reprior(raw.score, sample_prevalence=0.5, prevalence=0.2))
        result = infer.null_reference("ece", after, n_simulations=100)
        values.append(result.value)
        typical_values.append(result.typical)
    assert np.median(values) == pytest.approx(np.median(typical_values), rel=0.15)


def test_calibration_summary_of_reweighed_probabilities() -> None:
    truth, p = simulate_calibrated(300, 3)
    data = shift.reweigh(read.tallies({"y": truth, "p": p}, truth="y", score="p"), prevalence=0.2)
    rows = infer.calibration_summary(data, options=infer.CalibrationOptions(n_simulations=50)).rows()
    assert all(row["why"] for row in rows if row["value"] is None)
    curve = infer.calibration_curve(data.tally)
    assert (curve["low"] <= curve["share"] + 1e-12).all()
    assert (curve["share"] <= curve["high"] + 1e-12).all()
    for what in ("isotonic", "likelihood_ratio"):
        infer.calibration_curve(data.tally, what)
    result = infer.bootstrap(["calibration_slope"], data.tally, n_bootstrap=100)
    assert result[0].how == "100 bootstrap samples of rows within each class"


def test_a_calibrator_can_be_fitted_to_reweighed_data() -> None:
    raw = shift.reweigh(tally(*simulate_calibrated(5000, 4)), prevalence=0.1)
    result = calibration.offset(raw)
    offset = result.parameters[0].value
    assert offset == pytest.approx(np.log(0.1 / 0.9), abs=0.1)
    assert calibration.cross_fit(raw, "isotonic").reweighed


def test_posteriors_of_many_classes() -> None:
    p = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    by_order = shift.reprior(p, sample_prevalence=[0.2, 0.3, 0.5], prevalence=[0.6, 0.3, 0.1])
    by_name = shift.reprior(
        p, sample_prevalence={"a": 0.2, "b": 0.3, "c": 0.5}, prevalence={"a": 0.6, "b": 0.3, "c": 0.1}
    )
    named = shift.reprior(
        p, sample_prevalence=[0.2, 0.3, 0.5], prevalence={"c": 0.1, "b": 0.3, "a": 0.6}, labels=["a", "b", "c"]
    )
    assert by_order.tolist() == by_name.tolist() == named.tolist()
    assert by_order.round(9).tolist() == [[0.6, 0.3, 0.1], [1, 0, 0]]
    assert shift.reprior(np.full((2, 3, 4), 0.5), sample_prevalence=0.5, prevalence=0.1).shape == (2, 3, 4)


def test_thresholds_of_both_scales() -> None:
    cuts = np.array([-inf, -1.0, 0.0, 0.1, 0.5, 1.0, 1.5, inf])
    raw = shift.reprior_threshold(cuts, sample_prevalence=0.4, prevalence=0.1)
    assert raw[[0, 1, 2, 5, 6, 7]].tolist() == [-inf, -1, 0, 1, 1.5, inf]
    assert (np.diff(raw) > 0).all()
    np.testing.assert_allclose(shift.reprior(raw[3:5], sample_prevalence=0.4, prevalence=0.1), [0.1, 0.5], rtol=1e-12)


def test_predictive_values_of_arrays() -> None:
    at = np.array([0.0, 0.5, 1.0])
    assert shift.ppv(0.9, 0.8, at).tolist() == pytest.approx([0, 0.9 / 1.1, 1])
    assert shift.npv(0.9, 0.8, at).tolist() == pytest.approx([1, 0.8 / 0.9, 0])
    assert np.isnan(shift.ppv(0.0, 1.0, 0.5))
    assert isinstance(shift.ppv(0.9, 0.8, 0.1), float)


# Prevalence curves.


def test_prevalence_curves() -> None:
    result = shift.prevalence_curve(simulate_tally(), ["precision", "f1"], threshold=0.4)
    assert list(result.columns) == [
        *("model", "group", "threshold", "prevalence", "measure", "value", "low", "high", "how", "why"),
    ]
    rows = result.rows()
    assert len(rows) == 2 * 199
    precision = [row for row in rows if row["measure"] == "precision"]
    assert {row["threshold"] for row in rows} == {0.4}
    assert [row["prevalence"] for row in precision] == sorted(row["prevalence"] for row in precision)
    assert all(row["low"] < row["value"] < row["high"] for row in rows)
    assert (np.diff([row["value"] for row in precision]) > 0).all()
    bare = shift.prevalence_curve(simulate_tally(), "precision", band=False)
    assert bare.data["level"] is None
    assert bare.rows()[0]["low"] is None
    assert bare.rows()[0]["threshold"] == 0.5
    plain = shift.prevalence_table(simulate_tally(), "precision", threshold=0.4)
    assert plain["precision"].tolist() == pytest.approx([row["value"] for row in precision])


def test_groups_have_curves_of_their_own() -> None:
    table = {"y": [1, 0, 1, 0, 1, 1], "p": [0.9, 0.6, 0.4, 0.1, 0.8, 0.7], "g": list("aaaabb")}
    data = read.tallies(table, truth="y", score="p", group="g")
    rows = shift.prevalence_curve(data, "accuracy", prevalences=[0.1, 0.2]).rows()
    assert [row["group"] for row in rows[::2]] == [None, {"g": "a"}, {"g": "b"}]
    assert rows[-1]["value"] is None
    assert rows[-1]["why"] == "there are no negatives, so that their rate is unknown"


def test_simulations_are_shared_by_all_prevalences() -> None:
    one, two = (shift.prevalence_curve(TABLE, "kappa", prevalences=at).rows()[0] for at in ([0.1], [0.1, 0.2]))
    assert one == two
    other = shift.prevalence_curve(TABLE, "kappa", prevalences=[0.1], seed=1).rows()[0]
    assert other["low"] != one["low"]


# Coverage of intervals; few replicates, so a wide tolerance.


@pytest.mark.slow
def test_coverage_at_a_known_prevalence() -> None:
    rng = np.random.default_rng(0)
    hits = dict.fromkeys(("precision", "npv", "accuracy", "flag_rate"), 0)
    sensitivity, specificity, to = 0.8, 0.95, 0.05
    truth = {
        "precision": shift.ppv(sensitivity, specificity, to),
        "npv": shift.npv(sensitivity, specificity, to),
        "accuracy": to * sensitivity + (1 - to) * specificity,
        "flag_rate": to * sensitivity + (1 - to) * (1 - specificity),
    }
    times = 400
    for _ in range(times):
        tp, fp = int(rng.binomial(50, sensitivity)), int(rng.binomial(100, 1 - specificity))
        deployment = shift.reweigh(Counts(tp=tp, fn=50 - tp, fp=fp, tn=100 - fp), prevalence=to)
        for name in hits:
            result = infer.estimate(name, deployment)
            hits[name] += result.low <= truth[name] <= result.high
    assert all(count >= 0.92 * times for count in hits.values()), hits
