"""Binary calibrators: degenerate data, errors, notes, and the data that calibrators store."""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import pytest

from baserate import (
    Calibrator,
    EmptyDataError,
    FitError,
    NotAProbabilityError,
    OptionError,
    Tally,
    UnknownNameError,
    calibration,
    curve,
    measure,
    read,
    tally,
)

SEPARATED = tally([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9])
REVERSED = tally([1, 1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.7, 0.9])
CONSTANT = tally([0, 1, 0, 0], [0.3] * 4)
CERTAIN = tally([0, 1, 0, 1, 1, 0], [0.0, 0.0, 0.3, 0.6, 1.0, 1.0])


@pytest.mark.parametrize("method", [name for name in calibration.BINARY_METHODS if name != "identity"])
def test_a_single_class_raises(method: str) -> None:
    with pytest.raises(FitError, match="all rows are negative; give rows of both classes"):
        calibration.fit(tally([0, 0, 0], [0.1, 0.2, 0.3]), method)
    with pytest.raises(EmptyDataError, match="no rows with weight"):
        calibration.fit(Tally.from_counts([0.3], [[0], [0]]), method)


@pytest.mark.parametrize("method", ["logistic", "beta"])
def test_slopes_of_separated_classes_raise(method: str) -> None:
    with pytest.raises(FitError, match=r"a threshold between 0\.2 and 0\.7 separates the classes.*smoothed=True"):
        calibration.fit(SEPARATED, method)
    touching = tally([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    with pytest.raises(FitError, match=r"a threshold at 0\.4 separates the classes"):
        calibration.fit(touching, method)


@pytest.mark.parametrize("method", [calibration.temperature, partial(calibration.beta, shape="ab")])
def test_temperatures_of_classes_separated_at_half_raise(method: Callable[[Tally], Calibrator]) -> None:
    with pytest.raises(FitError, match="½ separates the classes"):
        method(SEPARATED)
    # Another threshold may separate them.
    assert method(tally([0, 0, 1, 1], [0.6, 0.7, 0.8, 0.9])).never_falls


def test_smoothed_targets_fit_separated_classes() -> None:
    result = calibration.logistic(SEPARATED, smoothed=True)
    low, high = result([0.1, 0.9])
    assert 0.2 < low < 0.4
    assert 0.6 < high < 0.9


@pytest.mark.parametrize("method", ["isotonic", "strict-isotonic", "venn-abers", "histogram"])
def test_piecewise_calibrators_fit_separated_classes(method: str) -> None:
    low, high = calibration.fit(SEPARATED, method)([0.1, 0.9])
    assert low < high


@pytest.mark.parametrize(
    ("method", "words"),
    [("logistic", "all scores are equal"), ("beta", "three parameters need at least three different scores")],
)
def test_slopes_of_a_constant_score_raise(method: str, words: str) -> None:
    with pytest.raises(FitError, match=words):
        calibration.fit(CONSTANT, method)


@pytest.mark.parametrize("method", ["offset", "isotonic", "strict-isotonic", "histogram"])
def test_constant_scores_get_the_share_of_positives(method: str) -> None:
    assert calibration.fit(CONSTANT, method)([0.3]) == pytest.approx([0.25])


def test_degenerate_probabilities_raise() -> None:
    with pytest.raises(FitError, match="all probabilities are ½"):
        calibration.temperature(tally([0, 1, 1], [0.5] * 3))
    with pytest.raises(FitError, match="all probabilities are 0 or 1"):
        calibration.offset(tally([0, 1, 1], [0, 0, 1]))
    with pytest.raises(FitError, match="two different scores besides ½"):
        calibration.beta(tally([0, 1, 1], [0.5, 0.2, 0.5]), shape="ab")


@pytest.mark.parametrize("method", ["logistic", "temperature", "beta"])
def test_scores_are_never_flipped(method: str) -> None:
    result = calibration.fit(REVERSED, method)
    assert any("a calibrator never reverses scores" in note for note in result.notes)
    assert np.ptp(result([0.0, 0.5, 1.0])) == 0
    assert not result.rises
    reversed_scores = tally([1, 1, 0, 0], [0.1, 0.2, 0.7, 0.9])
    assert np.ptp(calibration.fit(reversed_scores, method)([0.1, 0.9])) == 0


def test_margins_are_never_flipped() -> None:
    result = calibration.logistic(tally([1, 1, 0, 1, 0, 0], [-3, -2, -1, 0, 1, 2]))
    assert result([-9.0, 9.0]) == pytest.approx([0.5, 0.5])


def test_one_slope_of_beta_may_be_0() -> None:
    t = tally([0, 1, 0, 1, 1, 0, 0, 1], [0.2, 0.1, 0.4, 0.6, 0.9, 0.5, 0.3, 0.8])
    form: Any = calibration.beta(t).form
    assert (form.a, form.b > 0) == (0, True)
    for a in (0.01, 0.1):
        for b in np.linspace(form.b - 0.2, form.b + 0.2, 9):
            for c in np.linspace(form.c - 0.2, form.c + 0.2, 9):
                x = c + a * np.log(t.score) - b * np.log1p(-t.score)
                lost = np.logaddexp(0, -x) @ t.positive + np.logaddexp(0, x) @ t.negative
                assert lost > measure.log_loss(t.with_scores(calibration.beta(t)(t.score))) * t.total


def test_probabilities_of_0_and_1_are_noted_and_bounded() -> None:
    result = calibration.logistic(CERTAIN)
    assert result.notes[0].startswith("4 rows have a probability of 0 or 1")
    assert 0 < result([0.0])[0] < result([1.0])[0] < 1
    # An offset does not change them.
    assert calibration.offset(CERTAIN)([0.0, 1.0]).tolist() == [0.0, 1.0]


def test_few_rows_are_noted() -> None:
    assert calibration.isotonic(CONSTANT).notes == ("it was fitted on 4 rows, too few to rely on.",)


def test_rows_without_weight_do_not_count() -> None:
    t = tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])
    more = tally([0, 1, 0, 1, 1, 0, 1], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7, 0.05], weight=[1.0] * 6 + [0.0])
    for name in calibration.BINARY_METHODS:
        if name != "venn-abers":
            assert calibration.fit(more, name)([0.1, 0.5]) == pytest.approx(
                calibration.fit(t, name)([0.1, 0.5]), rel=1e-9
            )


def test_venn_abers_with_weights_raises() -> None:
    with pytest.raises(OptionError, match="one more row, which has no weight"):
        calibration.venn_abers(tally([0, 1, 0], [0.1, 0.2, 0.3], weight=[1, 2, 0.5]))


def test_bins_are_those_of_the_measures() -> None:
    rng = np.random.default_rng(3)
    p = rng.integers(0, 11, 500) / 10
    t = tally(rng.random(500) < p, p)
    result = calibration.histogram(t, by="width")
    # (lo, hi]: an edge belongs to the bin below it.
    shares = []
    for edge in np.linspace(0, 1, 11)[1:-1]:
        below, at, above = result([np.nextafter(edge, 0), edge, np.nextafter(edge, inf)])
        assert below == at
        shares.append(above - at)
    assert np.count_nonzero(shares) == 9
    edges = calibration.histogram(t, bins=[0, 0.35, 1])
    assert len(np.unique(edges(t.score))) == 2
    with pytest.raises(NotAProbabilityError, match="a histogram of equal width"):
        calibration.histogram(tally([0, 1], [-1, 3]), by="width")


def test_an_empty_bin_joins_the_one_below() -> None:
    result = calibration.histogram(tally([0, 1, 1, 1], [0.05, 0.08, 0.95, 0.97]), bins=10, by="width")
    assert result([0.0, 0.5, 0.9, 0.91]).tolist() == [0.5, 0.5, 0.5, 1.0]


def test_strict_isotonic_has_no_probability_of_0_or_1() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    t = tally(rng.random(1000) < p, p)
    flat, strict = (t.with_scores(calibration.isotonic(t, strict=each)(t.score)) for each in (False, True))
    assert measure.auc(curve(flat)) != measure.auc(curve(t)) == measure.auc(curve(strict))
    assert (flat.score[-1], flat.score[0]) == (0, 1)
    assert 0 < strict.score[-1] < strict.score[0] < 1
    assert measure.log_loss(strict) == pytest.approx(measure.log_loss(flat), abs=0.02)


def test_strict_isotonic_keeps_the_ranking_without_skill() -> None:
    t = tally([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4])
    result = calibration.isotonic(t, strict=True)
    assert result(t.score) == pytest.approx([0.5] * 4, abs=1e-6)
    assert len(np.unique(result(t.score))) == 4


def test_calibrators_store_what_they_were_fitted_on() -> None:
    table = {"sick": ["y", "n", "n", "y"], "risk": [0.9, 0.4, 0.6, 0.2]}
    data = read.tallies(table, truth="sick", score="risk", positive="y")
    result = calibration.fit(data, "logistic")
    assert (dict(result.columns), result.positive) == ({"truth": "sick", "score": "risk"}, "y")
    assert result.was_fitted_on(data.tally)
    assert not result.was_fitted_on(tally([1, 0], [0.3, 0.2]))
    assert not calibration.prevalence(sample_prevalence=0.5, prevalence=0.2).was_fitted_on(data.tally)
    again = calibration.fit(read.rows(table, truth="sick", score="risk", positive="y"), "logistic")
    assert again.to_json() == result.to_json()


def test_groups_are_pooled() -> None:
    table = {"sick": [1, 0, 0, 1], "risk": [0.9, 0.4, 0.6, 0.2], "sex": list("ffmm")}
    by_sex = calibration.fit(read.tallies(table, truth="sick", score="risk", group="sex"), "isotonic")
    alone = calibration.fit(read.tallies(table, truth="sick", score="risk"), "isotonic")
    assert by_sex.to_json() == alone.to_json()


@pytest.mark.parametrize("name", ["fit", "cross_fit", "isotonic", "logistic", "beta"])
@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series])
def test_arrays_are_fitted_as_their_tally(name: str, kind: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(3)
    truth, score = rng.random(60) < 0.4, rng.random(60)
    fitted, expected = (
        getattr(calibration, name)(*data) for data in ((kind(truth), kind(score)), (tally(truth, score),))
    )
    if name == "cross_fit":
        fitted, expected = fitted.tally.digest, expected.digest
    elif name == "fit":
        fitted, expected = fitted(score).tolist(), expected(score).tolist()
    else:
        fitted, expected = fitted.to_json(), expected.to_json()
    assert fitted == expected


def test_invalid_arguments_raise() -> None:
    t = tally([0, 1, 0, 1], [0.1, 0.3, 0.2, 0.15])
    two = read.tallies({"y": [0, 1], "p": [0.1, 0.2], "q": [0.3, 0.4]}, truth="y", score=["p", "q"])
    cases: tuple[tuple[Callable[[], object], type[Exception], str], ...] = (
        (partial(calibration.fit, t, "isotone"), UnknownNameError, "Did you mean 'isotonic'?"),
        (partial(calibration.fit, t, "spline"), UnknownNameError, "Known are: identity, offset"),
        (partial(calibration.fit, two), OptionError, r"several scores \(p, q\)"),
        (partial(calibration.fit, [0, 1]), OptionError, "needs labels and scores"),
        (partial(calibration.choose, [0, 1]), OptionError, "needs labels and scores"),
        (partial(calibration.fit, t, None), OptionError, "method is None; expected a name"),
        (partial(calibration.fit, t, "offset", bins=3), OptionError, "offset has no option bins"),
        (partial(calibration.cross_fit, t, "offset", bins=3), OptionError, "offset has no option bins"),
        (partial(calibration.beta, t, shape="x"), OptionError, "shape is 'x'"),
        (partial(calibration.logistic, t, scale="x"), OptionError, "scale is 'x'"),
        (partial(calibration.prevalence, sample_prevalence=0, prevalence=0.5), OptionError, "sample_prevalence is 0"),
        (partial(calibration.prevalence, sample_prevalence=0.5, prevalence=1), OptionError, "prevalence is 1"),
        (partial(calibration.cross_fit, t, folds=1), OptionError, "folds is 1"),
        (partial(calibration.choose, t, methods=[]), OptionError, "no method to choose from"),
        (partial(calibration.identity, tally([0, 1], [-1, 2])), NotAProbabilityError, "from -1 to 2"),
    )
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()
