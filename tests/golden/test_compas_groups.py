"""What ProPublica published of COMPAS in 2016, and how far apart its groups lie."""

from collections.abc import Callable
from typing import Any

import pytest

from baserate import Results, equalize
from tests.golden.compas import FILTERED, RACES, SIX, UNFILTERED, tallies
from tests.golden.conftest import Columns

BOTH = ("race", "sex")


@pytest.fixture(scope="module")
def unfiltered(columns: Columns) -> Results:
    measures = ["fpr", "fnr", "precision", "npv"]
    return equalize.groups(
        tallies(columns, UNFILTERED, SIX, group=BOTH), by="race", decided=0.5, measures=measures, draws=100
    )


@pytest.mark.parametrize("race", ["all", *RACES])
def test_published_rates_are_those_of_the_unfiltered_rows(
    race: str, unfiltered: Results, published: Callable[[str], Any]
) -> None:
    told = published("compas_reference.json")["published_propublica"][race]
    group = None if race == "all" else {"race": race}
    found = {row["measure"]: row for row in unfiltered.rows() if row["table"] == "group" and row["group"] == group}
    assert round(100 * found["fpr"]["value"], 2) == told["fpr"]
    assert round(100 * found["fnr"]["value"], 2) == told["fnr"]
    assert round(found["precision"]["value"], 2) == told["ppv"]
    assert round(found["npv"]["value"], 2) == told["npv"]
    assert found["fpr"]["rows"] == told["n"]
    assert found["fpr"]["positives"] == told["tp"] + told["fn"]
    assert found["fpr"]["trials"] == found["fpr"]["negatives"] == told["fp"] + told["tn"]
    assert found["precision"]["trials"] == told["tp"] + told["fp"]
    assert not found["fpr"]["small"]


def test_groups_of_a_few_people_are_marked(unfiltered: Results) -> None:
    marked = {row["group"]["race"] for row in unfiltered.rows() if row["table"] == "group" and row["small"]}
    assert marked == {"Asian", "Native American"}


def test_gaps_of_the_filtered_rows_depend_on_their_definition(columns: Columns) -> None:
    both = tallies(columns, FILTERED, group=BOTH)
    found = equalize.gaps(both, by="race", decided=0.5)
    odds = {row["kind"]: row for row in found.rows() if row["parity"] == "equalized-odds"}
    assert round(odds["max_difference"]["value"], 4) == 0.2116
    assert round(odds["mean_absolute"]["value"], 4) == 0.2074
    assert odds["max_difference"]["p"] == pytest.approx(1 / 10_001)
    assert odds["max_difference"]["floor_high"] < 0.06


def test_a_gap_between_six_races_is_hard_to_tell_from_chance_where_two_surely_differ(columns: Columns) -> None:
    every = equalize.groups(tallies(columns, UNFILTERED, SIX, group=BOTH), by="race", decided=0.5, measures=["fpr"])
    (gap,) = [row for row in every.rows() if row["kind"] == "max_difference"]
    (pair,) = [row for row in every.rows() if row["group"] == {"race": RACES[0]} and row["other"] == {"race": RACES[1]}]
    assert gap["value"] > pair["value"]
    assert gap["p"] > 0.05
    assert pair["adjusted"] < 1e-12
    # A bootstrap of 2000 draws within each group.
    assert (pair["low"], pair["high"]) == pytest.approx((0.1831, 0.2444), abs=0.002)
