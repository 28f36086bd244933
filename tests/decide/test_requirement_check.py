"""Checks of requirements: verdicts, margins, required numbers of rows, and type I error."""

from collections.abc import Mapping
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import (
    Counts,
    Curve,
    Cut,
    OptionError,
    Policy,
    RandomizedCut,
    UnknownNameError,
    decide,
    infer,
    measure,
    read,
    shift,
)
from baserate._tally import Tallies
from baserate.infer import IntervalOptions
from baserate.measure import MEASURES, describe
from tests.schemas import read_results
from tests.tiers import take_in_tiers

AT_HALF = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
BY_SEX = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.6,))}, otherwise="refuse", attributes=("sex",))
USUAL = ("sensitivity", "specificity", "precision", "accuracy", "f1", "mcc", "youden", "auc", "brier", "ks", "log_loss")


def columns(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    risk = rng.integers(1, 100, rows) / 100
    return {
        "sick": rng.random(rows) < risk,
        "risk": risk,
        "sex": np.where(np.arange(rows) % 2, "f", "m"),
        "site": np.where(np.arange(rows) % 3, "north", "south"),
    }


def read_tallies(given: Mapping[str, Any], **more: Any) -> Tallies:  # noqa: ANN401  (options of reading)
    return read.tallies(given, **{"truth": "sick", "score": "risk"} | more)


def table(tp: int, fp: int, fn: int, tn: int, times: int = 1) -> Tallies:
    """Make tallies whose confusion matrix at a threshold of 0.5 is this one, repeated."""
    truth = np.repeat([1, 0, 1, 0], np.array([tp, fp, fn, tn]) * times)
    score = np.repeat([0.9, 0.9, 0.1, 0.1], np.array([tp, fp, fn, tn]) * times)
    return read_tallies({"sick": truth, "risk": score})


def check_one(tallies: Tallies, require: Any, policy: Policy = AT_HALF, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    [row] = decide.check(tallies, require, policy, **more).rows()
    return row


def repeat_rows(given: Mapping[str, Any], times: int) -> dict[str, Any]:
    return {name: np.tile(column, times) for name, column in given.items()}


@pytest.mark.parametrize(
    ("require", "verdict"),
    [
        ("sensitivity >= 0.7", "holds"),
        ("sensitivity >= 0.85", "undecided"),
        ("sensitivity >= 0.95", "undecided"),
        ("sensitivity >= 0.99", "fails"),
        ("fpr <= 0.3", "holds"),
        ("fpr <= 0.15", "undecided"),
        ("fpr <= 0.05", "fails"),
    ],
)
def test_verdicts_by_the_interval(require: str, verdict: str) -> None:
    row = check_one(table(90, 20, 10, 80), require)
    result = infer.estimate(row["measure"], Counts(tp=90, fp=20, fn=10, tn=80))
    assert (row["verdict"], row["holds"]) == (verdict, verdict == "holds")
    assert (row["value"], row["low"], row["high"]) == (result.value, result.low, result.high)
    kept = result.low - row["bound"] if row["sense"] == ">=" else row["bound"] - result.high
    assert row["margin"] == kept
    assert (row["rows_needed"] is not None) == (verdict == "undecided")
    by_value = check_one(table(90, 20, 10, 80), require, on="estimate")
    kept = result.value - row["bound"] if row["sense"] == ">=" else row["bound"] - result.value
    assert (by_value["holds"], by_value["margin"], by_value["rows_needed"]) == (kept >= 0, kept, None)
    assert by_value["verdict"] == ("holds" if kept >= 0 else "fails")


@given(st.tuples(*[st.integers(0, 30)] * 4), st.sampled_from(USUAL[:4]), st.sampled_from([">=", "<="]), st.floats(0, 1))
def test_laws_of_verdicts(cells: tuple[int, int, int, int], name: str, sense: str, bound: float) -> None:
    tallies = table(*(each + 1 for each in cells))
    row = check_one(tallies, decide.Requirement(MEASURES[name], ">=" if sense == ">=" else "<=", bound))
    other = check_one(tallies, decide.Requirement(MEASURES[name], "<=" if sense == ">=" else ">=", bound))
    assert row["holds"] == (row["verdict"] == "holds") == (row["margin"] >= -1e-12)
    if row["margin"] > 1e-12:  # a value above the bound is not below it
        assert other["verdict"] == "fails"
    if row["verdict"] == "fails":
        assert other["holds"]
    assert (row["verdict"] == "undecided") == (other["verdict"] == "undecided") or abs(row["margin"]) <= 1e-12


@given(
    st.tuples(*[st.integers(1, 40)] * 4),
    st.sampled_from(["sensitivity", "specificity", "precision", "npv", "accuracy", "flag_rate"]),
    st.sampled_from([">=", "<="]),
    st.floats(0.02, 0.98),
)
def test_rows_needed_is_the_smallest_sufficient_number(
    cells: tuple[int, int, int, int], name: str, sense: str, bound: float
) -> None:
    tallies = table(*cells)
    row = check_one(tallies, f"{name} {sense} {bound!r}")
    if row["rows_needed"] is None:
        assert row["verdict"] != "undecided" or row["value"] == pytest.approx(bound)
        return
    assert row["rows_needed"] > row["rows"] == sum(cells)
    # Rows are counted: a whole number of times as many is more than needed, and one time less is too few.
    times = -(-row["rows_needed"] // row["rows"])
    if times > 1000:
        return
    requirement = f"{name} {sense} {bound!r}"
    assert check_one(table(*cells, times=times), requirement)["verdict"] != "undecided"
    assert check_one(table(*cells, times=times - 1), requirement)["verdict"] == "undecided"


@pytest.mark.quick(5)
@pytest.mark.parametrize("prevalence", take_in_tiers([None, 0.05]))
@pytest.mark.parametrize("name", USUAL)
def test_rows_needed_decide(name: str, prevalence: float | None) -> None:
    given = columns(160)

    def reweighted_tallies(times: int) -> Tallies:
        read_ = read_tallies(repeat_rows(given, times))
        return read_ if prevalence is None else shift.reweigh(read_, prevalence=prevalence)

    free = check_one(reweighted_tallies(1), f"{name} >= 0")
    # Of draws the root of the rows is an approximation, and they have chance of their own.
    slack = 0.3 if "samples" in free["how"] else 0.0
    for share in (0.25, 0.5):  # of the way from the value to the end of its interval
        for end, sense in (("low", ">="), ("high", "<="), ("low", "<="), ("high", ">=")):
            bound = free["value"] + share * (free[end] - free["value"])
            row = check_one(reweighted_tallies(1), f"{name} {sense} {bound!r}")
            assert row["verdict"] == "undecided"
            enough = ceil(row["rows_needed"] / 160 * (1 + slack))
            assert check_one(reweighted_tallies(enough), f"{name} {sense} {bound!r}")["verdict"] != "undecided"
            few = int((row["rows_needed"] - 1) / 160 * (1 - slack))
            assert few < 1 or check_one(reweighted_tallies(few), f"{name} {sense} {bound!r}")["verdict"] == "undecided"


def test_no_number_of_rows_decides_a_value_at_the_bound() -> None:
    row = check_one(table(90, 20, 10, 80), "sensitivity >= 0.9")
    assert (row["verdict"], row["rows_needed"]) == ("undecided", None)
    assert "the bound itself" in row["why"]
    row = check_one(table(90, 20, 10, 80), decide.Requirement(measure.sensitivity, ">=", 0.9 + 1e-9))
    assert "no number of rows that can be counted" in row["why"]


def test_undefined_measures_do_not_hold() -> None:
    result = decide.check(table(0, 0, 3, 5), "precision >= 0, precision <= 1, npv >= 0", AT_HALF)
    rows = result.rows()
    assert [row["holds"] for row in rows] == [False, False, True]
    assert rows[0]["why"] == "nothing is flagged"
    assert (rows[0]["verdict"], rows[0]["margin"], rows[0]["rows_needed"]) == ("undecided", None, None)
    assert not result.data["holds"]
    assert not check_one(table(0, 0, 3, 5), "precision >= 0", on="estimate")["holds"]


def test_any_measure_may_be_required() -> None:
    tallies = read_tallies(columns(400))
    wanted = [f"{name} >= 0" for name, each in MEASURES.items() if describe(each).best]
    result = decide.check(tallies, wanted, AT_HALF, on="estimate")
    read_results(result.to_json())
    for row in result.rows():
        noun = (
            decide.decision_tables(tallies, AT_HALF)[None]["flag"]
            if describe(MEASURES[row["measure"]]).of is Counts
            else tallies.tally
        )
        assert row["value"] == pytest.approx(infer.estimate(row["measure"], noun).value)


def test_each_group_is_checked() -> None:
    tallies = read_tallies(columns(400), group=["sex", "site"])
    everybody = decide.check(tallies, "sensitivity >= 0.5", BY_SEX)
    assert [row["group"] for row in everybody.rows()] == [None]
    finest = decide.check(tallies, "sensitivity >= 0.5, auc >= 0.5", BY_SEX, each_group=True)
    assert len(finest.rows()) == 2 * (1 + 4)
    read_results(finest.to_json())
    by_site = decide.check(tallies, "sensitivity >= 0.5, auc >= 0.5", BY_SEX, each_group=["site"]).rows()
    assert [row["group"] for row in by_site] == [None, {"site": "north"}, {"site": "south"}] * 2
    north = read_tallies(
        {name: column[np.array(columns(400)["site"]) == "north"] for name, column in columns(400).items()}, group="sex"
    )
    for require, at in (("sensitivity >= 0.5", 1), ("auc >= 0.5", 4)):
        alone = check_one(north, require, BY_SEX)
        assert by_site[at] == alone | {"group": {"site": "north"}}
    assert finest.data["holds"] == all(row["holds"] for row in finest.rows())
    with pytest.raises(OptionError, match="read without groups"):
        decide.check(read_tallies(columns(40)), "auc >= 0.5", AT_HALF, each_group=True)
    with pytest.raises(OptionError, match="groups by age are needed"):
        decide.check(tallies, "auc >= 0.5", BY_SEX, each_group=["age"])


def test_one_failing_group_fails_the_check() -> None:
    given = columns(400)
    given["risk"] = np.where(given["sex"] == "f", 1 - given["risk"], given["risk"])
    result = decide.check(read_tallies(given, group="sex"), "auc >= 0.3", AT_HALF, each_group=True)
    assert {(row["group"] or {}).get("sex"): row["verdict"] for row in result.rows()} == {
        None: "holds",
        "f": "fails",
        "m": "holds",
    }
    assert not result.data["holds"]


def test_randomized_policies_are_checked_by_expected_counts() -> None:
    tallies = read_tallies(columns(400))
    randomized = RandomizedCut((Cut((0.3,)), Cut((0.7,))), (0.5, 0.5))
    treatments: tuple[Cut | RandomizedCut, ...] = (randomized, *randomized.cuts)
    expected, *single = (
        check_one(tallies, "sensitivity >= 0.5", Policy(by_group={(): each}, otherwise="refuse")) for each in treatments
    )
    assert expected["value"] == pytest.approx(np.mean([row["value"] for row in single]))


def test_each_model_has_its_own_policy() -> None:
    given = columns(400) | {"old": columns(400)["risk"] ** 2}
    tallies = read_tallies(given, score=["risk", "old"])
    lower = Policy(by_group={(): Cut((0.25,))}, otherwise="refuse")
    rows = decide.check(tallies, "sensitivity >= 0.5", {"old": lower, "risk": AT_HALF}).rows()
    assert [row["model"] for row in rows] == ["risk", "old"]
    assert rows[0]["value"] == rows[1]["value"]


def test_scale_of_weights_does_not_matter() -> None:
    given = columns(400)
    weight = np.random.default_rng(1).random(400) + 0.1
    one, ten = (
        check_one(read_tallies(given | {"w": weight * factor}, weight="w"), "sensitivity >= 0.75") for factor in (1, 10)
    )
    for name in ("value", "low", "high", "margin"):
        assert one[name] == pytest.approx(ten[name])
    assert one["rows_needed"] == pytest.approx(ten["rows_needed"], abs=1)
    thrice = check_one(read_tallies(repeat_rows(given | {"w": weight}, 3), weight="w"), "sensitivity >= 0.75")
    assert (thrice["verdict"] == "undecided") == (one["rows_needed"] > 1200)


def test_results_store_the_request_and_the_same_data_note() -> None:
    tallies = read_tallies(columns(400))
    result = decide.check(
        tallies, "auc >= 0.5", decide.youden(Curve(tallies.tally)), interval=IntervalOptions(level=0.9)
    )
    assert result.data["same"] == ["risk"]
    assert any("chosen on these rows" in note for note in result.data["notes"])
    assert (result.data["on"], result.data["holds"]) == ("bound", True)
    assert result.data["interval"]["level"] == result.rows()[0]["level"] == 0.9
    assert result.data["policies"]["risk"]["rule"] == "youden"


def test_check_errors() -> None:
    tallies = read_tallies(columns(40))
    bands = Policy(by_group={(): Cut((0.3, 0.6), ("low", "middle", "high"))}, otherwise="refuse")
    assert check_one(tallies, "auc >= 0.5", bands)["value"] > 0.5
    with pytest.raises(
        OptionError, match="a policy of low, middle, high has no confusion matrix, so sensitivity is undefined"
    ):
        decide.check(tallies, "auc >= 0.5, sensitivity >= 0.9", bands)
    with pytest.raises(OptionError, match="there is no requirement"):
        decide.check(tallies, [], AT_HALF)
    with pytest.raises(OptionError, match="on is 'hunch'; expected 'bound' or 'estimate'"):
        decide.check(tallies, "auc >= 0.5", AT_HALF, on="hunch")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "require",
    [
        "sensitivity >= 0.8",
        pytest.param("fpr <= 0.3", marks=pytest.mark.slow),
        pytest.param("precision >= 0.64", marks=pytest.mark.slow),
        pytest.param("youden >= 0.5", marks=pytest.mark.slow),
    ],
)
def test_type_one_error_at_the_bound(require: str) -> None:
    # 0.4 are sick, of whom 0.8 are flagged, and 0.3 of the others: precision is 0.32/0.5, and Youden's index 0.5.
    rng, held, times = np.random.default_rng(7), 0, 300
    for _ in range(times):
        cells = rng.multinomial(400, [0.32, 0.18, 0.08, 0.42])
        held += check_one(table(*map(int, cells)), require)["holds"]
    # A bound of 95% intervals is beaten in 2.5% of samples; 300 of them are off by chance, too.
    assert held <= times * 0.025 + 2.5 * np.sqrt(times * 0.025 * 0.975)


def test_a_measure_with_options_may_be_required() -> None:
    tallies = read_tallies(columns(400))
    wanted = decide.Requirement(partial(measure.f_beta, beta=2.0), ">=", 0.1)
    assert check_one(tallies, wanted)["value"] == measure.f_beta(
        decide.decision_tables(tallies, AT_HALF)[None]["flag"], beta=2.0
    )


@pytest.mark.parametrize("require", ["sensitivity >= 0.95", "sensitivity >= 0.99, specificity >= 0.5", "fpr <= 0.001"])
def test_an_assertion_fails_where_a_requirement_fails_or_is_undecided(require: str) -> None:
    result = decide.check(table(80, 10, 20, 90), require, AT_HALF)
    assert result.data["holds"] is False
    with pytest.raises(AssertionError):
        assert result


def test_an_assertion_passes_where_every_requirement_holds() -> None:
    result = decide.check(table(80, 10, 20, 90), "sensitivity >= 0.5, specificity >= 0.5", AT_HALF)
    assert result
    assert bool(result) is result.data["holds"] is True


def test_an_assertion_fails_for_undefined_measures() -> None:
    result = decide.check(read_tallies({"sick": [0, 0, 1], "risk": [0.1, 0.2, 0.3]}), "precision >= 0.1", AT_HALF)
    assert result.rows()[0]["value"] is None
    assert not result


def test_an_assertion_fails_where_one_group_fails() -> None:
    rows = {"sick": [1, 1, 0, 0] * 100, "risk": [0.9, 0.1, 0.2, 0.1] * 100, "sex": ["f", "m", "f", "m"] * 100}
    of_all = read_tallies(rows, group="sex")
    assert decide.check(of_all, "sensitivity >= 0.4", AT_HALF)
    assert not decide.check(of_all, "sensitivity >= 0.4", AT_HALF, each_group=True)


def test_a_threshold_and_a_prevalence_do_as_well() -> None:
    people = columns(400)
    tallies = read_tallies(people)
    requirements = "precision >= 0.2, sensitivity >= 0.5"
    options: dict[str, Any] = {"threshold": 0.5, "prevalence": "10%"}
    results = decide.check(people["sick"], people["risk"], requirements, **options)
    expected = decide.check(shift.reweigh(tallies, prevalence=0.1), requirements, AT_HALF)
    assert results.rows() == expected.rows()
    decisions: list[dict[str, Any]] = [{}, {"threshold": 0.5, "policy": AT_HALF}]
    for decision in decisions:
        with pytest.raises(OptionError, match=r"policy .* a threshold; expected one of them"):
            decide.check(tallies, requirements, **decision)


def test_a_summary_takes_the_name_of_a_rule() -> None:
    people = columns(400)
    results = decide.summary(people["sick"], people["risk"], "top-left", n_bootstrap=0)
    assert results.rows() == decide.summary(people["sick"], people["risk"], decide.closest, n_bootstrap=0).rows()
    with pytest.raises(UnknownNameError, match=r"no rule 'yuden'\. Did you mean 'youden'"):
        decide.summary(people["sick"], people["risk"], "yuden")
