"""Several classes with a wrong calibration: shares by the generalized method of moments, and performance."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

from baserate import FitError, MulticlassRows, shift
from baserate._rows import MulticlassTarget
from baserate.shift._estimators import MULTICLASS_METHODS as METHODS
from tests.tiers import slow, take_in_tiers

Floats = npt.NDArray[np.float64]
LABELS = ("a", "b", "c")
MEANS = np.array([[0.0, 0.0], [1.8, 0.0], [0.6, 1.7]])
SHARES = (0.1, 0.3, 0.6)
EQUAL = (1 / 3, 1 / 3, 1 / 3)


def simulate(
    rng: np.random.Generator, rows: int, shares: tuple[float, ...], *, wide: float = 2.0
) -> tuple[npt.NDArray[np.uint8], Floats]:
    """Classes, the last of which varies more, and posteriors of a model that assumes equal variances."""
    truth = rng.choice(3, size=rows, p=shares)
    x = MEANS[truth] + np.where(truth == 2, wide, 1.0)[:, None] * rng.normal(size=(rows, 2))
    z = (x @ MEANS.T - np.square(MEANS).sum(axis=1) / 2) / 2
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return truth.astype(np.uint8), p / p.sum(axis=1, keepdims=True)


def make_samples(
    seed: int, shares: tuple[float, ...] = SHARES, *, rows: tuple[int, int] = (2000, 4000), wide: float = 2.0
) -> tuple[MulticlassTarget, MulticlassRows]:
    rng = np.random.default_rng(seed)
    validation = MulticlassRows(*simulate(rng, rows[0], EQUAL, wide=wide), LABELS)
    return MulticlassTarget(simulate(rng, rows[1], shares, wide=wide)[1], LABELS), validation


@pytest.mark.slow
def test_the_default_covers_where_the_calibration_does_not_fit() -> None:
    """Of 40 samples, 95% less three errors are 34; maximum likelihood covers the last share in far fewer."""
    hit = {"gmm": np.zeros(3), "mlls": np.zeros(3)}
    disagree = 0
    for seed in range(40):
        actual = {
            "gmm": shift.estimate_prevalence(*make_samples(seed)),
            "mlls": shift.estimate_prevalence(*make_samples(seed), method="mlls"),
        }
        assert actual["gmm"].method == "gmm"
        for name, result in actual.items():
            hit[name] += [each.low <= q <= each.high for each, q in zip(result.estimates, SHARES, strict=True)]
        disagree += any("maximum likelihood (mlls) disagrees" in note for note in actual["gmm"].notes)
    assert (hit["gmm"] >= 34).all()
    assert hit["mlls"][2] < 24
    assert disagree > 20


def test_moments_are_those_of_the_formula() -> None:
    """Means, covariances and weights computed class by class, without the code under test."""
    t, v = make_samples(3)
    result = METHODS["gmm"](t, v)
    assert result.calibrator is not None
    a, b = (result.calibrator(score) / result.sample_prevalence for score in (t.score, v.score))
    near = np.linalg.solve(np.array([v.score[v.truth == k].mean(axis=0) for k in range(3)]).T, t.score.mean(axis=0))
    assert near.min() > 0
    q = 0.85 * near + 0.15 * v.support / 2000
    weight = q + q**2 * 4000 / v.support
    # Of each three columns one is redundant.
    new, old = (
        np.column_stack([each / (each @ weight)[:, None], p])[:, [0, 1, 3, 4]]
        for each, p in ((a, t.score), (b, v.score))
    )
    c = np.array([old[v.truth == k].mean(axis=0) for k in range(3)]).T
    s = [np.cov(old[v.truth == k].T) / v.support[k] for k in range(3)]
    for _ in range(2):
        w = np.linalg.inv(np.cov(new.T) / 4000 + sum(share**2 * each for share, each in zip(near, s, strict=True)))
        trace = np.diag([np.trace(w @ each) for each in s])
        # Least squares with the sum as a side condition, by a Lagrange multiplier.
        system = np.block([[c.T @ w @ c - trace, np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]])
        near = np.linalg.solve(system, np.append(c.T @ w @ new.mean(axis=0), 1.0))[:3]
    np.testing.assert_allclose(result.unclipped, near, atol=1e-7)


@pytest.mark.parametrize(("samples", "near"), [(30, 0.4), slow(100, 0.2)])
def test_the_covariance_of_moments_is_that_of_many_samples(samples: int, near: float) -> None:
    result = [METHODS["gmm"](*make_samples(seed, rows=(600, 1000), wide=1.0)) for seed in range(samples)]
    observed = np.std([each.unclipped for each in result], axis=0)
    errors = np.sqrt(np.mean([np.diag(each.covariance) for each in result], axis=0))
    np.testing.assert_allclose(errors, observed, rtol=near)
    np.testing.assert_allclose(np.mean([each.unclipped for each in result], axis=0), SHARES, atol=0.06 * near)


def test_gmm_is_about_as_precise_as_likelihood_where_the_calibration_fits() -> None:
    widths = np.array(
        [
            [
                [each.high - each.low for each in METHODS[name](*make_samples(seed, wide=1.0)).estimates]
                for seed in range(5)
            ]
            for name in ("gmm", "mlls", "pacc")
        ]
    ).mean(axis=1)
    assert (widths[0] < 1.15 * widths[1]).all()
    assert (widths[0] < widths[2]).all()


def test_separable_classes_need_no_likelihood_ratios() -> None:
    truth = np.repeat([0, 1, 2], 20).astype(np.uint8)
    score = 0.1 + 0.7 * np.eye(3)[truth]
    t, v = MulticlassTarget(score[:50], LABELS), MulticlassRows(truth, score, LABELS)
    result = METHODS["gmm"](t, v)
    np.testing.assert_allclose(result.value, [0.4, 0.4, 0.2], atol=1e-9)
    assert "only mean probabilities are compared" in result.notes[0]
    assert all(each.low < each.value < each.high for each in result.estimates)
    results = shift.estimate_performance(t, v, assume="label shift", measures=["accuracy"])
    assert results.rows()[-1]["value"] == pytest.approx(1.0)


def test_label_shift_test_does_not_depend_on_the_calibration() -> None:
    assert sum(shift.label_shift_test(*make_samples(seed)).rejected for seed in range(20)) <= 4
    t, v = make_samples(0)
    flat = np.sqrt(t.score)
    other = MulticlassTarget(flat / flat.sum(axis=1, keepdims=True), LABELS)
    result = shift.label_shift_test(other, v)
    assert result.rejected
    assert result.summary[0].startswith("The unlabelled scores are not a mixture of the classes (p < 0.0001)")
    assert "no shares explain all mean features" in " ".join(shift.estimate_prevalence(other, v).notes)


def test_performance_under_label_shift_adds_up_to_the_shares() -> None:
    t, v = make_samples(5)
    shares = shift.estimate_prevalence(t, v)
    result = shift.estimate_performance(t, v, assume="label shift", measures=["accuracy", "sensitivity"])
    cells = np.array([row["value"] for row in result.rows() if row["measure"] == "cell"]).reshape(3, 3)
    np.testing.assert_allclose(cells.sum(axis=1) / 4000, shares.value, atol=1e-9)
    # The estimate uses decisions of the target itself, and is nearer to them than rates of validation alone.
    decisions = np.bincount(t.score.argmax(axis=1), minlength=3) / 4000
    table = shift.reweigh(v.confusion(), prevalence=shares.value.tolist()).mass
    rates = table.sum(axis=0) / table.sum()
    assert np.abs(cells.sum(axis=0) / 4000 - decisions).sum() < np.abs(rates - decisions).sum()


def expected_accuracy(assume: str) -> float:
    """Accuracy in a large sample; under covariate shift, with the class probabilities of equally frequent classes."""
    truth, score = simulate(np.random.default_rng(0), 200_000, SHARES)
    decisions = score.argmax(axis=1)
    if assume == "label shift":
        return float(np.mean(truth == decisions))
    apart = 2 * np.log(score[:, 1:] / score[:, :1]) + np.square(MEANS[1:]).sum(axis=1) / 2
    x = np.linalg.solve(MEANS[1:], apart.T).T
    density = np.exp(-np.square(x[:, None] - MEANS).sum(axis=2) / np.array([2, 2, 8])) / [1, 1, 4]
    return float(np.mean(density[np.arange(len(x)), decisions] / density.sum(axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize("assume", take_in_tiers(["label shift", "covariate shift"]))
def test_performance_covers_where_the_calibration_does_not_fit(
    assume: Literal["label shift", "covariate shift"],
) -> None:
    """With recalibrated probabilities alone, 28 and 14 of 40 intervals covered."""
    expected, hit = expected_accuracy(assume), 0
    for seed in range(40):
        result = shift.estimate_performance(*make_samples(seed), assume=assume, measures=["accuracy"]).rows()[-1]
        hit += result["low"] <= expected <= result["high"]
    assert hit >= 34


def test_performance_under_covariate_shift_is_a_regression() -> None:
    """Row by row: errors of recalibrated probabilities, regressed within decisions, and HC3 with the target's part."""
    t, v = make_samples(8)
    result = shift.estimate_performance(t, v, assume="covariate shift", measures=["accuracy"])
    row = result.rows()[-1]
    actual = METHODS["mlls"](t, v).calibrator
    assert actual is not None
    new, old, truth = actual(t.score), actual(v.score), v.truth
    decisions, before = t.score.argmax(axis=1), v.score.argmax(axis=1)
    expected, spread = np.empty(4000), 0.0
    for d in range(3):
        new_rows, old_rows = decisions == d, before == d
        b, x = (np.column_stack([np.ones(len(p)), p, np.sqrt(p), p**2]) for p in (new[new_rows], old[old_rows]))
        error = (truth[old_rows] == d) - old[old_rows, d]
        slopes = np.linalg.lstsq(x, error)[0]
        expected[new_rows] = new[new_rows, d] + b @ slopes
        inverse = np.linalg.pinv(x)
        left = (error - x @ slopes) / (1 - np.einsum("ij,ji->i", x, inverse))
        spread += float(np.sum((b.sum(axis=0) @ inverse * left) ** 2)) / 4000**2
    assert row["value"] == pytest.approx(expected.mean(), abs=1e-7)
    error = np.sqrt(expected.var() / 4000 + spread)
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(error, rel=0.02)
    assert "the calibration curve does not fit the validation data" in result.data["notes"][-1]


def test_target_scores_outside_validation_raise() -> None:
    _, v = make_samples(1)
    few = v.only(v.score.max(axis=1) < 0.6)
    _, score = simulate(np.random.default_rng(2), 4000, EQUAL)
    far = MulticlassTarget(score[score.max(axis=1) > 0.9], LABELS)
    with pytest.raises(FitError, match=r"% of the rows of some decision have scores where validation has none"):
        shift.estimate_performance(far, few, assume="covariate shift", measures=["accuracy"])


@pytest.mark.parametrize("assume", ["label shift", "covariate shift"])
def test_counts_are_repetitions_in_performance(assume: Literal["label shift", "covariate shift"]) -> None:
    t, v = make_samples(1, rows=(400, 400))
    few, many = np.random.default_rng(9).integers(1, 4, size=(2, 400))
    repeated = (
        MulticlassTarget(np.repeat(t.score, few, axis=0), LABELS),
        MulticlassRows(np.repeat(v.truth, many), np.repeat(v.score, many, axis=0), LABELS),
    )
    both: list[list[dict[str, Any]]] = [
        shift.estimate_performance(*each, assume=assume, measures=["accuracy", "precision"]).rows()
        for each in ((replace(t, count=few), replace(v, count=many)), repeated)
    ]
    for one, other in zip(*both, strict=True):
        for name in ("value", "low", "high"):
            assert one[name] is other[name] is None or one[name] == pytest.approx(other[name], rel=1e-5)


def test_the_scale_of_weights_does_not_matter_in_performance() -> None:
    t, v = make_samples(1, rows=(400, 400))
    new, old = np.random.default_rng(9).uniform(0.5, 2, size=(2, 400))
    for assume in ("label shift", "covariate shift"):
        light, heavy, plain = (
            shift.estimate_performance(*each, assume=assume, measures=["accuracy"]).rows()[-1]
            for each in (
                (replace(t, weight=new), replace(v, weight=old)),
                (replace(t, weight=5 * new), replace(v, weight=0.1 * old)),
                (t, v),
            )
        )
        assert heavy["low"] == pytest.approx(light["low"], rel=1e-6)
        assert light["high"] - light["low"] > plain["high"] - plain["low"]


def test_labelled_rows_of_the_target_narrow_intervals_of_performance() -> None:
    t, v = make_samples(1, rows=(400, 400))
    labelled = MulticlassRows(*simulate(np.random.default_rng(4), 500, SHARES), LABELS)
    with_truth, without = (
        shift.estimate_performance(each, v, assume="label shift", measures=["precision"]).rows()
        for each in (replace(t, labelled=labelled), t)
    )
    for one, other in zip(with_truth, without, strict=True):
        if one["measure"] == "precision":
            assert one["high"] - one["low"] < other["high"] - other["low"]


def test_decisions_with_few_validation_rows_have_intervals() -> None:
    t, v = make_samples(1, rows=(400, 400))
    few = [(p.argmax(axis=1) != 2) | (np.cumsum(p.argmax(axis=1) == 2) <= 8) for p in (t.score, v.score)]
    result = shift.estimate_performance(
        MulticlassTarget(t.score[few[0]], LABELS), v.only(few[1]), assume="covariate shift", measures=["accuracy"]
    )
    row = result.rows()[-1]
    assert row["low"] < row["value"] < row["high"]


def test_precision_of_a_class_that_may_be_absent_may_be_0() -> None:
    t, v = make_samples(2, (0.6, 0.4, 0.0), rows=(300, 600))
    shares = shift.estimate_prevalence(t, v)
    assert shares.estimates[2].low == 0
    result = shift.estimate_performance(t, v, assume="label shift", measures=["precision"])
    for results in (result, shift.adjusted_summary(shares, measures=["precision"])):
        row = next(row for row in results.rows() if row["measure"] == "precision" and row["class"] == "c")
        assert row["low"] < 1e-6
