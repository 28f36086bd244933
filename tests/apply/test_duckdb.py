"""Policies applied to relations of DuckDB, compared with the policy row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from baserate import Cut, OptionError, Policy, RandomizedCut, decide
from baserate.apply._duckdb import apply_to_relation
from baserate.apply._task import make_task
from tests.apply.forms import FORMS, binary_calibrator
from tests.apply.policy_rows import COLUMNS, IDS, NAMES, POLICIES, expected_action, rows_of, table
from tests.apply.policy_strategies import PolicyCase, cases


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a separate engine."""
    with duckdb.connect() as result:
        yield result


@pytest.mark.quick(8)
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("ids", IDS)
def test_relations_agree_with_the_policy(name: str, ids: str, engine: duckdb.DuckDBPyConnection) -> None:
    rows, policy = rows_of(IDS[ids] * 5, seed=2), POLICIES[name]
    relation = engine.from_arrow(table(rows, pa.uint64() if ids == "large" else None))
    result = apply_to_relation(make_task(policy), relation)
    assert result.columns == [*relation.columns, "action"]
    assert [row[-1] for row in result.fetchall()] == [expected_action(policy, row) for row in rows]


@pytest.mark.parametrize("name", ["groups", "combinations", "of three"])
def test_many_groups_are_conditions_instead_of_lists(
    name: str, engine: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, policy = rows_of(range(50)), POLICIES[name]
    decision, relation = make_task(policy, chances=True), engine.from_arrow(table(rows))
    result = apply_to_relation(decision, relation).fetchall()
    monkeypatch.setattr("baserate.apply._duckdb._MAX_COMBINATIONS", 0)
    assert apply_to_relation(decision, relation).fetchall() == result
    assert [row[len(NAMES)] for row in result] == [expected_action(policy, row) for row in rows]


@given(cases())
@settings(max_examples=20, deadline=None)
def test_random_policies_agree_in_relations(case: PolicyCase) -> None:
    with duckdb.connect() as engine:
        result = apply_to_relation(make_task(case.policy), engine.from_arrow(pa.table(case.columns))).fetchall()
    assert [row[-1] for row in result] == case.expected_actions


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["beta", "logistic", "line", "temperature"])
def test_scores_at_a_threshold_are_flagged_after_calibration(name: str, engine: duckdb.DuckDBPyConnection) -> None:
    # The engine's own logarithms would miss the last bit of some of these.
    map_, x = binary_calibrator(FORMS[name]), np.random.default_rng(0).random(100)
    relation = engine.from_arrow(pa.table({"risk": x}))
    for threshold in map_(x):
        behind = Policy(by_group={(): Cut((threshold,))}, otherwise="refuse", columns=COLUMNS)
        policy = decide.on_raw_scores(behind, map_, scores=x)
        flagged = [action == "flag" for _, action in apply_to_relation(make_task(policy), relation).fetchall()]
        assert np.array_equal(flagged, map_(x) >= threshold)


TYPED = "SELECT {label} AS site, {id} AS who, 0.5::FLOAT AS Risk"


@pytest.mark.parametrize(
    ("label", "sql"),
    [
        (1, "1::TINYINT"),
        (1, "1.0::DOUBLE"),
        (1, "1::UHUGEINT"),
        (True, "true"),
        ("2020-01-02", "DATE '2020-01-02'"),
        ("b", "'b'::ENUM('a', 'b')"),
        (0.1, "0.1::DOUBLE"),
        (float(np.float32(0.1)), "0.1::FLOAT"),
        (None, "'nan'::DOUBLE"),
        (None, "NULL"),
    ],
)
def test_labels_of_any_type_match_by_their_text(
    label: Any,  # noqa: ANN401  (labels)
    sql: str,
    engine: duckdb.DuckDBPyConnection,
) -> None:
    by_group = {("other",): Cut((0.1,))} | ({} if label is None else {(label,): Cut((), ("here",))})
    policy = Policy(by_group=by_group, otherwise="elsewhere", attributes=("site",))
    result = apply_to_relation(make_task(policy, score="Risk"), engine.sql(TYPED.format(label=sql, id="1")))
    assert result.columns == ["site", "who", "Risk", "action"]
    assert result.fetchall()[0][-1] == ("elsewhere" if label is None else "here")


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("7::HUGEINT", "7"),
        ("(9223372036854775808)::UBIGINT", str(2**63)),
        ("'b'::ENUM('a', 'b')", "b"),
        ("'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ],
)
def test_ids_of_any_type_are_hashed_by_their_text(sql: str, text: str, engine: duckdb.DuckDBPyConnection) -> None:
    for odds in np.linspace(0.1, 0.9, 9):  # of different keys
        policy = Policy(by_group={(): RandomizedCut((Cut((0.3,)), Cut((0.6,))), (odds, 1 - odds))}, otherwise="refuse")
        relation = engine.sql(TYPED.format(label="NULL", id=sql))
        result = apply_to_relation(make_task(policy, score="Risk", id="who"), relation).fetchall()
        assert result[0][-1] == policy.action(0.5, id=text)


def test_relations_stay_lazy_and_fail_when_they_are_read(engine: duckdb.DuckDBPyConnection) -> None:
    policy = POLICIES["groups"]
    strict = Policy(by_group=policy.by_group, otherwise="refuse", attributes=("site",), columns=COLUMNS)
    for label, id_, risk, output in (
        ("'x'", "1", "0.5", "a row is of a group that this policy refuses"),
        ("'f'", "NULL::BIGINT", "0.5", "a row has no id, which this randomized policy needs"),
        ("'f'", "1", "'nan'", "a score is missing"),
    ):
        relation = apply_to_relation(
            make_task(strict), engine.sql(f"SELECT {label} AS site, {id_} AS who, {risk}::DOUBLE AS risk")
        )
        assert relation.columns == ["site", "who", "risk", "action"]
        with pytest.raises(duckdb.InvalidInputException, match=output):
            relation.fetchall()


@pytest.mark.parametrize("kind", ["DOUBLE", "BOOLEAN", "DATE", "JSON"])
def test_ids_with_several_spellings_raise(kind: str, engine: duckdb.DuckDBPyConnection) -> None:
    relation = engine.sql(TYPED.format(label="NULL", id=f"NULL::{kind}"))
    with pytest.raises(OptionError, match=rf"ids in 'who' hold {kind}; expected whole numbers or text"):
        apply_to_relation(make_task(POLICIES["lottery"], score="Risk"), relation)
    result = apply_to_relation(
        make_task(POLICIES["plain"], score="Risk", id="who"), relation
    )  # which is not randomized
    assert result.fetchall()[0][-1] == "flag"
