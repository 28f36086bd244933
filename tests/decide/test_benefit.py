"""Decision curves: laws, edges, and what is refused."""

from functools import partial
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baserate import (
    BadOption,
    BadShape,
    Counts,
    NotAProbability,
    NotNumeric,
    Results,
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
from tests.schemas import fitting
from tests.strategies import Rows, like, probability, rows, same

AT = [0.0, 0.1, 0.25, 0.5, 0.9]
near = partial(pytest.approx, rel=1e-12, abs=1e-12)


def tallies(truth: Any, score: Any, site: list[str] | None = None) -> Tallies:  # noqa: ANN401
    columns = {"sick": np.asarray(truth).astype(int), "risk": score} | ({} if site is None else {"site": site})
    return read.tallies(columns, truth="sick", score="risk", positive=1, group=() if site is None else "site")


def rows_of(found: Results, strategy: str) -> list[dict[str, Any]]:
    return [row for row in found.rows() if row["strategy"] == strategy]


people = rows(score=probability, min_size=2).filter(lambda data: 0 < data.truth.sum() < len(data.truth))


@settings(max_examples=40, deadline=None)
@given(people)
def test_every_number_is_that_of_its_measure(data: Rows) -> None:
    made = curve(tally(*data, positive=True))
    found = decide.benefit(tallies(*data), thresholds=AT)
    for at, row in zip(AT, rows_of(found, "model"), strict=True):
        counts = made.at(at)
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


@settings(max_examples=40, deadline=None)
@given(people, st.floats(0.05, 0.95), st.data())
def test_at_a_stated_prevalence_it_is_that_of_reweighed_tables(data: Rows, to: float, more: st.DataObject) -> None:
    weight = more.draw(like(data, st.floats(0.5, 4)))
    weighted = read.tallies(
        {"sick": data.truth.astype(int), "risk": data.score, "w": weight},
        truth="sick",
        score="risk",
        positive=1,
        weight="w",
    )
    found = decide.benefit(weighted, thresholds=AT, prevalence=to)
    moved = curve(shift.reweigh(tally(*data, positive=True, weight=weight), to=to))
    for at, row in zip(AT, rows_of(found, "model"), strict=True):
        judged = infer.estimate(partial(measure.net_benefit, at=at), moved.at(at))
        assert row["net_benefit"] == near(judged.value)
        if at > 0:
            assert (row["low"], row["high"]) == pytest.approx((judged.low, judged.high), rel=1e-9, abs=1e-9)
    for at, row in zip(AT, rows_of(found, "all"), strict=True):
        worth = to - (1 - to) * at / (1 - at)
        assert (row["low"], row["net_benefit"], row["high"]) == near((worth,) * 3)
        assert row["how"] == "known"


@settings(max_examples=40, deadline=None)
@given(people)
def test_a_model_is_between_treating_none_and_a_perfect_one(data: Rows) -> None:
    found = decide.net_benefits(curve(tally(*data, positive=True)), AT)
    share = data.truth.mean()
    assert (found["net_benefit"] <= share + 1e-12).all()
    assert same(found["all"], share - (1 - share) * np.array(AT) / (1 - np.array(AT)), within=1e-12)
    assert found["net_benefit"][0] == near(share)


@settings(max_examples=30, deadline=None)
@given(people)
def test_scores_that_are_shares_of_positives_are_never_worse_than_all_or_none(data: Rows) -> None:
    score, truth = np.round(data.score, 1), data.truth
    shares = np.array([truth[score == each].mean() for each in score])
    found = decide.net_benefits(curve(tally(truth, shares, positive=True)), AT)
    assert (found["net_benefit"] >= np.maximum(found["all"], 0) - 1e-12).all()


def test_the_usual_thresholds_are_99() -> None:
    found = decide.benefit(tallies([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    assert [row["threshold"] for row in rows_of(found, "model")] == [each / 100 for each in range(1, 100)]
    assert len(found) == 3 * 99


def test_thresholds_are_taken_in_order_each_once() -> None:
    found = decide.net_benefits(curve(tally([1, 0], [0.9, 0.1])), [0.5, 0.2, 0.5])
    assert found["threshold"].tolist() == [0.2, 0.5]


def test_none_is_worth_nothing_for_certain() -> None:
    found = decide.benefit(tallies([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), thresholds=AT)
    for row in rows_of(found, "none"):
        assert (row["low"], row["net_benefit"], row["high"], row["flag_rate"], row["how"]) == (0, 0, 0, 0, "known")


def test_intervals_may_be_left_out() -> None:
    found = decide.benefit(tallies([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), thresholds=AT, level=None)
    assert {(row["low"], row["high"], row["level"], row["how"]) for row in found.rows()} == {(None,) * 4}
    assert found.data["level"] is None


def test_where_a_number_is_undefined_it_is_said_why() -> None:
    found = decide.benefit(tallies([1, 0, 0, 0], [0.9, 0.6, 0.4, 0.1], site=["n", "n", "s", "s"]), thresholds=[0, 0.5])
    told = [(row["group"], row["threshold"], row["why"]) for row in rows_of(found, "model")]
    spared, standard = (
        "at a threshold of 0 nothing can be spared",
        "there are no positives, so nothing can be standardised",
    )
    assert told == [
        (None, 0, spared),
        (None, 0.5, None),
        ({"site": "n"}, 0, spared),
        ({"site": "n"}, 0.5, None),
        ({"site": "s"}, 0, f"{standard}; {spared}"),
        ({"site": "s"}, 0.5, standard),
    ]
    south = rows_of(found, "model")[-1]
    assert (south["standardized"], south["net_benefit"]) == (None, 0)


def test_models_and_groups_have_curves_of_their_own_and_fit_the_schema() -> None:
    both = read.tallies(
        {"y": [1, 0, 1, 0], "a": [0.9, 0.6, 0.4, 0.1], "b": [0.2, 0.6, 0.4, 0.1], "g": ["x", "x", "y", "y"]},
        truth="y",
        score=["a", "b"],
        group="g",
    )
    found = decide.benefit(both, thresholds=[0.3, 0.5])
    assert len(found) == 2 * 3 * 3 * 2
    told = {(each["model"], str(each["group"])): each["ranges"] for each in found.data["useful"]}
    assert told["a", "None"] == [[0.3, 0.3]]
    assert told["b", "None"] == []
    assert told["a", "{'g': 'y'}"] == [[0.3, 0.3]]
    fitting(found.to_json())


def test_useful_thresholds_may_lie_apart() -> None:
    truth = [1] * 10 + [0] * 10
    score = [0.9] * 5 + [0.2] * 5 + [0.3] * 6 + [0.1] * 4
    found = decide.benefit(tallies(truth, score), thresholds=[0.1, 0.2, 0.3, 0.5, 0.9, 0.95])
    assert found.data["useful"] == [{"model": None, "group": None, "ranges": [[0.2, 0.2], [0.5, 0.9]]}]


@pytest.mark.parametrize(
    ("given_", "error", "told"),
    [
        ([0.5, 1.0], BadOption, "1 of 2 thresholds, the first 1, do not lie from 0 to below 1"),
        ([-0.1], BadOption, "1 of 1 thresholds, the first -0.1"),
        ([nan], BadOption, "the first nan"),
        ([], BadShape, "thresholds has shape"),
        ([[0.1]], BadShape, r"thresholds has shape \(1, 1\)"),
        (["a"], NotNumeric, "give one number or several"),
    ],
)
def test_bad_thresholds(given_: Any, error: type[Exception], told: str) -> None:  # noqa: ANN401
    for work in (
        lambda: decide.benefit(tallies([1, 0], [0.9, 0.1]), thresholds=given_),
        lambda: decide.net_benefits(curve(tally([1, 0], [0.9, 0.1])), given_),
    ):
        with pytest.raises(error, match=told):
            work()


def test_scores_must_be_probabilities() -> None:
    for work in (
        lambda: decide.benefit(tallies([1, 0], [64.0, 0.1])),
        lambda: decide.net_benefits(curve(tally([1, 0], [64.0, 0.1]))),
    ):
        with pytest.raises(NotAProbability, match="1 row has a score outside"):
            work()


def test_bad_options() -> None:
    with pytest.raises(BadOption, match="level=2"):
        decide.benefit(tallies([1, 0], [0.9, 0.1]), level=2)
    with pytest.raises(BadOption, match="prevalence is 0; a prevalence lies between 0 and 1"):
        decide.benefit(tallies([1, 0], [0.9, 0.1]), prevalence=0)
    with pytest.raises(BadOption, match="is not Tallies"):
        decide.benefit(Counts(1, 1, 1, 1))  # type: ignore[arg-type]


def test_a_group_without_rows_has_no_worth() -> None:
    some = tally([1, 0], [0.9, 0.1])
    both = Tallies({"risk": {("n",): some, ("s",): Tally.sum([])}}, attributes=("site",))
    found = rows_of(decide.benefit(both, thresholds=[0.5]), "model")[-1]
    assert (found["net_benefit"], found["low"], found["high"], found["why"]) == (None, None, None, "there are no rows")


def test_interventions_spared_have_the_bounds_of_the_measure() -> None:
    truth, score = population.logit_normal(prevalence=0.3).draw(400, 3)
    here = tallies(truth, score)
    for t in (here, shift.reweigh(here, to=0.1)):
        for row in decide.benefit(t, thresholds=[0.1, 0.4]).rows():
            cut = {"model": row["threshold"], "all": -inf, "none": inf}[row["strategy"]]
            spared = infer.estimate(partial(measure.net_reduction, at=row["threshold"]), curve(t.tally).at(cut))
            assert row["net_reduction"] == pytest.approx(spared.value)
            certain = row["strategy"] == "all" or (row["strategy"] == "none" and t is not here)
            low, high = (spared.value,) * 2 if certain else (spared.low, spared.high)
            assert (row["net_reduction_low"], row["net_reduction_high"]) == pytest.approx((low, high))
