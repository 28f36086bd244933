"""Decision curves: laws, edge cases and errors."""

from fractions import Fraction
from functools import partial
from math import inf, nan
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from baserate import (
    Counts,
    NotAProbabilityError,
    NotBinaryError,
    NotNumericError,
    OptionError,
    Results,
    ShapeError,
    Tallies,
    Tally,
    curve,
    decide,
    infer,
    measure,
    population,
    read,
    shift,
    tally,
)
from tests.schemas import read_results
from tests.strategies import Rows, like, probability, rows, same

ORIGINS: tuple[Literal["deployment"] | None, ...] = (None, "deployment")
AT = [0.0, 0.1, 0.25, 0.5, 0.9]
near = partial(pytest.approx, rel=1e-12, abs=1e-12)


def tallies(truth: Any, score: Any, site: list[str] | None = None) -> Tallies:  # noqa: ANN401
    columns = {"sick": np.asarray(truth).astype(int), "risk": score} | ({} if site is None else {"site": site})
    return read.tallies(columns, truth="sick", score="risk", positive=1, group=() if site is None else "site")


def strategy_rows(result: Results, strategy: str) -> list[dict[str, Any]]:
    return [row for row in result.rows() if row["strategy"] == strategy]


people = rows(score=probability, min_size=2).filter(lambda data: 0 < data.truth.sum() < len(data.truth))


@given(people)
def test_numbers_equal_their_measures(data: Rows) -> None:
    actual = curve(tally(*data, positive=True))
    result = decide.net_benefit_curve(tallies(*data), thresholds=AT)
    for at, row in zip(AT, strategy_rows(result, "model"), strict=True):
        counts = actual.at(at)
        assert row["threshold"] == at
        assert row["net_benefit"] == near(measure.net_benefit(counts, at=at))
        assert row["standardized"] == near(measure.standardized_net_benefit(counts, at=at))
        assert row["flag_rate"] == near(measure.flag_rate(counts))
        assert (row["tp_rate"], row["fp_rate"]) == near((counts.tp / counts.total, counts.fp / counts.total))
        judged = infer.estimate(partial(measure.net_benefit, at=at), counts)
        assert (row["low"], row["high"]) == near((judged.low, judged.high))
        assert row["how"] == judged.how
        if at > 0:
            assert row["net_reduction"] == near(measure.net_reduction(counts, at=at))
            assert row["why"] is None


@given(people, st.floats(0.05, 0.95), st.data())
def test_unadjusted_scores_equal_reweighed_tables(data: Rows, to: float, more: st.DataObject) -> None:
    weight = more.draw(like(data, st.floats(0.5, 4)))
    weighted = read.tallies(
        {"sick": data.truth.astype(int), "risk": data.score, "w": weight},
        truth="sick",
        score="risk",
        positive=1,
        weight="w",
    )
    result = decide.net_benefit_curve(weighted, thresholds=AT, prevalence=to, sample_prevalence="deployment")
    moved = curve(shift.reweigh(tally(*data, positive=True, weight=weight), prevalence=to))
    for at, row in zip(AT, strategy_rows(result, "model"), strict=True):
        judged = infer.estimate(partial(measure.net_benefit, at=at), moved.at(at))
        assert row["net_benefit"] == near(judged.value)
        if at > 0:
            assert (row["low"], row["high"]) == pytest.approx((judged.low, judged.high), rel=1e-9, abs=1e-9)
    for at, row in zip(AT, strategy_rows(result, "all"), strict=True):
        worth = to - (1 - to) * at / (1 - at)
        assert (row["low"], row["net_benefit"], row["high"]) == near((worth,) * 3)
        assert row["how"] == "known"


Cells = list[tuple[int, int]]
"""Positives and negatives of each part of the people, whom a model can tell apart."""
parts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any), min_size=1, max_size=8).filter(
    lambda cells: all(map(sum, zip(*cells, strict=True)))
)
ACT = [0.0, 0.01, 0.1, 0.2, 0.25, 0.5, 0.9]


def tallies_of_cells(cells: Cells, scores: list[float], times: tuple[int, int] = (1, 1)) -> Tallies:
    """Repeat the positives and negatives of each cell, with the score of the cell."""
    truth = [flag for a, b in cells for flag in [1] * (a * times[0]) + [0] * (b * times[1])]
    score = [p for (a, b), p in zip(cells, scores, strict=True) for _ in range(a * times[0] + b * times[1])]
    return tallies(truth, score)


def net_benefit_by_enumeration(cells: Cells, prevalence: Fraction, at: float) -> float:
    """Compute in fractions the net benefit of flagging cells whose posterior reaches a probability."""
    positives, negatives = (sum(column) for column in zip(*cells, strict=True))
    worth = Fraction(0)
    for a, b in cells:
        true, false = prevalence * a / positives, (1 - prevalence) * b / negatives
        if true / (true + false) >= Fraction(at):
            worth += true - Fraction(at) / (1 - Fraction(at)) * false
    return float(worth)


@given(parts, st.integers(1, 9), st.integers(1, 9))
def test_adjusted_scores_have_the_net_benefit_of_the_true_posteriors(cells: Cells, more: int, less: int) -> None:
    original = tallies_of_cells(cells, [a / (a + b) for a, b in cells])
    target = tallies_of_cells(cells, [a * more / (a * more + b * less) for a, b in cells], (more, less))
    to = target.tally.prevalence
    adjusted = decide.net_benefit_curve(original, thresholds=ACT, prevalence=to)
    drawn = decide.net_benefit_curve(target, thresholds=ACT)
    kept = decide.net_benefit_curve(original, thresholds=ACT, prevalence=to, sample_prevalence="deployment")
    positives, negatives = (sum(column) for column in zip(*cells, strict=True))
    exact = Fraction(more * positives, more * positives + less * negatives)
    for name in ("model", "all"):
        for one, other, at in zip(strategy_rows(adjusted, name), strategy_rows(drawn, name), ACT, strict=True):
            # Parts whose posterior is the threshold are worth nothing, whether they are flagged or not.
            assert one["net_benefit"] == pytest.approx(other["net_benefit"], abs=1e-10)
            if name == "model":
                assert one["net_benefit"] == pytest.approx(net_benefit_by_enumeration(cells, exact, at), abs=1e-10)
    for one, other in zip(strategy_rows(adjusted, "model"), strategy_rows(kept, "model"), strict=True):
        assert one["net_benefit"] >= other["net_benefit"] - 1e-10


def test_unadjusted_scores_lose_net_benefit() -> None:
    # Of a hundred half are sick, and nine in ten of those at 0.9. Where one in ten is sick, that is one half.
    original = tallies_of_cells([(45, 5), (5, 45)], [0.9, 0.1])
    adjusted, kept = (
        strategy_rows(
            decide.net_benefit_curve(original, thresholds=[0.05, 0.6], prevalence=0.1, sample_prevalence=origin),
            "model",
        )
        for origin in ORIGINS
    )
    true, false = 0.1 * 0.9, 0.9 * 0.1
    assert [row["net_benefit"] for row in adjusted] == near([true - false / 19, 0])
    # At 0.05 all are flagged, since nobody has less than 0.1; at 0.6 half of the flagged are healthy.
    assert [row["net_benefit"] for row in kept] == near([0.1 - 0.9 / 19, true - 1.5 * false])


@given(people, st.floats(0.05, 0.95))
def test_adjusted_scores_are_repriored_then_reweighed(data: Rows, to: float) -> None:
    original = tallies(*data)
    origin = original.tally.prevalence
    moved = shift.reprior(original.tally.score, sample_prevalence=origin, prevalence=to)
    assume(np.abs(moved[:, None] - np.array(AT)[1:]).min() > 1e-9)
    by_hand = shift.reweigh(original.tally.with_scores(moved), prevalence=to)
    result = strategy_rows(decide.net_benefit_curve(original, thresholds=AT, prevalence=to), "model")
    wanted = decide.net_benefits(curve(by_hand), AT)
    for name in ("net_benefit", "tp_rate", "fp_rate", "flag_rate"):
        assert [row[name] for row in result] == near(wanted[name].tolist())


@pytest.mark.parametrize("to", [None, 0.05])
def test_scores_calibrated_at_the_training_prevalence(to: float | None) -> None:
    truth, score = population.logit_normal(prevalence=0.3).draw(500, 3)
    original = tallies(truth, score)
    balanced = tallies(truth, shift.reprior(score, sample_prevalence=original.tally.prevalence, prevalence=0.5))
    wanted = decide.net_benefit_curve(original, thresholds=ACT, prevalence=to)
    result = decide.net_benefit_curve(balanced, thresholds=ACT, prevalence=to, sample_prevalence=0.5)
    assert list(result.columns["net_benefit"]) == near(list(wanted.columns["net_benefit"]))
    expected = original.tally.prevalence if to is None else to
    assert result.data["scores"] == {"adjusted": True, "sample_prevalence": 0.5, "prevalence": expected}


def test_adjusted_score_equal_to_the_threshold_is_flagged() -> None:
    # From one half to one tenth, 1/2 becomes 1/10 and 9/10 becomes 1/2.
    result = decide.net_benefit_curve(
        tallies([1, 0, 1, 0], [0.9, 0.9, 0.5, 0.5]), thresholds=[0.1, 0.5], prevalence=0.1
    )
    assert [row["flag_rate"] for row in strategy_rows(result, "model")] == near([1, 0.5])


def test_scores_of_0_and_1_are_not_adjusted() -> None:
    says = tallies([1, 0, 1, 0], [1, 1, 0, 0])
    adjusted, kept = (
        decide.net_benefit_curve(says, thresholds=AT, prevalence=0.1, sample_prevalence=each) for each in ORIGINS
    )
    assert list(adjusted.columns["net_benefit"]) == list(kept.columns["net_benefit"])


def test_groups_share_the_adjustment_of_all_rows() -> None:
    truth, score = population.logit_normal(prevalence=0.3).draw(300, 5)
    site = ["n" if each else "s" for each in np.random.default_rng(0).random(300) < truth * 0.5 + 0.2]
    result = decide.net_benefit_curve(tallies(truth, score, site), thresholds=[0.1, 0.4], prevalence=0.05)
    origin = truth.mean()
    moved = shift.reprior(score, sample_prevalence=origin, prevalence=0.05)
    for name in ("n", "s"):
        own = np.array(site) == name
        true, false = own & truth.astype(bool), own & ~truth.astype(bool)
        plus, minus = 0.05 / truth.sum(), 0.95 / (len(truth) - truth.sum())
        rows_here = [row for row in strategy_rows(result, "model") if row["group"] == {"site": name}]
        for row in rows_here:
            flagged = moved >= row["threshold"]
            tp, fp = plus * (true & flagged).sum(), minus * (false & flagged).sum()
            total = plus * true.sum() + minus * false.sum()
            assert row["net_benefit"] == near((tp - fp * row["threshold"] / (1 - row["threshold"])) / total)


def test_results_document_the_adjustment() -> None:
    original = tallies([1, 0, 0, 0], [0.9, 0.6, 0.4, 0.1])
    adjusted = decide.net_benefit_curve(original, prevalence=0.02)
    assert adjusted.data["scores"] == {"adjusted": True, "sample_prevalence": 0.25, "prevalence": 0.02}
    output = "classes and scores were adjusted to a prevalence of 2%, the scores from 25%; "
    assert adjusted.data["notes"] == [f"{output}the prevalence is taken as known."]
    read_results(adjusted.to_json())
    kept = decide.net_benefit_curve(original, prevalence=0.02, sample_prevalence="deployment")
    assert kept.data["scores"] == {"adjusted": False, "sample_prevalence": None, "prevalence": 0.02}
    read_results(kept.to_json())
    assert "scores are not adjusted" in kept.data["notes"][0]
    as_read = decide.net_benefit_curve(original)
    assert as_read.data["scores"] == {"adjusted": False, "sample_prevalence": None, "prevalence": None}
    assert as_read.data["notes"] == []
    read_results(as_read.to_json())
    trained = decide.net_benefit_curve(original, sample_prevalence=0.5)
    assert trained.data["notes"] == ["scores were adjusted to a prevalence of 25%, from 50%."]
    two = Tallies({"a": {(): original.tally}, "b": {(): tally([1, 0], [0.9, 0.1])}})
    apart = decide.net_benefit_curve(two, prevalence=0.02)
    assert apart.data["scores"] == {
        "adjusted": True,
        "sample_prevalence": {"a": 0.25, "b": 0.5},
        "prevalence": {"a": 0.02, "b": 0.02},
    }
    read_results(apart.to_json())


@pytest.mark.parametrize("origin", ["rows", 0, 1, 1.5, nan, True])
def test_invalid_sample_prevalence_raises(origin: Any) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=f"sample_prevalence is {origin!r}"):
        decide.net_benefit_curve(tallies([1, 0], [0.9, 0.1]), prevalence=0.1, sample_prevalence=origin)


def test_adjusting_data_of_one_class_raises() -> None:
    with pytest.raises(NotBinaryError, match="one class"):
        decide.net_benefit_curve(tallies([0, 0], [0.9, 0.1]), sample_prevalence=0.2)


@given(people)
def test_net_benefit_is_at_most_that_of_a_perfect_model(data: Rows) -> None:
    result = decide.net_benefits(curve(tally(*data, positive=True)), AT)
    share = data.truth.mean()
    assert (result["net_benefit"] <= share + 1e-12).all()
    assert same(result["all"], share - (1 - share) * np.array(AT) / (1 - np.array(AT)), within=1e-12)
    assert result["net_benefit"][0] == near(share)


@given(people)
def test_calibrated_scores_are_never_worse_than_all_or_none(data: Rows) -> None:
    score, truth = np.round(data.score, 1), data.truth
    shares = np.array([truth[score == each].mean() for each in score])
    result = decide.net_benefits(curve(tally(truth, shares, positive=True)), AT)
    assert (result["net_benefit"] >= np.maximum(result["all"], 0) - 1e-12).all()


def test_default_thresholds() -> None:
    result = decide.net_benefit_curve(tallies([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    assert [row["threshold"] for row in strategy_rows(result, "model")] == [each / 100 for each in range(1, 100)]
    assert len(result) == 3 * 99


def test_thresholds_are_sorted_and_unique() -> None:
    result = decide.net_benefits(curve(tally([1, 0], [0.9, 0.1])), [0.5, 0.2, 0.5])
    assert result["threshold"].tolist() == [0.2, 0.5]


def test_flagging_none_has_net_benefit_zero() -> None:
    result = decide.net_benefit_curve(tallies([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), thresholds=AT)
    for row in strategy_rows(result, "none"):
        assert (row["low"], row["net_benefit"], row["high"], row["flag_rate"], row["how"]) == (0, 0, 0, 0, "known")


def test_no_level_means_no_intervals() -> None:
    result = decide.net_benefit_curve(tallies([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), thresholds=AT, level=None)
    assert {(row["low"], row["high"], row["level"], row["how"]) for row in result.rows()} == {(None,) * 4}
    assert result.data["level"] is None


def test_undefined_numbers_have_reasons() -> None:
    result = decide.net_benefit_curve(
        tallies([1, 0, 0, 0], [0.9, 0.6, 0.4, 0.1], site=["n", "n", "s", "s"]), thresholds=[0, 0.5]
    )
    output = [(row["group"], row["threshold"], row["why"]) for row in strategy_rows(result, "model")]
    spared, standard = (
        "at a threshold of 0 there is no net reduction",
        "there are no positives, so the net benefit is not standardized",
    )
    assert output == [
        (None, 0, spared),
        (None, 0.5, None),
        ({"site": "n"}, 0, spared),
        ({"site": "n"}, 0.5, None),
        ({"site": "s"}, 0, f"{standard}; {spared}"),
        ({"site": "s"}, 0.5, standard),
    ]
    south = strategy_rows(result, "model")[-1]
    assert (south["standardized"], south["net_benefit"]) == (None, 0)


def test_models_and_groups_have_separate_curves() -> None:
    both = read.tallies(
        {"y": [1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.1], "b": [0.2, 0.6, 0.4, 0.1], "g": ["x", "x", "y", "y"]},
        truth="y",
        score=["a", "b"],
        group="g",
    )
    result = decide.net_benefit_curve(both, thresholds=[0.3, 0.5])
    assert len(result) == 2 * 3 * 3 * 2
    output = {(each["model"], str(each["group"])): each["ranges"] for each in result.data["useful"]}
    assert output["a", "None"] == [[0.3, 0.3]]
    assert output["b", "None"] == []
    assert output["a", "{'g': 'y'}"] == [[0.3, 0.3]]
    read_results(result.to_json())


def test_useful_ranges_may_be_disjoint() -> None:
    truth = [1] * 10 + [0] * 10
    score = [0.9] * 5 + [0.2] * 5 + [0.3] * 6 + [0.1] * 4
    result = decide.net_benefit_curve(tallies(truth, score), thresholds=[0.1, 0.2, 0.3, 0.5, 0.9, 0.95])
    assert result.data["useful"] == [{"model": None, "group": None, "ranges": [[0.2, 0.2], [0.5, 0.9]]}]


@pytest.mark.parametrize(
    ("given_", "error", "message"),
    [
        ([0.5, 1.0], OptionError, "1 of 2 thresholds, first 1, are neither 0 nor a number from 1e-12 to 1 - 1e-12"),
        ([-0.1], OptionError, "1 of 1 thresholds, first -0.1"),
        ([nan], OptionError, "first nan"),
        ([], ShapeError, "thresholds have shape"),
        ([[0.1]], ShapeError, r"thresholds have shape \(1, 1\)"),
        (["a"], NotNumericError, "expected numbers"),
    ],
)
def test_invalid_thresholds_raise(given_: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    for work in (
        lambda: decide.net_benefit_curve(tallies([1, 0], [0.9, 0.1]), thresholds=given_),
        lambda: decide.net_benefits(curve(tally([1, 0], [0.9, 0.1])), given_),
    ):
        with pytest.raises(error, match=message):
            work()


def test_scores_must_be_probabilities() -> None:
    for work in (
        lambda: decide.net_benefit_curve(tallies([1, 0], [64.0, 0.1])),
        lambda: decide.net_benefits(curve(tally([1, 0], [64.0, 0.1]))),
    ):
        with pytest.raises(NotAProbabilityError, match="1 row has a score outside"):
            work()


def test_invalid_options_raise() -> None:
    with pytest.raises(OptionError, match="level is 2; expected a confidence level"):
        decide.net_benefit_curve(tallies([1, 0], [0.9, 0.1]), level=2)
    with pytest.raises(OptionError, match="prevalence is 0; expected a prevalence from 1e-12 to 1 - 1e-12"):
        decide.net_benefit_curve(tallies([1, 0], [0.9, 0.1]), prevalence=0)
    with pytest.raises(OptionError, match="takes Tallies, not Counts"):
        decide.net_benefit_curve(Counts(1, 1, 1, 1))  # type: ignore[call-overload]


def test_a_group_without_rows_is_undefined() -> None:
    some = tally([1, 0], [0.9, 0.1])
    both = Tallies({"risk": {("n",): some, ("s",): Tally.sum([])}}, attributes=("site",))
    result = strategy_rows(decide.net_benefit_curve(both, thresholds=[0.5]), "model")[-1]
    assert (result["net_benefit"], result["low"], result["high"], result["why"]) == (
        None,
        None,
        None,
        "there are no rows",
    )


def test_net_reduction_has_the_interval_of_the_measure() -> None:
    truth, score = population.logit_normal(prevalence=0.3).draw(400, 3)
    original = tallies(truth, score)
    for t in (original, shift.reweigh(original, prevalence=0.1)):
        for row in decide.net_benefit_curve(t, thresholds=[0.1, 0.4]).rows():
            cut = {"model": row["threshold"], "all": -inf, "none": inf}[row["strategy"]]
            spared = infer.estimate(partial(measure.net_reduction, at=row["threshold"]), curve(t.tally).at(cut))
            assert row["net_reduction"] == pytest.approx(spared.value)
            certain = row["strategy"] == "all" or (row["strategy"] == "none" and t is not original)
            low, high = (spared.value,) * 2 if certain else (spared.low, spared.high)
            assert (row["net_reduction_low"], row["net_reduction_high"]) == pytest.approx((low, high))
