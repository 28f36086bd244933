"""Marks of thresholds and policies."""

from math import inf

import pytest

from baserate import Cut, MissingValuesError, OptionError, Policy, RandomizedCut, UnknownNameError, curve, decide, read
from baserate.draw._data import MARK_COLUMNS, tabulate_marks
from tests.draw.drawings import make_tallies

SICK = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
BY_SITE = Policy(by_group={("f",): Cut((0.7,)), ("m",): Cut((0.3,))}, otherwise="refuse", attributes=("sex",))


def cells_of(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[cell] for cell in ("tp", "fp", "fn", "tn"))


def test_no_marks_give_an_empty_table() -> None:
    result = tabulate_marks(make_tallies(), None, None)
    assert tuple(result.columns) == MARK_COLUMNS
    assert len(result) == len(tabulate_marks(make_tallies(), [], {})) == 0
    assert result.data["rows"] == 400


def test_thresholds_are_those_of_every_model_and_group() -> None:
    tallies = make_tallies(models=2, group=True)
    result = tabulate_marks(tallies, [0.3, inf], None).rows()
    assert len(result) == 2 * 3 * 2
    for row in result:
        groups = tallies.models[row["model"]]
        own = tallies.pooled(row["model"]) if row["group"] is None else groups[row["group"]["site"],]
        table = curve(own).at(row["threshold"])
        assert cells_of(row) == (table.tp, table.fp, table.fn, table.tn)
    assert {row["name"] for row in result} == {"threshold 0.3", "threshold inf"}


def test_mapping_marks_the_named_models() -> None:
    result = tabulate_marks(
        make_tallies(models=3), {"risk1": 0.5}, {"risk2": decide.youden(curve(make_tallies(models=3).pooled("risk2")))}
    )
    assert [(row["model"], row["name"]) for row in result.rows()] == [
        ("risk1", "threshold 0.5"),
        ("risk2", "policy youden"),
    ]


def test_a_policy_by_group_has_a_threshold_per_group() -> None:
    result = tabulate_marks(read.tallies(SICK, truth="sick", score="risk", group="sex"), None, BY_SITE).rows()
    assert [row["threshold"] for row in result] == [None, 0.7, 0.3]
    assert [cells_of(row) for row in result] == [(2, 0, 0, 2), (1, 0, 0, 1), (1, 0, 0, 1)]


def test_a_randomized_policy_is_marked_at_its_expected_rates() -> None:
    half = Policy(by_group={(): RandomizedCut((Cut((0.8,)), Cut((0.5,))), (0.5, 0.5))}, otherwise="refuse")
    (row,) = tabulate_marks(read.tallies(SICK, truth="sick", score="risk"), None, half).rows()
    assert row["threshold"] is None
    assert row["model"] is None
    assert cells_of(row) == (1, 0.5, 1, 1.5)


def test_referred_rows_are_not_flagged() -> None:
    three = Policy(by_group={(): Cut((0.3, 0.7), ("pass", "refer", "flag"))}, otherwise="refuse")
    (row,) = tabulate_marks(read.tallies(SICK, truth="sick", score="risk"), None, three).rows()
    assert cells_of(row) == (1, 0, 1, 2)
    assert row["threshold"] is None


def test_invalid_marks_raise() -> None:
    several = make_tallies(models=2)
    bands = Policy(by_group={(): Cut((0.3,), ("low", "high"))}, otherwise="refuse")
    with pytest.raises(UnknownNameError, match="no model 'risk7' to mark"):
        tabulate_marks(several, {"risk7": 0.5}, None)
    with pytest.raises(UnknownNameError, match="no model 'risk7'"):
        tabulate_marks(several, None, {"risk7": bands})
    with pytest.raises(OptionError, match="a mapping from the name of the model"):
        tabulate_marks(several, None, decide.fixed(curve(several.pooled("risk0")), 0.5))
    with pytest.raises(OptionError, match="has the actions low, high; expected one that flags"):
        tabulate_marks(make_tallies(), None, bands)
    with pytest.raises(OptionError, match="expected a number, or several"):
        tabulate_marks(make_tallies(), "high", None)  # type: ignore[arg-type]
    with pytest.raises(MissingValuesError, match="a threshold is NaN"):
        tabulate_marks(make_tallies(), float("nan"), None)
