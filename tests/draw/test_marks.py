"""The points at which somebody decides."""

from math import inf

import pytest

from baserate import Cut, MissingValuesError, OptionError, Policy, RandomizedCut, UnknownNameError, curve, decide, read
from baserate.draw._marks import COLUMNS, marks
from tests.draw.drawings import people

SICK = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
APART = Policy(by_group={("f",): Cut((0.7,)), ("m",): Cut((0.3,))}, otherwise="refuse", attributes=("sex",))


def cells(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[cell] for cell in ("tp", "fp", "fn", "tn"))


def test_without_anything_there_is_none_but_the_columns_stand() -> None:
    found = marks(people(), None, None)
    assert tuple(found.columns) == COLUMNS
    assert len(found) == len(marks(people(), [], {})) == 0
    assert found.data["rows"] == 400


def test_thresholds_are_those_of_every_model_and_group() -> None:
    tallies = people(models=2, group=True)
    found = marks(tallies, [0.3, inf], None).rows()
    assert len(found) == 2 * 3 * 2
    for row in found:
        groups = tallies.models[row["model"]]
        own = tallies.pooled(row["model"]) if row["group"] is None else groups[row["group"]["site"],]
        table = curve(own).at(row["threshold"])
        assert cells(row) == (table.tp, table.fp, table.fn, table.tn)
    assert {row["name"] for row in found} == {"threshold 0.3", "threshold inf"}


def test_a_mapping_marks_the_models_that_it_names() -> None:
    found = marks(people(models=3), {"risk1": 0.5}, {"risk2": decide.youden(curve(people(models=3).pooled("risk2")))})
    assert [(row["model"], row["name"]) for row in found.rows()] == [
        ("risk1", "threshold 0.5"),
        ("risk2", "policy youden"),
    ]


def test_a_policy_that_treats_groups_apart_has_a_threshold_in_each() -> None:
    found = marks(read.tallies(SICK, truth="sick", score="risk", group="sex"), None, APART).rows()
    assert [row["threshold"] for row in found] == [None, 0.7, 0.3]
    assert [cells(row) for row in found] == [(2, 0, 0, 2), (1, 0, 0, 1), (1, 0, 0, 1)]


def test_a_lottery_is_marked_where_it_is_expected() -> None:
    half = Policy(by_group={(): RandomizedCut((Cut((0.8,)), Cut((0.5,))), (0.5, 0.5))}, otherwise="refuse")
    (row,) = marks(read.tallies(SICK, truth="sick", score="risk"), None, half).rows()
    assert row["threshold"] is None
    assert row["model"] is None
    assert cells(row) == (1, 0.5, 1, 1.5)


def test_whoever_is_referred_is_not_flagged() -> None:
    three = Policy(by_group={(): Cut((0.3, 0.7), ("pass", "refer", "flag"))}, otherwise="refuse")
    (row,) = marks(read.tallies(SICK, truth="sick", score="risk"), None, three).rows()
    assert cells(row) == (1, 0, 1, 2)
    assert row["threshold"] is None


def test_what_cannot_be_marked_is_refused() -> None:
    several = people(models=2)
    bands = Policy(by_group={(): Cut((0.3,), ("low", "high"))}, otherwise="refuse")
    with pytest.raises(UnknownNameError, match="no model 'risk7' to mark"):
        marks(several, {"risk7": 0.5}, None)
    with pytest.raises(UnknownNameError, match="no model 'risk7'"):
        marks(several, None, {"risk7": bands})
    with pytest.raises(OptionError, match="a mapping from the name of the model"):
        marks(several, None, decide.fixed(curve(several.pooled("risk0")), 0.5))
    with pytest.raises(OptionError, match="knows low, high, so there is no point at which it flags"):
        marks(people(), None, bands)
    with pytest.raises(OptionError, match="give a number"):
        marks(people(), "high", None)  # type: ignore[arg-type]
    with pytest.raises(MissingValuesError, match="a threshold is NaN"):
        marks(people(), float("nan"), None)
