"""COMPAS as in the published analyses: scores in tenths, two groups or all, and two populations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from baserate import Tallies, read
from tests.golden.conftest import Columns

POPULATIONS = {"two_years_unfiltered_n6150": 6150, "propublica_filter_n5278": 5278}
"""All rows, and those that ProPublica kept in its regressions; how many of them are of the two races."""
UNFILTERED, FILTERED = POPULATIONS
RACES = ("African-American", "Caucasian")
SIX = (*RACES, "Hispanic", "Other", "Asian", "Native American")


def people(columns: Columns, population: str, races: tuple[str, ...] = RACES) -> dict[str, Any]:
    """Columns of one of the populations: who came back, with which decile, of which race and sex."""
    rows = {name: np.array(column) for name, column in columns("compas.csv").items()}
    there = np.isin(rows["race"], races)
    if population == FILTERED:
        there &= rows["propublica_filter"] == "1"
    assert races != RACES or there.sum() == POPULATIONS[population]
    return {
        "again": rows["two_year_recid"][there] == "1",
        "decile": rows["decile_score"][there].astype(float) / 10,
        "race": rows["race"][there],
        "sex": rows["sex"][there],
    }


def tallies(
    columns: Columns, population: str, races: tuple[str, ...] = RACES, *, group: str | Sequence[str] = "race"
) -> Tallies:
    """Read one of the populations in groups."""
    return read.tallies(people(columns, population, races), truth="again", score="decile", group=group)
