"""Summaries with intervals: the numbers of plain ones, each with the interval of `estimate`."""

import numpy as np
import pytest

from baserate import Counts, OptionError, Rows, infer, measure, read
from baserate.infer import IntervalOptions
from baserate.measure import MEASURES, describe

CELLS = {"tp", "fp", "fn", "tn"}
RNG = np.random.default_rng(3)
TABLE = {
    "sick": RNG.integers(0, 2, 80),
    "risk": RNG.uniform(0.01, 0.99, 80).round(2),
    "old": RNG.uniform(0.01, 0.99, 80).round(2),
    "says": RNG.integers(0, 2, 80),
    "site": RNG.choice(["a", "b"], 80),
    "w": RNG.random(80) + 0.5,
}
TWO = ["risk", "old"]


@pytest.mark.slow
def test_every_number_equals_its_single_estimate() -> None:
    tallies = read.tallies(TABLE, truth="sick", score=TWO, group="site", weight="w")
    result = infer.summary(tallies, measures="all", threshold=[0.3, 0.6], interval=IntervalOptions(0.9, seed=5)).rows()
    plain = measure.summary(tallies, measures="all", threshold=[0.3, 0.6]).rows()
    # A number that is defined may still lack an interval, and say why.
    assert [(row["measure"], row["value"], row["why"]) for row in plain] == [
        (row["measure"], row["value"], row["why"] if row["value"] is None else None) for row in result
    ]
    checked = 0
    for row in result:
        if row["measure"] in CELLS:
            assert row["low"] is row["high"] is row["level"] is None
            continue
        group = None if row["group"] is None else (row["group"]["site"],)
        tally = tallies.pooled(row["model"]) if group is None else tallies.models[row["model"]][group]
        decides = describe(MEASURES[row["measure"]]).of is Counts
        alone = infer.estimate(
            row["measure"], tally, threshold=row["threshold"] if decides else None, level=0.9, seed=5
        )
        assert row["how"] == alone.how
        assert [np.nan if bound is None else bound for bound in (row["low"], row["high"])] == pytest.approx(
            [alone.low, alone.high], rel=0, abs=0, nan_ok=True
        )
        checked += 1
    assert checked > 200


def test_a_method_applies_to_the_measures_that_have_it() -> None:
    tallies = read.tallies(TABLE, truth="sick", score="risk")
    result = infer.summary(
        tallies, measures=["sensitivity", "auc", "f1"], interval=IntervalOptions(method="wilson")
    ).rows()
    how = {row["measure"]: row["how"] for row in result if row["measure"] not in CELLS}
    plain = infer.summary(tallies, measures=["sensitivity", "auc", "f1"]).rows()
    assert how["sensitivity"] == "Wilson"
    assert {name: how[name] for name in ("auc", "f1")} == {
        row["measure"]: row["how"] for row in plain if row["measure"] in ("auc", "f1")
    }
    with pytest.raises(OptionError, match=r"method='delong' makes no interval of .*f1.*; leave it out"):
        infer.summary(tallies, measures=["f1"], interval=IntervalOptions(method="delong"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "level is 95; expected a confidence level"),
        ({"level": float("nan")}, "level is nan; expected a confidence level"),
        ({"method": "wald"}, "method='wald' makes no intervals; known are: wilson, "),
        ({"seed": -1}, "seed is -1; give a whole number of 0 or more"),
    ],
)
def test_invalid_intervals_raise(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        IntervalOptions(**options)  # type: ignore[arg-type]


def test_every_method_applies_to_some_measure() -> None:
    tables = (Counts(1, 1, 1, 1), Counts(1, 1, 1, 1, reweighed=True))
    known = {name for each in MEASURES.values() for table in tables for name in infer.methods(each, table)}
    assert known == set(infer._summary.INTERVAL_METHODS)  # noqa: SLF001


def test_predicted_labels_have_the_intervals_of_their_table() -> None:
    tallies = read.tallies(TABLE, truth="sick", predicted="says")
    result = infer.summary(tallies, measures=["sensitivity", "specificity"]).rows()
    counts = {row["measure"]: row["value"] for row in result if row["measure"] in CELLS}
    for row in result:
        if row["measure"] in ("sensitivity", "specificity"):
            alone = infer.estimate(row["measure"], Counts(**counts))
            assert (row["value"], row["low"], row["high"]) == (alone.value, alone.low, alone.high)


def test_rows_without_clusters_are_tallies() -> None:
    rows = read.rows(TABLE, truth="sick", score=TWO, group="site")
    tallies = read.tallies(TABLE, truth="sick", score=TWO, group="site")
    query = ["auc", "f1", "brier"]
    assert infer.summary(rows, measures=query).rows() == infer.summary(tallies, measures=query).rows()
    assert infer.summary(rows, measures=query).data["interval"]["clusters"] is None


def test_rows_of_several_models_or_groups_raise() -> None:
    truth, score = np.array([True, False, True]), np.array([0.9, 0.2, 0.6])
    with pytest.raises(OptionError, match=r"these rows have several models; use infer\.summary"):
        infer.estimate("auc", Rows(truth, {"one": score, "two": score}))
    grouped = Rows(truth, {"one": score}, group=np.array([0, 1, 1]), groups=(("f",), ("m",)), attributes=("sex",))
    with pytest.raises(OptionError, match=r"these rows have groups \(sex\); use infer\.summary"):
        infer.estimate("auc", grouped)
