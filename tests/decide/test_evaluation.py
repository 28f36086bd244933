"""Evaluation of policies: tables equal decisions row by row, or their expectation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import (
    Costs,
    Curve,
    Cut,
    OptionError,
    Policy,
    RandomizedCut,
    UnknownLabelError,
    UnknownNameError,
    calibration,
    decide,
    infer,
    read,
    shift,
)
from baserate._cut import random_numbers
from baserate._tally import Tallies
from tests.schemas import read_results
from tests.strategies import Array

SEXES, SITES = ("f", "m"), (1, 2, 3)
HALF = RandomizedCut((Cut((0.3,)), Cut((0.6,))), (0.25, 0.75))
BY_SEX = Policy(by_group={("f",): Cut((0.4,)), ("m",): HALF}, otherwise="refuse", attributes=("sex",))


def policy_for_all(treatment: Cut | RandomizedCut, **more: Any) -> Policy:  # noqa: ANN401  (options of a policy)
    return Policy(by_group={(): treatment}, otherwise="refuse", **more)


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    """Cuts into any actions, also reversed ones and those that flag at both ends."""
    actions = [draw(st.sampled_from(["pass", "refer", "flag", "look"]))]
    for _ in range(draw(st.integers(0, 3))):
        actions.append(draw(st.sampled_from([each for each in ("pass", "refer", "flag") if each != actions[-1]])))
    at = draw(st.sets(st.integers(0, 10), min_size=len(actions) - 1, max_size=len(actions) - 1))
    return Cut(tuple(sorted(each / 10 for each in at)), tuple(actions))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Deterministic policies for all rows, or by one or two attributes with labels as numbers or text."""
    attributes = draw(st.sampled_from([(), ("sex",), ("site",), ("sex", "site"), ("site", "sex")]))
    spelled = draw(st.sampled_from([int, str]))
    labels: dict[str, Sequence[object]] = {"sex": SEXES, "site": [spelled(each) for each in SITES]}
    groups = [tuple(draw(st.sampled_from(labels[name])) for name in attributes) for _ in range(4)]
    return Policy(
        by_group={group: draw(cuts()) for group in groups},
        otherwise=draw(st.sampled_from(["pass", "refer", "else"])),
        attributes=attributes,
    )


@st.composite
def people(draw: st.DrawFn) -> dict[str, Any]:
    size = draw(st.integers(1, 25))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    return {
        "sick": [*column(st.booleans()), True, False],
        "risk": [*(each / 10 for each in column(st.integers(0, 10))), 0.5, 0.5],
        "sex": [*column(st.sampled_from(SEXES)), "f", "f"],
        "site": [*column(st.sampled_from(SITES)), 1, 1],
        "weight": [*(each / 4 for each in column(st.integers(1, 9))), 1.0, 1.0],
    }


def read_tallies(columns: dict[str, Any], **more: Any) -> Tallies:  # noqa: ANN401  (options of reading)
    query = {"truth": "sick", "score": "risk", "group": ["sex", "site"]} | more
    return read.tallies({name: np.array(column) for name, column in columns.items()}, **query)


@given(people(), policies(), st.booleans())
def test_tables_equal_decisions_row_by_row(columns: dict[str, Any], policy: Policy, weighted: bool) -> None:  # noqa: FBT001
    result = decide.decision_tables(read_tallies(columns, **({"weight": "weight"} if weighted else {})), policy)
    weight = np.array(columns["weight"]) if weighted else np.ones(len(columns["sick"]))
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    done = [policy.action(row["risk"], [row[name] for name in policy.attributes]) for row in rows]
    for group, tables in result.items():
        in_group = np.array([group in (None, (row["sex"], row["site"])) for row in rows])
        assert set(tables) == set(policy.actions)
        for action, table in tables.items():
            gets, sick = np.array([each == action for each in done]), np.array(columns["sick"])
            wanted = [
                weight[in_group & a & b].sum() for a, b in ((gets, sick), (gets, ~sick), (~gets, sick), (~gets, ~sick))
            ]
            assert [table.tp, table.fp, table.fn, table.tn] == wanted
        assert sum(table.flagged for table in tables.values()) == weight[in_group].sum()
        assert sum(table.rows.flagged for table in tables.values()) == in_group.sum()


def simulate(rows: int) -> tuple[dict[str, Array], Tallies]:
    rng = np.random.default_rng(3)
    risk = rng.integers(0, 101, rows) / 100
    columns = {
        "sick": rng.random(rows) < risk,
        "risk": risk,
        "sex": rng.choice(SEXES, rows),
        "site": rng.choice(SITES, rows),
    }
    return columns, read_tallies(columns)


def test_expected_counts_equal_mean_randomized_decisions() -> None:
    columns, tallies = simulate(100_000)
    result = decide.decision_tables(tallies, BY_SEX)
    numbers = random_numbers(BY_SEX.key, [str(each) for each in range(100_000)])
    low, high = (columns["risk"] >= at for at in (0.3, 0.6))
    flag = np.where(columns["sex"] == "f", columns["risk"] >= 0.4, np.where(numbers < HALF.edges[0], low, high))
    for at in range(300):
        assert BY_SEX.action(columns["risk"][at], [columns["sex"][at]], id=at) == ("flag" if flag[at] else "pass")
    for group, tables in result.items():
        in_group = np.ones(100_000, bool)
        for name, value in zip(("sex", "site"), group or (), strict=False):
            in_group &= columns[name] == value
        for sick, of in ((True, "tp"), (False, "fp")):
            those = in_group & (columns["sick"] == sick)
            doubt = those & (columns["sex"] == "m") & (low != high)
            spread = np.sqrt(doubt.sum() * 0.25 * 0.75)
            assert abs(getattr(tables["flag"], of) - (flag & those).sum()) <= 4.5 * spread
        assert tables["flag"].flagged + tables["pass"].flagged == pytest.approx(in_group.sum(), rel=1e-12)


def test_unknown_groups_are_listed() -> None:
    _, tallies = simulate(60)
    only = Policy(
        by_group={("f", "1"): Cut((0.5,)), ("m", 2.0): Cut((0.5,))}, otherwise="refuse", attributes=("sex", "site")
    )
    with pytest.raises(
        UnknownLabelError, match=r"of 60 rows are of groups that this policy refuses: .*sex = 'f', site = '2'"
    ):
        decide.evaluate_policy(tallies, only)


def test_missing_attributes_raise() -> None:
    columns, _ = simulate(60)
    with pytest.raises(
        OptionError, match=r"by sex are needed, and the rows were read without groups; .* group='sex'\."
    ):
        decide.evaluate_policy(read_tallies(columns, group=[]), BY_SEX)
    with pytest.raises(OptionError, match="read by site alone"):
        decide.decision_tables(read_tallies(columns, group="site"), BY_SEX)


def test_rule_instead_of_policy_raises() -> None:
    _, tallies = simulate(60)
    with pytest.raises(OptionError, match="function is not a Policy"):
        decide.evaluate_policy(tallies, decide.youden)  # type: ignore[call-overload]


def test_several_models_need_a_name() -> None:
    columns, _ = simulate(60)
    both = read_tallies(columns | {"old": columns["risk"] / 2}, score=["risk", "old"])
    with pytest.raises(OptionError, match="several models"):
        decide.decision_tables(both, policy_for_all(Cut((0.5,))))
    with pytest.raises(UnknownNameError, match=r"no model 'new'. Known are: risk, old"):
        decide.decision_tables(both, policy_for_all(Cut((0.5,))), model="new")
    with pytest.raises(OptionError, match="no policy for old"):
        decide.evaluate_policy(both, {"risk": policy_for_all(Cut((0.5,)))})
    half, whole = (
        decide.decision_tables(both, policy_for_all(Cut((at,))), model=name)
        for name, at in (("old", 0.25), ("risk", 0.5))
    )
    assert half[None]["flag"].tp == whole[None]["flag"].tp


def test_thresholds_are_listed_where_rows_share_them() -> None:
    _, tallies = simulate(300)
    result = decide.evaluate_policy(tallies, BY_SEX, measures=["sensitivity"])
    read_results(result.to_json())
    output = [row for row in result.rows() if row["measure"] == "threshold"]
    assert not any(row["group"] is None for row in output)
    assert {(row["group"]["sex"], row["value"], row["chance"]) for row in output} == {
        ("f", 0.4, None),
        ("m", 0.3, 0.25),
        ("m", 0.6, 0.75),
    }
    assert result.data["policies"]["risk"]["attributes"] == ["sex"]
    [row] = [row for row in result.rows() if row["measure"] == "sensitivity" and row["group"] is None]
    table = decide.decision_tables(tallies, BY_SEX)[None]["flag"]
    judged = infer.estimate("sensitivity", table)
    assert (row["value"], row["low"], row["high"]) == (judged.value, judged.low, judged.high)


def test_reversal_swaps_the_table() -> None:
    _, tallies = simulate(300)
    usual, turned = (
        {
            row["measure"]: row["value"]
            for row in decide.evaluate_policy(tallies, policy_for_all(Cut((0.5,), actions))).rows()
            if not row["group"]
        }
        for actions in (("pass", "flag"), ("flag", "pass"))
    )
    assert turned["sensitivity"] == pytest.approx(1 - usual["sensitivity"])
    assert (turned["tp"], turned["tn"]) == (usual["fn"], usual["fp"])


def test_flagging_at_both_ends_with_referrals() -> None:
    _, tallies = simulate(300)
    ends = Policy(
        by_group={("f",): Cut((0.2, 0.8), ("flag", "pass", "flag"))},
        otherwise="refer",
        attributes=("sex",),
        settings={"refer": 0.25, "costs": Costs(fp=1, fn=4)},
    )
    result = decide.evaluate_policy(tallies, ends)
    everybody = {row["measure"]: row["value"] for row in result.rows() if row["group"] is None}
    women = tallies.models["risk"]
    total = sum(tally.total for group, tally in women.items() if group[0] == "f")
    assert everybody["coverage"] == pytest.approx(total / 300)
    decided = sum(everybody[cell] for cell in ("tp", "fp", "fn", "tn"))
    assert decided == total
    paid = everybody["fp"] + 4 * everybody["fn"] + 0.25 * (300 - total)
    assert everybody["cost_with_referrals"] == pytest.approx(paid / 300)


def test_randomized_bands_have_expected_counts() -> None:
    _, tallies = simulate(300)
    bands = RandomizedCut((Cut((0.5,), ("low", "high")), Cut((0.2, 0.8), ("low", "middle", "high"))), (0.5, 0.5))
    result = [row for row in decide.evaluate_policy(tallies, policy_for_all(bands)).rows() if row["group"] is None]
    shares = {row["action"]: row["value"] for row in result if row["measure"] == "share"}
    assert sum(shares.values()) == pytest.approx(1)
    high = np.mean([decide.decision_tables(tallies, policy_for_all(cut))[None]["high"].flagged for cut in bands.cuts])
    assert shares["high"] == pytest.approx(high / 300)


def test_data_of_the_choice_are_recognized() -> None:
    columns, tallies = simulate(300)
    by_sex = read_tallies(columns, group="sex")
    for digest in (tallies.pooled("risk").digest, tallies.digest, by_sex.digest):
        policy = Policy(by_group=BY_SEX.by_group, otherwise="refuse", attributes=("sex",), chosen_on=digest)
        result = decide.evaluate_policy(tallies, policy, interval=None)
        assert result.data["same"] == ["risk"]
        assert any("chosen on these rows" in note for note in result.data["notes"])
        reweighted = shift.reweigh(tallies, prevalence=0.1)
        assert decide.evaluate_policy(reweighted, policy, interval=None).data["same"] == ["risk"]
        turned = read_tallies(columns, group=["site", "sex"])
        assert decide.evaluate_policy(turned, policy, interval=None).data["same"] == ["risk"] * (
            digest != tallies.digest
        )
    assert decide.evaluate_policy(simulate(299)[1], policy, interval=None).data["same"] == []


def test_data_of_the_choice_are_recognized_after_a_calibrator() -> None:
    _, tallies = simulate(300)
    fitted = calibration.logistic(tallies.pooled("risk"))
    policy = decide.choose_policy(tallies, decide.youden, calibrator=fitted)
    result = decide.evaluate_policy(tallies, policy, measures=["youden"], interval=None)
    best = decide.youden(Curve(tallies.pooled("risk")))
    assert result.rows()[-1] == decide.evaluate_policy(tallies, best, measures=["youden"], interval=None).rows()[-1]
    assert result.data["same"] == ["risk"]
    assert result.data["policies"]["risk"]["map"] == fitted.method


def test_moments_add_up_over_reweighted_groups() -> None:
    columns, _ = simulate(400)
    weighted = read_tallies(columns | {"w": np.linspace(0.5, 2, 400)}, weight="w")
    reweighted = shift.reweigh(weighted, prevalence=0.02)
    table = decide.decision_tables(reweighted, BY_SEX)[None]["flag"]
    parts = [decide.decision_tables(reweighted, BY_SEX)[group]["flag"] for group in reweighted.groups]
    assert table.reweighed
    for name in ("tp", "fp", "fn", "tn"):
        for moment in ("squares", "rows"):
            whole, several = (
                getattr(getattr(table, moment), name),
                sum(getattr(getattr(part, moment), name) for part in parts),
            )
            assert whole == pytest.approx(several)
    assert table.positives / table.total == pytest.approx(0.02)
