"""COMPAS as the published analyses take it: two groups, scores in tenths, and two populations."""

from collections.abc import Callable

import numpy as np

from baserate import Tallies, read

POPULATIONS = ("two_years_unfiltered_n6150", "propublica_filter_n5278")
RACES = ("African-American", "Caucasian")


def tallies(columns: Callable[[str], dict[str, list[str]]], population: str, races: tuple[str, ...] = RACES) -> Tallies:
    """Read one of the populations; all rows, or those that ProPublica kept in its regressions."""
    rows = {name: np.array(column) for name, column in columns("compas.csv").items()}
    there = np.isin(rows["race"], races)
    if population == POPULATIONS[1]:
        there &= rows["propublica_filter"] == "1"
    people = {
        "again": rows["two_year_recid"][there] == "1",
        "decile": rows["decile_score"][there].astype(float) / 10,
        "race": rows["race"][there],
    }
    return read.tallies(people, truth="again", score="decile", group="race")
