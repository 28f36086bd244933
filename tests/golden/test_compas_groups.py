"""Published rates of COMPAS by ProPublica (2016), and the disparities between its groups."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

import baserate
from baserate import Results, fairness
from tests.golden.compas import FILTERED, RACES, SIX, UNFILTERED, people, tallies
from tests.golden.conftest import Columns

BOTH = ("race", "sex")


@pytest.fixture(scope="module")
def unfiltered_tallies(columns: Columns) -> Results:
    measures = ["fpr", "fnr", "precision", "npv"]
    return fairness.compare_groups(
        tallies(columns, UNFILTERED, SIX, group=BOTH), by="race", policy=0.5, measures=measures, n_permutations=100
    )


@pytest.mark.parametrize("race", ["all", *RACES])
def test_published_rates_equal_those_of_the_unfiltered_rows(
    race: str, unfiltered_tallies: Results, load_published: Callable[[str], Any]
) -> None:
    output = load_published("compas_reference.json")["published_propublica"][race]
    group = None if race == "all" else {"race": race}
    result = {
        row["measure"]: row for row in unfiltered_tallies.rows() if row["table"] == "group" and row["group"] == group
    }
    assert round(100 * result["fpr"]["value"], 2) == output["fpr"]
    assert round(100 * result["fnr"]["value"], 2) == output["fnr"]
    assert round(result["precision"]["value"], 2) == output["ppv"]
    assert round(result["npv"]["value"], 2) == output["npv"]
    assert result["fpr"]["rows"] == output["n"]
    assert result["fpr"]["positives"] == output["tp"] + output["fn"]
    assert result["fpr"]["trials"] == result["fpr"]["negatives"] == output["fp"] + output["tn"]
    assert result["precision"]["trials"] == output["tp"] + output["fp"]
    assert not result["fpr"]["small"]


def test_groups_of_a_few_people_are_marked(unfiltered_tallies: Results) -> None:
    marked = {row["group"]["race"] for row in unfiltered_tallies.rows() if row["table"] == "group" and row["small"]}
    assert marked == {"Asian", "Native American"}


def test_gaps_of_the_filtered_rows_depend_on_their_definition(columns: Columns) -> None:
    both = tallies(columns, FILTERED, group=BOTH)
    result = fairness.group_gaps(both, by="race", policy=0.5)
    odds = {row["kind"]: row for row in result.rows() if row["parity"] == "equalized-odds"}
    assert round(odds["max_difference"]["value"], 4) == 0.2116
    assert round(odds["mean_absolute"]["value"], 4) == 0.2074
    assert odds["max_difference"]["p"] == pytest.approx(1 / 10_001)
    assert odds["max_difference"]["floor_high"] < 0.06


def test_the_significant_disparity_is_between_the_large_groups(columns: Columns) -> None:
    six = tallies(columns, UNFILTERED, SIX, group=BOTH)
    every = fairness.compare_groups(six, by="race", policy=0.5, measures=["fpr"], min_group=1)
    (masked,) = [row for row in every.rows() if row["kind"] == "max_difference"]
    result = fairness.compare_groups(six, by="race", policy=0.5, measures=["fpr"])
    (gap,) = [row for row in result.rows() if row["kind"] == "max_difference"]
    (pair,) = [
        row for row in result.rows() if row["group"] == {"race": RACES[1]} and row["other"] == {"race": RACES[0]}
    ]
    assert masked["p"] > 0.05
    assert (masked["other"], gap["other"]) == ({"race": "Asian"}, {"race": "Other"})
    assert gap["p"] == pytest.approx(1 / 10_001)
    assert gap["p_is_bound"]
    assert pair["p_adjusted"] < 1e-30
    # A bootstrap of 2000 draws within each group.
    assert (-pair["high"], -pair["low"]) == pytest.approx((0.1831, 0.2444), abs=0.002)


def test_differences_agree_with_pandas_and_statsmodels(columns: Columns) -> None:
    table = pd.DataFrame(people(columns, UNFILTERED, SIX))
    negatives = table[~table["again"]].assign(flagged=lambda rows: rows["decile"] >= 0.5)
    counted = negatives.groupby("race")["flagged"].agg(["sum", "count"])
    six = tallies(columns, UNFILTERED, SIX)
    result = {row["group"]["race"]: row for row in fairness.group_differences(six, policy=0.5, measures=["fpr"]).rows()}
    assert {*result} == {*SIX} - {"African-American"}
    first = counted.loc["African-American"]
    for race, row in result.items():
        own = counted.loc[race]
        rates = own["sum"] / own["count"], first["sum"] / first["count"]
        assert row["value"] == pytest.approx(rates[0] - rates[1], abs=1e-12)
        assert row["trials"] == own["count"]
        bounds = confint_proportions_2indep(own["sum"], own["count"], first["sum"], first["count"], method="newcomb")
        assert (row["low"], row["high"]) == pytest.approx(bounds, abs=1e-9)
        assert (row["p"] is None) == (own["count"] < 50)
    assert {race for race, row in result.items() if row["p"] is None} == {"Asian", "Native American"}
    tested = [row for row in result.values() if row["p"] is not None]
    wanted = multipletests([row["p"] for row in tested], method="holm")[1]
    assert [row["p_adjusted"] for row in tested] == pytest.approx(wanted.tolist(), rel=1e-9)


@pytest.mark.parametrize(
    ("threshold", "difference", "words"),
    [
        (
            0.5,
            0.2139,
            "FPR is 21.4 points higher in race = African-American than in race = Caucasian (44.8% vs 23.5%, ",
        ),
        (
            0.6,
            0.1960,
            "FPR is 19.6 points higher in race = African-American than in race = Caucasian (34.3% vs 14.7%, ",
        ),
    ],
)
def test_the_report_names_the_difference_of_both_large_races(
    columns: Columns, threshold: float, difference: float, words: str
) -> None:
    rows = people(columns, UNFILTERED, SIX)
    report = baserate.evaluate(
        rows["again"], rows["decile"], group={"race": rows["race"]}, threshold=threshold, reference=RACES[1]
    )
    (finding,) = [each for each in report.findings if each.code == "BR011"]
    assert finding.sentence.startswith(words)
    assert "Holm p < 0.0001) and sensitivity is " in finding.sentence
    assert finding.numbers["fpr[race = African-American]"] == pytest.approx(difference, abs=5e-5)
    assert finding.numbers["fpr[race = African-American]_p_adjusted"] < 1e-30
    assert not any("Native American" in name for name in finding.numbers)
    assert finding.sentence in " ".join(report.text().split())


def test_rates_of_the_report_are_those_published(columns: Columns, load_published: Callable[[str], Any]) -> None:
    rows = people(columns, UNFILTERED, SIX)
    report = baserate.evaluate(
        rows["again"], rows["decile"], group={"race": rows["race"]}, threshold=0.5, reference=RACES[1]
    )
    (finding,) = [each for each in report.findings if each.code == "BR011"]
    published = load_published("compas_reference.json")["published_propublica"]
    one, other = (published[race]["fpr"] for race in RACES)
    assert 100 * finding.numbers["fpr[race = African-American]"] == pytest.approx(one - other, abs=0.01)
