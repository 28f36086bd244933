"""Shares of several classes in unlabelled data: laws of all estimators, simulated intervals, and errors."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, reject, strategies as st

from baserate import (
    FitError,
    MissingValuesError,
    MulticlassRows,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    Target,
    UnknownLabelError,
    UnknownNameError,
    infer,
    measure,
    shift,
    tally,
)
from baserate._results import Estimate
from baserate._rows import MulticlassTarget
from baserate.calibration.multiclass import reprior
from baserate.shift import MulticlassPrevalence
from baserate.shift._estimators import MULTICLASS_METHODS as METHODS
from tests.tiers import take_in_tiers

Floats = npt.NDArray[np.float64]
LABELS = ("a", "b", "c")
PI = (0.5, 0.3, 0.2)
MEANS = np.array([[0.0, 0.0], [1.8, 0.0], [0.6, 1.7]])
OF_VALUE = [name for name in METHODS if name != "gmm" and not name.endswith("map")]
"""Methods whose value does not depend on how many rows the target has."""
SEEDS = st.integers(0, 5000)


def simulate(seed: int, rows: int, shares: Any = PI, *, apart: float = 1.0) -> tuple[npt.NDArray[np.uint8], Floats]:  # noqa: ANN401
    """Classes, and overconfident probabilities for other shares."""
    rng = np.random.default_rng(seed)
    means = apart * MEANS
    truth = rng.choice(3, size=rows, p=shares)
    x = means[truth] + rng.normal(size=(rows, 2))
    z = 1.7 * (x @ means.T - np.square(means).sum(axis=1) / 2 + np.log(PI)) + [0.4, -0.2, 0.0]
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return truth.astype(np.uint8), p / p.sum(axis=1, keepdims=True)


def validation(seed: int = 0, rows: int = 300, **options: Any) -> MulticlassRows:  # noqa: ANN401
    return MulticlassRows(*simulate(seed + 10_000, rows, **options), LABELS)


def target(seed: int = 0, rows: int = 400, shares: Any = (0.2, 0.3, 0.5), **options: Any) -> MulticlassTarget:  # noqa: ANN401
    return MulticlassTarget(simulate(seed, rows, shares)[1], LABELS, **options)


def estimate_or_reject(name: str, t: MulticlassTarget, v: MulticlassRows) -> MulticlassPrevalence:
    """The shares; reject the example if its scores do not separate the classes."""
    try:
        return METHODS[name](t, v)
    except FitError:
        reject()


def assert_equal_shares(
    one: MulticlassPrevalence,
    other: MulticlassPrevalence,
    *,
    order: Any = slice(None),  # noqa: ANN401
    atol: float = 1e-9,
) -> None:
    """Values, intervals and covariance are the same."""
    assert one.labels == tuple(np.array(other.labels)[order])
    np.testing.assert_allclose(one.value, other.value[order], atol=atol)
    np.testing.assert_allclose(one.unclipped, other.unclipped[order], atol=atol)
    np.testing.assert_allclose(one.covariance, other.covariance[order][:, order], atol=atol)
    bounds = [np.array([(each.low, each.high) for each in shares.estimates]) for shares in (one, other)]
    np.testing.assert_allclose(bounds[0], bounds[1][order], atol=atol)


@pytest.mark.parametrize("name", METHODS)
def test_result_fields_are_consistent(name: str) -> None:
    result = METHODS[name](target(), validation())
    assert result.method == name
    assert (result.rows, result.labelled) == (400, 0)
    assert result.value.sum() == pytest.approx(1)
    assert result.unclipped.sum() == pytest.approx(1)
    np.testing.assert_allclose(result.covariance, result.covariance.T, atol=1e-12)
    np.testing.assert_allclose(result.covariance.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(result.sample_prevalence, validation().support / 300, atol=1e-9)
    for each in result.estimates:
        assert 0 <= each.low < each.value < each.high <= 1
    assert f"; {name}, 400 rows)" in repr(result)
    np.testing.assert_allclose(result.value, [0.2, 0.3, 0.5], atol=0.16)


# The random points of kdey-hd depend on the order of the classes.
@pytest.mark.quick(1)
@pytest.mark.parametrize("name", take_in_tiers([name for name in METHODS if name != "kdey-hd"], 3))
@given(seed=SEEDS, order=st.permutations(range(3)))
def test_classes_in_another_order_have_the_same_shares(name: str, seed: int, order: list[int]) -> None:
    t, v = target(seed, 80), validation(seed, 150)
    labels = tuple(LABELS[at] for at in order)
    turned = MulticlassRows(np.argsort(order)[v.truth].astype(np.uint8), v.score[:, order], labels)
    assert_equal_shares(estimate_or_reject(name, t, turned), estimate_or_reject(name, t, v), order=order, atol=1e-7)
    # The target may have another order than validation.
    assert_equal_shares(
        estimate_or_reject(name, MulticlassTarget(t.score[:, order], labels), v), estimate_or_reject(name, t, v)
    )


@pytest.mark.parametrize("name", take_in_tiers(OF_VALUE, 3))
@given(seed=SEEDS, times=st.integers(2, 4))
def test_a_duplicated_target_has_the_same_shares(name: str, seed: int, times: int) -> None:
    t, v = target(seed, 60), validation(seed, 150)
    again = estimate_or_reject(name, MulticlassTarget(np.tile(t.score, (times, 1)), LABELS), v)
    np.testing.assert_allclose(again.value, estimate_or_reject(name, t, v).value, atol=1e-9)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", take_in_tiers(METHODS, 3))
@given(seed=SEEDS)
def test_counts_are_repetitions_in_both_samples(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, v = target(seed, 60), validation(seed, 150)
    few, many = rng.integers(4, size=60), rng.integers(1, 4, size=150)
    few[0] = 1
    counted = estimate_or_reject(name, replace(t, count=few), replace(v, count=many))
    score, truth = np.repeat(v.score, many, axis=0), np.repeat(v.truth, many)
    repeated = estimate_or_reject(
        name, MulticlassTarget(np.repeat(t.score, few, axis=0), LABELS), MulticlassRows(truth, score, LABELS)
    )
    assert_equal_shares(counted, repeated, atol=1e-7)
    assert counted.rows == repeated.rows == few.sum()


@pytest.mark.parametrize("name", ["gmm", *OF_VALUE])
def test_the_scale_of_weights_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(5)
    t, v = target(), validation()
    new, old = rng.uniform(0.5, 2, 400), rng.uniform(0.5, 2, 300)
    one = METHODS[name](replace(t, weight=new), replace(v, weight=old))
    other = METHODS[name](replace(t, weight=7 * new), replace(v, weight=0.1 * old))
    assert_equal_shares(one, other, atol=1e-8)
    known = MulticlassRows(*simulate(8, 50, (0.2, 0.3, 0.5)), LABELS)
    light, heavy = (
        METHODS[name](replace(t, weight=by * new, labelled=replace(known, weight=by * new[:50])), v) for by in (1, 7)
    )
    assert_equal_shares(light, heavy, atol=1e-8)
    assert heavy.labelled == 50
    plain, even = METHODS[name](t, v), METHODS[name](replace(t, weight=np.full(400, 3.0)), v)
    assert_equal_shares(even, plain, atol=1e-8)
    assert np.diag(one.covariance).sum() > 0.98 * np.diag(plain.covariance).sum()


@pytest.mark.parametrize("name", METHODS)
def test_rows_without_weight_do_not_count(name: str) -> None:
    t, v = target(), validation()
    weight, other = np.ones(400), np.ones(300)
    weight[:50], other[:30] = 0, 0
    rest = MulticlassRows(v.truth[30:], v.score[30:], LABELS)
    assert_equal_shares(
        METHODS[name](replace(t, weight=weight), replace(v, weight=other)),
        METHODS[name](MulticlassTarget(t.score[50:], LABELS), rest),
    )


@pytest.mark.parametrize("recalibrate", ["bias-corrected", "vector"])
@pytest.mark.parametrize("seed", range(3))
def test_validation_rows_as_target_have_their_own_shares(recalibrate: str, seed: int) -> None:
    v = validation(seed)
    result = METHODS["mlls"](MulticlassTarget(v.score, LABELS), v, recalibrate=recalibrate)
    np.testing.assert_allclose(result.value, v.support / v.total, atol=1e-9)
    assert result.calibrator is not None
    assert result.calibrator.method == recalibrate


@pytest.mark.parametrize("name", ["acc", "pacc", "cm-l", "scm-l", "rlls"])
def test_linear_methods_estimate_the_shares_of_validation(name: str) -> None:
    v = validation()
    result = METHODS[name](MulticlassTarget(v.score, LABELS), v)
    np.testing.assert_allclose(result.value, v.support / v.total, atol=1e-9)


def test_inside_the_simplex_methods_agree() -> None:
    t, v = target(), validation()
    for one, others in {"acc": ["cm-l", "rlls-hard"], "pacc": ["scm-l", "rlls"]}.items():
        for other in others:
            np.testing.assert_allclose(METHODS[other](t, v).value, METHODS[one](t, v).value, atol=1e-4)


def test_uncalibrated_probabilities_may_hold_at_other_shares() -> None:
    t, v = target(), validation()
    actual = METHODS["mlls"](t, v, recalibrate=None)
    assert actual.calibrator is None
    adjust = reprior(sample_prevalence=actual.sample_prevalence, prevalence=[0.2, 0.2, 0.6], labels=LABELS)
    result = METHODS["mlls"](
        MulticlassTarget(adjust(t.score), LABELS),
        replace(v, score=adjust(v.score)),
        recalibrate=None,
        sample_prevalence={"c": 0.6, "a": 0.2, "b": 0.2},
    )
    np.testing.assert_allclose(result.value, actual.value, atol=1e-9)
    np.testing.assert_allclose(result.covariance, actual.covariance, atol=1e-9)
    for wrong in ([0.5, 0.5], [0.5, 0.5, 0.5], [1.0, 0.0, 0.0], {"a": 1.0}):
        with pytest.raises(OptionError, match="sample_prevalence "):
            METHODS["mlls"](t, v, recalibrate=None, sample_prevalence=wrong)
    with pytest.raises(OptionError, match="sample_prevalence= is for probabilities that are not recalibrated"):
        METHODS["mlls"](t, v, sample_prevalence=[0.2, 0.2, 0.6])
    with pytest.raises(OptionError, match="recalibrate is 'isotonic'"):
        METHODS["mlls"](t, v, recalibrate="isotonic")


@pytest.mark.slow
@pytest.mark.parametrize("recalibrate", ["bias-corrected", "vector", "temperature"])
def test_the_covariance_is_that_of_many_samples(recalibrate: str) -> None:
    """The linearised covariance beside that of estimates from new rows on both sides."""
    result = [
        METHODS["mlls"](target(seed, 2000), validation(seed, 1500), recalibrate=recalibrate) for seed in range(200)
    ]
    observed = np.cov(np.array([each.unclipped for each in result]).T)
    output = np.mean([each.covariance for each in result], axis=0)
    np.testing.assert_allclose(np.sqrt(np.diag(output)), np.sqrt(np.diag(observed)), rtol=0.16)
    alone = METHODS["mlls"](target(0, 2000), validation(0, 1500), recalibrate=None)
    assert np.diag(output).sum() > 1.3 * np.diag(alone.covariance).sum()


@pytest.mark.slow
@pytest.mark.parametrize("shares", take_in_tiers([(0.2, 0.3, 0.5), (0.6, 0.4, 0.0), (0.9, 0.09, 0.01)]))
@pytest.mark.parametrize("name", take_in_tiers(["gmm", "mlls", "acc", "pacc"], 2))
def test_intervals_cover(name: str, shares: tuple[float, ...]) -> None:
    """In 150 replicates nominal 95% intervals may cover in 89% (three standard errors); longer runs gave 94% to 99%."""
    hit = np.zeros(3)
    for seed in range(150):
        result = METHODS[name](target(seed, 600, shares), validation(seed))
        hit += [each.low <= share <= each.high for each, share in zip(result.estimates, shares, strict=True)]
        assert all(each.high - each.low > 0.003 for each in result.estimates)
    assert (hit / 150 >= 0.89).all()


def test_intervals_have_positive_width_without_errors() -> None:
    """A classifier without errors, and a class that is absent from the target."""
    truth = np.repeat([0, 1, 2], 20).astype(np.uint8)
    v = MulticlassRows(truth, np.eye(3)[truth], LABELS)
    result = METHODS["acc"](MulticlassTarget(np.eye(3)[[0, 1] * 50], LABELS), v)
    assert result.value.tolist() == [0.5, 0.5, 0.0]
    assert result.estimates[2].low == 0
    assert result.estimates[2].high == pytest.approx(1 - 0.025 ** (1 / 100))  # Clopper and Pearson
    assert result.estimates[0].low == pytest.approx(0.5 - 1.959963984540054 * (0.25 / 99) ** 0.5)


def test_shares_outside_the_simplex_are_noted() -> None:
    v = validation()
    result = METHODS["acc"](target(1, 100, (0.0, 0.0, 1.0)), v)
    assert result.unclipped.min() < 0 or result.unclipped.max() > 1
    assert 0 <= result.value.min() < result.value.max() <= 1
    assert "unclipped, the shares are outside [0, 1]" in result.notes[-1]
    likely = METHODS["mlls"](target(1, 100, (0.0, 0.0, 1.0)), v)
    assert (likely.value == 0).any()
    assert "is 0: the likelihood would rise below it" in likely.notes[0]


@pytest.mark.parametrize("name", METHODS)
def test_labelled_rows_narrow_intervals(name: str) -> None:
    t, v = target(), validation()
    truth, score = simulate(77, 500, (0.2, 0.3, 0.5))
    both = METHODS[name](replace(t, labelled=MulticlassRows(truth, score, LABELS)), v)
    assert both.labelled == 500
    assert (np.diag(both.covariance) < np.diag(METHODS[name](t, v).covariance)).all()
    share = np.bincount(truth) / 500
    # The likelihood takes the calibration as exact, so that unlabelled rows get a little too much weight.
    assert (np.diag(both.covariance) < (1.05 if name == "mlls" else 1) * share * (1 - share) / 500).all()
    np.testing.assert_allclose(both.value, share, atol=0.06)


def test_labelled_rows_enter_the_likelihood_as_certain_ones() -> None:
    t, v = target(), validation()
    known = MulticlassRows(np.array([0, 0, 1, 2], dtype=np.uint8), np.full((4, 3), 1 / 3), LABELS)
    result = METHODS["mlls"](replace(t, labelled=known), v, recalibrate=None)
    certain = MulticlassTarget(np.vstack([t.score, np.eye(3)[known.truth]]), LABELS)
    same = METHODS["mlls"](certain, v, recalibrate=None)
    np.testing.assert_allclose(result.value, same.value, atol=1e-10)
    np.testing.assert_allclose(result.covariance, same.covariance, atol=1e-10)


def test_probabilities_of_0_are_noted() -> None:
    t, v = target(), validation()
    score = np.where(t.score < 0.05, 0.0, t.score)
    score /= score.sum(axis=1, keepdims=True)
    certain = MulticlassTarget(score, LABELS)
    for options in ({}, {"recalibrate": None}, {"recalibrate": "vector"}):
        result = METHODS["mlls"](certain, v, **options)
        assert np.isfinite(result.covariance).all()
        assert f"{np.count_nonzero(score == 0)} of 1200 probabilities of the unlabelled data are exactly 0" in " ".join(
            result.notes
        )


def test_estimate_prevalence_finds_methods_by_name() -> None:
    truth, score = simulate(1, 300)
    target, rows = MulticlassTarget(simulate(2, 300)[1], LABELS), MulticlassRows(truth, score, LABELS)
    for alias in ("EMQ", "bbse", "scm-l", "cm"):
        result = shift.estimate_prevalence(target, rows, method=alias)
        assert isinstance(result, MulticlassPrevalence)
        assert result.method == shift.ALIASES.get(alias.lower(), alias)
    with pytest.raises(UnknownNameError, match="there is no method 'pac'"):
        shift.estimate_prevalence(target, rows, method="pac")
    for name in ("binned", "hdy"):
        with pytest.raises(OptionError, match="it is for two classes"):
            shift.estimate_prevalence(target, rows, method=name)
    with pytest.raises(OptionError, match="threshold= has no use for acc; its options are level"):
        shift.estimate_prevalence(target, rows, method="acc", threshold=0.3)
    with pytest.raises(OptionError, match="give MulticlassRows for a MulticlassTarget"):
        shift.estimate_prevalence(target, rows.against_rest(0))  # type: ignore[call-overload]
    raw = shift.estimate_prevalence(target, rows, recalibrate=False)
    assert raw.calibrator is None
    assert shift.estimate_prevalence(target, rows, recalibrate=True).calibrator is not None


def test_posteriors_of_classes_are_adjusted_to_the_estimate() -> None:
    truth, score = simulate(3, 600)
    target, rows = MulticlassTarget(simulate(4, 900, (0.2, 0.3, 0.5))[1], LABELS), MulticlassRows(truth, score, LABELS)
    result = shift.estimate_prevalence(target, rows, method="mlls")
    actual = shift.posterior_calibrator(result)
    assert actual.labels == LABELS
    # The last step of EM: at the likeliest shares the mean posterior is the share.
    assert actual(target.score).mean(axis=0) == pytest.approx(result.value, abs=1e-8)
    other = shift.posterior_calibrator(
        shift.estimate_prevalence(target, rows, method="pacc"), prevalence={"a": 0.1, "b": 0.1, "c": 0.8}
    )
    assert other(target.score)[:, 2].mean() > actual(target.score)[:, 2].mean()
    raw = shift.estimate_prevalence(target, rows, method="mlls", recalibrate=False)
    assert shift.posterior_calibrator(raw)(score) == pytest.approx(
        reprior(sample_prevalence=raw.sample_prevalence, prevalence=raw.value, labels=LABELS)(score)
    )
    with pytest.raises(OptionError, match="share of 0"):
        shift.posterior_calibrator(result, prevalence=[0.0, 0.5, 0.5])


def test_measures_of_classes_at_estimated_shares() -> None:
    truth, score = simulate(5, 800)
    target, rows = MulticlassTarget(simulate(6, 900, (0.2, 0.3, 0.5))[1], LABELS), MulticlassRows(truth, score, LABELS)
    result = shift.estimate_prevalence(target, rows)
    results = shift.adjusted_summary(
        result, measures=["accuracy", "precision", "mcc"], averages=["macro", {"a": 1, "b": 1, "c": 2}]
    )
    table = shift.reweigh(rows.confusion(), prevalence=result.value.tolist())
    rows_of = {
        (row["measure"], row["class"], row["average"]): row for row in results.rows() if row["measure"] != "cell"
    }
    assert rows_of["accuracy", None, None]["value"] == pytest.approx(measure.multiclass.accuracy(table))
    assert rows_of["precision", "b", None]["value"] == pytest.approx(measure.precision(table.one_vs_rest())[1])
    assert set(rows_of) >= {("precision", None, "macro"), ("precision", None, "custom"), ("mcc", None, None)}
    known = infer.estimate("accuracy", table)
    row = rows_of["accuracy", None, None]
    assert row["high"] - row["low"] > 0.9 * (known.high - known.low)
    assert all(each["low"] <= each["value"] <= each["high"] for each in rows_of.values())
    assert results.data["prevalences"]["c"] == result.value[2]
    again = shift.adjusted_summary(result, measures=["accuracy"])
    assert again.rows()[-1]["low"] == shift.adjusted_summary(result, measures=["accuracy"]).rows()[-1]["low"]
    with pytest.raises(OptionError, match="highest score decides"):
        shift.adjusted_summary(result, threshold=0.5)


def test_label_shift_of_classes_is_described() -> None:
    truth, score = simulate(7, 800)
    rows = MulticlassRows(truth, score, LABELS)
    fits = shift.label_shift_test(MulticlassTarget(simulate(8, 900, (0.2, 0.3, 0.5))[1], LABELS), rows)
    assert [check.name for check in fits.checks] == ["overidentification"]
    assert fits.checks[0].freedom == 2
    assert len(fits.summary) == 2
    with pytest.raises(OptionError, match="give a MulticlassTarget and MulticlassRows"):
        shift.label_shift_test(MulticlassTarget(score, LABELS), rows.against_rest(0))


@pytest.mark.parametrize("name", METHODS)
def test_classes_missing_from_validation_raise(name: str) -> None:
    t, v = target(), validation()
    with pytest.raises(FitError, match=r"^b has no row among 2\d\d of validation"):
        METHODS[name](t, v.only(v.truth != 1))
    few = v.only((v.truth != 1) | (np.cumsum(v.truth == 1) == 1))
    with pytest.raises(FitError, match="b has a single row"):
        METHODS[name](t, few)
    # A row with a count of 2 is two rows.
    assert METHODS["acc"](t, replace(few, count=np.where(few.truth == 1, 2, 1))).rows == 400


@pytest.mark.parametrize("name", METHODS)
def test_uninformative_scores_raise(name: str) -> None:
    t, v = target(), validation()
    with pytest.raises(FitError):
        METHODS[name](t, replace(v, score=np.full((300, 3), 1 / 3)))
    blind = np.random.default_rng(0).permutation(v.score)
    with pytest.raises(FitError, match="no information about the shares of"):
        METHODS[name](t, replace(v, score=blind))
    # Two classes that look alike, beside one that does not.
    truth, score = simulate(3, 600)
    halves = np.where(truth == 1, 1 + np.random.default_rng(1).integers(2, size=600), truth)
    halves[truth == 2] = 0
    with pytest.raises(FitError, match=r"no information about the shares of (b, c|c, b):"):
        METHODS[name](t, MulticlassRows(halves.astype(np.uint8), score, LABELS))


def test_rank_test_of_two_classes_is_fieller() -> None:
    """Scores are refused exactly where (m₁ − m₀)² is no more than z² times its variance."""
    rng, refused = np.random.default_rng(0), []
    for _ in range(200):
        truth = np.repeat([0, 1], 30).astype(np.uint8)
        p = np.clip(rng.normal(0.5, 0.1, 60) + 0.05 * truth, 0.01, 0.99)
        one, none = p[truth == 1], p[truth == 0]
        t = (one.mean() - none.mean()) ** 2 / (one.var(ddof=1) / 30 + none.var(ddof=1) / 30)
        rows = MulticlassRows(truth, np.column_stack([1 - p, p]), (0, 1))
        try:
            METHODS["pacc"](MulticlassTarget(rows.score, (0, 1)), rows)
        except FitError:
            refused.append(t)
        else:
            assert t > 1.959963984540054**2
    assert max(refused) <= 1.959963984540054**2
    assert len(refused) > 50


def test_different_labels_raise() -> None:
    t, v = target(), validation()
    with pytest.raises(UnknownLabelError, match="the target has no score for c, a class of validation"):
        METHODS["acc"](MulticlassTarget(t.score[:, :2], ("a", "b")), v)
    with pytest.raises(UnknownLabelError, match="the target has scores for d, no class of validation"):
        METHODS["acc"](MulticlassTarget(np.column_stack([t.score, t.score[:, 0]]), (*LABELS, "d")), v)


@pytest.mark.parametrize("name", METHODS)
def test_missing_scores_of_validation_raise(name: str) -> None:
    v = validation()
    score = v.score.copy()
    score[3, 1] = np.nan
    with pytest.raises(MissingValuesError, match="1 of 900 scores of validation are NaN"):
        METHODS[name](target(), replace(v, score=score))


def test_only_methods_of_decisions_take_any_score() -> None:
    t, v = target(), validation()
    logs = MulticlassTarget(np.log(t.score), LABELS), replace(v, score=np.log(v.score))
    np.testing.assert_allclose(METHODS["acc"](*logs).value, METHODS["acc"](t, v).value)
    for name in ("mlls", "pacc", "scm-l", "scm-map", "rlls"):
        with pytest.raises(NotAProbabilityError, match="target: in 400 of 400 rows"):
            METHODS[name](logs[0], v)
        with pytest.raises(NotAProbabilityError, match="validation: in 300 of 300 rows"):
            METHODS[name](t, logs[1])


def test_scores_on_another_scale_are_noted() -> None:
    t, v = target(), validation()
    result = METHODS["acc"](MulticlassTarget(100 * t.score, LABELS), v)
    assert "as if they were on two scales" in result.notes[0]
    assert not METHODS["acc"](t, v).notes
    assert "were not recalibrated" in METHODS["mlls"](t, v, recalibrate=None).notes[0]


def test_separable_classes_cannot_be_recalibrated() -> None:
    truth = np.repeat([0, 1, 2], 20).astype(np.uint8)
    score = 0.1 + 0.7 * np.eye(3)[truth]
    with pytest.raises(FitError, match=r"cannot be recalibrated on the validation data: .* Or estimate by acc or pacc"):
        METHODS["mlls"](MulticlassTarget(score, LABELS), MulticlassRows(truth, score, LABELS))


def test_options_at_and_beyond_their_limits() -> None:
    t, v = target(), validation()
    with pytest.raises(OptionError, match=r"alpha is 0\.5"):
        METHODS["cm-map"](t, v, alpha=0.5)
    with pytest.raises(OptionError, match="delta 2"):
        METHODS["rlls"](t, v, delta=2)
    np.testing.assert_allclose(METHODS["cm-map"](t, v, alpha=1).value, METHODS["cm-l"](t, v).value)
    np.testing.assert_allclose(METHODS["cm-map"](t, v, alpha=1e9).value, 1 / 3, atol=1e-5)
    np.testing.assert_allclose(METHODS["rlls"](t, v, alpha=1e3).value, v.support / 300)
    wide, narrow = (METHODS["mlls"](t, v, level=level).estimates[0] for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_result_of_another_shape_raises() -> None:
    result = METHODS["acc"](target(), validation())
    with pytest.raises(ShapeError, match="3 classes need 3 estimates"):
        replace(result, estimates=(Estimate(1.0),))


def test_repr_abbreviates_many_classes() -> None:
    width = 9
    one, none = Estimate(1 / 9, low=0.1, high=0.2), np.zeros((width, width))
    few: dict[str, Any] = {"labels": tuple(range(width)), "estimates": (one,) * width, "covariance": none}
    result = replace(METHODS["acc"](target(), validation()), rows=4, labelled=2, **few)
    assert repr(result).endswith("5 0.111 [0.1, 0.2], and 3 more; acc, 4 rows and 2 labelled)")


def test_a_single_class_and_invalid_levels_raise() -> None:
    one = MulticlassRows(np.zeros(3, dtype=np.uint8), np.ones((3, 1)), ("a",))
    with pytest.raises(FitError, match="there is only one class, a"):
        METHODS["acc"](MulticlassTarget(np.ones((2, 1)), ("a",)), one)
    for name in METHODS:
        with pytest.raises(OptionError, match=r"level is 95"):
            METHODS[name](target(), validation(), level=95)


@pytest.mark.parametrize("name", METHODS)
def test_single_precision_scores(name: str) -> None:
    t, v = target(), validation()
    half = METHODS[name](
        MulticlassTarget(t.score.astype(np.float32), LABELS), replace(v, score=v.score.astype(np.float32))
    )
    np.testing.assert_allclose(half.value, METHODS[name](t, v).value, atol=1e-5)


def test_a_class_with_probability_0_in_all_rows_has_share_0() -> None:
    score = np.column_stack([simulate(0, 200)[1][:, :2], np.zeros(200)])
    result = METHODS["mlls"](
        MulticlassTarget(score / score.sum(axis=1, keepdims=True), LABELS), validation(), recalibrate=None
    )
    assert result.value[2] == 0
    assert 0 < result.estimates[2].high < 0.1
    for each in result.estimates[:2]:  # that class does not affect the others
        assert each.high - each.value == pytest.approx(each.value - each.low)


def test_intervals_of_multiclass_performance_contain_the_actual_values() -> None:
    truth, score = simulate(100, 900)
    new_truth, new_score = simulate(200, 20_000, (0.2, 0.3, 0.5))
    rows, target = MulticlassRows(truth, score, LABELS), MulticlassTarget(new_score, LABELS)
    result = shift.estimate_performance(
        target, rows, assume="label shift", measures=["accuracy", "precision"], averages=["macro"]
    )
    table = MulticlassRows(new_truth, new_score, LABELS).confusion()
    for row in result.rows():
        if (row["measure"], row["class"], row["average"]) == ("accuracy", None, None):
            assert row["low"] <= measure.multiclass.accuracy(table) <= row["high"]
        if row["measure"] == "precision" and row["class"] == "c":
            assert row["low"] <= measure.precision(table.one_vs_rest())[2] <= row["high"]
    assert {row["average"] for row in result.rows()} == {None, "macro"}
    assert result.data["notes"][0].startswith("Assumed: label shift")
    cells = {(row["class"], row["against"]): row["value"] for row in result.rows() if row["measure"] == "cell"}
    assert sum(cells.values()) == pytest.approx(20_000)


def test_multiclass_performance_without_recalibration_and_its_errors() -> None:
    _, score = simulate(12, 300)
    weight = np.linspace(0.5, 2.0, 300)
    target = MulticlassTarget(score, LABELS, weight=weight)
    result = shift.estimate_performance(target, assume="covariate shift", measures=["accuracy", "kappa"])
    accuracy = next(row for row in result.rows() if row["measure"] == "accuracy")
    share = score / score.sum(axis=1, keepdims=True)
    assert accuracy["value"] == pytest.approx(np.average(share.max(axis=1), weights=weight))
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]
    with pytest.raises(OptionError, match="recalibrate='vector' has no use: there are no validation data"):
        shift.estimate_performance(target, assume="covariate shift", recalibrate="vector")
    with pytest.raises(OptionError, match="must be estimated first"):
        shift.estimate_performance(target, assume="label shift")
    with pytest.raises(OptionError, match="highest score decides"):
        shift.estimate_performance(target, assume="covariate shift", threshold=0.5)
    with pytest.raises(OptionError, match="give MulticlassRows"):
        shift.estimate_performance(target, tally([0, 1], [0.2, 0.8]), assume="covariate shift")
    with pytest.raises(OptionError, match="several classes, but the target does not"):
        shift.estimate_performance(Target(score[:, 0]), validation(), assume="covariate shift")
    with pytest.raises(NotAProbabilityError, match="recalibrate them on"):
        shift.estimate_performance(MulticlassTarget(2 * score, LABELS), assume="covariate shift")
