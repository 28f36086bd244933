"""Plans in Python and JSON."""

import json
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Costs, Curve, Cut, FileFormatError, OptionError, Plan, Policy, UnknownNameError, decide, tally

NAMES = st.text(min_size=1, max_size=8)
POLICY = st.none() | NAMES


@st.composite
def draw_plan(draw: st.DrawFn) -> Plan:
    cut: Any = draw(st.sampled_from([{}, {"threshold": draw(st.floats(allow_nan=False))}, {"rule": "youden"}]))
    columns = draw(st.lists(NAMES, min_size=6, max_size=6, unique=True))
    return Plan(
        files=draw(st.lists(NAMES, max_size=3)),
        truth=columns[0],
        score=columns[1 : draw(st.integers(2, 4))],
        group=columns[4 : draw(st.integers(4, 6))],
        positive=draw(st.none() | NAMES | st.integers() | st.booleans()),
        missing=draw(st.sampled_from(["refuse", "drop"])),
        prevalence=draw(st.none() | st.floats(0.001, 0.999)),
        costs=draw(st.none() | st.builds(Costs, fp=st.floats(1e-9, 9), fn=st.floats(0.5, 9))),
        level=draw(st.floats(0.5, 0.99)),
        seed=draw(st.integers(0, 9)),
        **cut,
    )


@given(draw_plan())
def test_json_round_trip(plan: Plan) -> None:
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert again.to_json() == plan.to_json()


def test_plan_file_contains_the_policy(tmp_path: Path) -> None:
    policy = decide.youden(Curve(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])))
    plan = Plan(score="risk", policy=policy)
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json").policy == policy
    changed = (tmp_path / "plan.json").read_text(encoding="utf-8").replace("0.9", "0.8")
    with pytest.raises(FileFormatError, match="seal"):
        Plan.from_json(changed)


def test_single_names_and_numpy_numbers_are_converted() -> None:
    assert Plan(files="a.csv", score="p", group="g") == Plan(files=["a.csv"], score=("p",), group=["g"])
    assert Plan(files=Path("a.csv"), score="p").files == ("a.csv",)
    assert Plan(score="p", positive=np.int64(1)).positive == 1
    assert Plan(score="p", rule="Break even").rule == "break-even"


def test_missing_fields_have_their_defaults() -> None:
    assert Plan.from_json('{"kind": "baserate/plan", "schema_version": 1, "score": ["p"]}') == Plan(score="p")


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({}, "no column to evaluate is named"),
        ({"score": "p", "prevalence": 0}, "prevalence is 0"),
        ({"score": "p", "prevalence": True}, "prevalence is True"),
        ({"score": "p", "prevalence": "2%"}, "prevalence is '2%'"),
        ({"score": "p", "threshold": 0.5, "rule": "youden"}, "threshold and rule are given; expected at most one"),
        ({"score": "p", "threshold": float("nan")}, "threshold is nan"),
        ({"score": "p", "rule": "cost"}, "needs the costs of errors"),
        ({"score": "p", "rule": "capacity"}, "the rule capacity has options that a plan cannot contain"),
        ({"score": "p", "costs": (1, 20)}, "expected Costs"),
        ({"score": "p", "policy": 0.5}, "policy is float"),
        ({"score": "p", "missing": "keep"}, "missing is 'keep'"),
        ({"score": "p", "level": 2}, "level is 2"),
        ({"score": "p", "method": "magic"}, "method='magic'"),
        ({"score": "p", "method": 3}, "method is 3"),
        ({"score": "p", "seed": -1}, "seed is -1"),
        ({"score": 3}, "score is 3"),
        ({"score": [3]}, "not the name of a column"),
        ({"score": "p", "positive": object}, "positive is"),
        ({"score": "p", "apart": True, "files": ["a.csv"]}, "several files"),
        ({"score": "p", "apart": True, "group": "g"}, "without groups"),
        ({"score": "p", "apart": True, "predicted": "q"}, "separate samples need scores"),
    ],
)
def test_invalid_plans_raise(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Plan(**given_)


def test_policies_of_risk_bands_raise() -> None:
    bands = Policy(by_group={(): Cut((0.2, 0.5), ("low", "middle", "high"))}, otherwise="refuse")
    with pytest.raises(OptionError, match="has no confusion matrix"):
        Plan(score="p", policy=bands)


def test_unknown_rule_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'youden'"):
        Plan(score="p", rule="youdn")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a plan"),
        ('{"kind": "baserate/policy"}', "not a plan"),
        ('{"kind": "baserate/plan", "schema_version": 2}', "upgrade"),
        ('{"kind": "baserate/plan", "schema_version": true}', "unknown schema version, True"),
        ('{"kind": "baserate/plan", "schema_version": 1, "scor": ["p"]}', "Did you mean 'score'"),
        ('{"kind": "baserate/plan", "schema_version": 1, "score": ["p"], "costs": {"fq": 1}}', "not a valid plan"),
    ],
)
def test_files_that_are_no_plans_raise(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        Plan.from_json(text)


def test_infinite_thresholds_are_text_in_a_file() -> None:
    plan = Plan(score="p", threshold=inf)
    assert json.loads(plan.to_json())["threshold"] == "inf"
    assert Plan.from_json(plan.to_json()).threshold == inf


def test_the_schema_lists_the_rules_of_plans() -> None:
    text = resources.files("baserate").joinpath("schemas/plan-1.json").read_text(encoding="utf-8")
    listed = json.loads(text)["properties"]["rule"]["enum"]
    assert listed == [None, *decide.plan_rules()], "renew schemas/plan-1.json: make pages"
