"""A policy applied to files and relations: what the engine does with each row is what the policy says of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baserate import (
    BadOption,
    BaserateError,
    Cut,
    Lottery,
    MissingValues,
    NotAProbability,
    Policy,
    UnknownLabel,
    UnknownName,
    apply,
)
from baserate._cut import Treatment
from baserate._forms import Line, LogOdds
from baserate.apply._before import before
from baserate.apply._decision import Decision
from baserate.apply._policy_engine import of_relation
from tests.apply.forms import FORMS, mapped
from tests.apply.tables import read, write

Row = dict[str, Any]

HALF = Lottery((Cut((0.3,)), Cut((0.6,))), (0.5, 0.5))
THREE = Lottery(
    (Cut((0.2,), ("look", "don't")), Cut((0.5, 0.8), ("pass", 'say "é"', "pass")), Cut((), ("flag",))), (0.2, 0.5, 0.3)
)
COLUMNS = {"score": "risk", "id": "who"}
POLICIES: dict[str, Policy] = {
    "plain": Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", columns=COLUMNS),
    "nothing": Policy(by_group={(): Cut((np.inf,))}, otherwise="refuse", columns=COLUMNS),
    "bands": Policy(by_group={(): Cut((0.2, 0.7), ("low", "medium", "high"))}, otherwise="refuse", columns=COLUMNS),
    "lottery": Policy(by_group={(): HALF}, otherwise="refuse", columns=COLUMNS),
    "groups": Policy(
        by_group={("f",): Cut((0.4,)), ('it\'s "ß"',): HALF, ("m",): THREE},
        otherwise="refer",
        attributes=("site",),
        columns=COLUMNS,
    ),
    "combinations": Policy(
        by_group={("f", 1): HALF, ("f", 2): Cut((0.5,), ("flag", "pass")), ("m", 1): THREE},
        otherwise="pass",
        attributes=("site", "ward"),
        columns=COLUMNS,
    ),
    "of three": Policy(
        by_group={
            (site, ward, old): HALF if old else THREE for site in "fm" for ward in (1, 3) for old in (True, False)
        },
        otherwise="look",
        attributes=("site", "ward", "old"),
        columns=COLUMNS,
    ),
    **{
        f"after {name}": Policy(by_group={(): HALF}, otherwise="refuse", map=mapped(FORMS[name]), columns=COLUMNS)
        for name in ("beta", "line", "knots of probabilities", "one step", "between")
    },
}
OF_FILES = ("combinations", "of three", "after beta")
"""Those that every kind of file meets."""
IDS: dict[str, list[Any]] = {
    "text": ["007", "7", "", 'a "b"', "it's", "é", "e\u0301", "日本", " x ", "1e3", "9223372036854775808", "NULL"],
    "numbers": [7, 0, -3, 2**53 + 1, 2**63 - 1, -(2**63), 10, 11, 12, 13, 14, 15],
    "large": [2**63, 2**64 - 1, *range(10)],
}
NAMES = ("who", "risk", "site", "ward", "old")
KINDS = ("in.csv", "in.tsv", "in.csv.gz", "in.parquet", "in.jsonl", "in.arrow")


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an engine of our own."""
    with duckdb.connect() as found:
        yield found


def rows_of(ids: Sequence[Any], seed: int = 0) -> list[Row]:
    """Rows with these ids, of groups that policies know and that they do not."""
    rng = np.random.default_rng(seed)
    sites, wards = ["f", "m", 'it\'s "ß"', "x", None], [1, 2, 3, None]
    drawn = [(round(rng.random(), 2), sites[rng.integers(5)], wards[rng.integers(4)], rng.random() < 0.5) for _ in ids]
    return [dict(zip(NAMES, (id_, *each), strict=True)) for id_, each in zip(ids, drawn, strict=True)]


def table(rows: Sequence[Row], ids: pa.DataType | None = None) -> pa.Table:
    schema = {"who": ids or pa.array([row["who"] for row in rows]).type, "risk": pa.float64()}
    labels = {"site": pa.string(), "ward": pa.int64(), "old": pa.bool_()}
    return pa.Table.from_pylist(rows, pa.schema({**schema, **labels}))


def said(policy: Policy, row: Row) -> str:
    """What the policy says of a row."""
    return policy.action(row["risk"], [row[name] for name in policy.attributes], id=row["who"])


@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("ids", IDS)
def test_every_kind_of_file_is_decided_as_the_policy_says(source: str, ids: str, tmp_path: Path) -> None:
    # An empty cell of CSV is nothing, and so no id.
    rows = [row for row in rows_of(IDS[ids] * 3, seed=1) if row["who"] != "" or ".json" in source]
    write(table(rows, pa.uint64() if ids == "large" else None), tmp_path / source)
    for policy in (POLICIES[name] for name in OF_FILES):
        written = apply.file(policy, tmp_path / source, tmp_path / "out.jsonl")
        found = [row["action"] for row in read(tmp_path / "out.jsonl")]
        assert written.rows == len(rows)
        assert found == [said(policy, row) for row in rows]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("ids", IDS)
def test_every_relation_is_decided_as_the_policy_says(name: str, ids: str, engine: duckdb.DuckDBPyConnection) -> None:
    rows, policy = rows_of(IDS[ids] * 5, seed=2), POLICIES[name]
    relation = engine.from_arrow(table(rows, pa.uint64() if ids == "large" else None))
    found = of_relation(Decision.of(policy), relation)
    assert found.columns == [*relation.columns, "action"]
    assert [row[-1] for row in found.fetchall()] == [said(policy, row) for row in rows]


@pytest.mark.parametrize("name", ["groups", "combinations", "of three"])
def test_groups_that_are_too_many_to_look_up_are_asked_for(
    name: str, engine: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, policy = rows_of(range(50)), POLICIES[name]
    decision, relation = Decision.of(policy, chances=True), engine.from_arrow(table(rows))
    found = of_relation(decision, relation).fetchall()
    monkeypatch.setattr("baserate.apply._looked_up._MOST", 0)
    assert of_relation(decision, relation).fetchall() == found
    assert [row[len(NAMES)] for row in found] == [said(policy, row) for row in rows]


def test_an_id_is_how_it_is_written(tmp_path: Path) -> None:
    rows = rows_of(range(200))
    write(table(rows, pa.int16()), tmp_path / "in.parquet")
    write(table(rows, pa.uint64()), tmp_path / "in.arrow")
    for name in ("in.csv", "in.jsonl"):
        write(table(rows), tmp_path / name)
    texts = [{**row, "who": str(row["who"])} for row in rows]
    write(table(texts), tmp_path / "text.parquet")
    found = []
    for name in ("in.parquet", "in.arrow", "in.csv", "in.jsonl", "text.parquet"):
        apply.file(POLICIES["groups"], tmp_path / name, tmp_path / "out.jsonl")
        found.append([row["action"] for row in read(tmp_path / "out.jsonl")])
    assert all(each == found[0] for each in found)


def test_neither_splits_nor_order_change_anything(tmp_path: Path) -> None:
    rows, policy = rows_of([f"p{at}" for at in range(300)]), POLICIES["groups"]
    folder = tmp_path / "parts"
    folder.mkdir()
    write(table(rows), tmp_path / "in.parquet")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", chances=True)
    wanted = read(tmp_path / "out.parquet")
    for part in range(7):
        write(table(rows[part * 43 : (part + 1) * 43]), folder / f"part-{part}.parquet")
    for source in (folder, folder / "part-*.parquet", [folder / f"part-{part}.parquet" for part in range(7)]):
        assert apply.file(policy, source, tmp_path / "again.parquet", chances=True).rows == 300
        assert read(tmp_path / "again.parquet") == wanted
    write(table(rows[::-1]), tmp_path / "back.parquet")
    apply.file(policy, tmp_path / "back.parquet", tmp_path / "again.parquet", chances=True)
    assert read(tmp_path / "again.parquet") == wanted[::-1]


def test_folders_may_name_the_group(tmp_path: Path) -> None:
    for site in ("f", "m"):
        (tmp_path / f"site={site}").mkdir()
        part = table([{**row, "site": None} for row in rows_of(range(20))]).drop_columns(["site"])
        write(part, tmp_path / f"site={site}" / "part.parquet")
    apply.file(POLICIES["groups"], tmp_path / "site=*" / "*.parquet", tmp_path / "out.jsonl")
    found = read(tmp_path / "out.jsonl")
    assert {row["site"] for row in found} == {"f", "m"}
    assert [row["action"] for row in found] == [said(POLICIES["groups"], row) for row in found]


@pytest.mark.parametrize("name", POLICIES)
def test_chances_stand_beside_the_action(name: str, tmp_path: Path) -> None:
    policy, rows = POLICIES[name], rows_of(IDS["numbers"], seed=2)
    write(table(rows), tmp_path / "in.parquet")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", chances=True, to="do")
    for row in read(tmp_path / "out.parquet"):
        assert [*row][5:] == ["do", *(f"do_chance_{action}" for action in policy.actions)]
        treatment = policy.treatment([row[name] for name in policy.attributes])
        score = row["risk"] if policy.map is None else policy.map([row["risk"]])[0]
        assert {each: row[f"do_chance_{each}"] for each in policy.actions} == chances(policy, treatment, score)


def chances(policy: Policy, treatment: Treatment, score: float) -> dict[str, float]:
    if isinstance(treatment, Lottery):
        return dict.fromkeys(policy.actions, 0.0) | treatment.chances_at(score)
    return {each: float(each == treatment.action(score)) for each in policy.actions}


thresholds = st.lists(st.sampled_from([-np.inf, -0.5, 0.0, 0.25, 0.5, 1.0, 1e300, np.inf]), unique=True, max_size=3)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3)


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    at = sorted(draw(thresholds))
    actions = draw(st.lists(names, min_size=len(at) + 1, max_size=len(at) + 1, unique=True))
    return Cut(tuple(at), tuple(actions))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    lotteries = st.lists(cuts(), min_size=2, max_size=3, unique=True).map(
        lambda found: Lottery(tuple(found), tuple([1 / len(found)] * len(found)))
    )
    words = names.filter(lambda name: not name[-1].isdigit())  # 1.0 is the number 1
    labels = draw(st.lists(words | st.integers(-3, 3), unique=True, min_size=1, max_size=4))
    by_group: dict[tuple[object, ...], Treatment] = {(label,): draw(cuts() | lotteries) for label in labels}
    return Policy(by_group=by_group, otherwise=draw(names), attributes=("site",), columns=COLUMNS)


@given(
    policies(),
    st.lists(st.tuples(names, st.sampled_from([-1.0, -0.5, 0.1, 0.25, 0.5, 1.0, 7.0])), min_size=1),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_any_policy_decides_any_row_as_it_says(
    policy: Policy, given: list[tuple[str, float]], data: st.DataObject
) -> None:
    labels = st.sampled_from([None, "other", *(str(group[0]) for group in policy.by_group)])
    rows = [{"who": id_, "risk": score, "site": data.draw(labels)} for id_, score in given]
    with duckdb.connect() as engine:
        found = of_relation(Decision.of(policy), engine.from_arrow(table(rows))).fetchall()
    assert [row[-1] for row in found] == [said(policy, row) for row in rows]


@given(st.sampled_from([each for each in FORMS.values() if isinstance(each, (Line, LogOdds))]), st.data())
@settings(max_examples=60, deadline=None)
def test_thresholds_are_found_before_a_map(form: LogOdds | Line, data: st.DataObject) -> None:
    x = np.array(data.draw(st.lists(st.integers(0, 1000), min_size=1, unique=True))) / 1000
    p = np.unique(form(x))
    found = np.array(before(form, p.tolist()))
    assert np.array_equal(x[:, None] >= found, form(x)[:, None] >= p)
    assert before(form, [-1.0, 2.0]) == [0.0 if form.of_probabilities else -sys.float_info.max, np.inf]


@pytest.mark.parametrize("name", ["beta", "logistic", "line", "temperature"])
def test_scores_at_a_threshold_are_above_it_after_a_map_too(name: str, engine: duckdb.DuckDBPyConnection) -> None:
    # The engine's own logarithms miss the last bit of some of these.
    map_, x = mapped(FORMS[name]), np.random.default_rng(0).random(100)
    relation = engine.from_arrow(pa.table({"risk": x}))
    for threshold in map_(x):
        policy = Policy(by_group={(): Cut((threshold,))}, otherwise="refuse", map=map_, columns=COLUMNS)
        flagged = [action == "flag" for _, action in of_relation(Decision.of(policy), relation).fetchall()]
        assert np.array_equal(flagged, map_(x) >= threshold)


def test_many_groups_and_many_rows_keep_their_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sites, risk = rng.integers(0, 300, 100_000), rng.random(100_000)
    levels = {f"s{at}": Cut((at / 300,)) if at % 9 else Cut((0.5,)) for at in range(300)}
    policy = Policy(by_group={(name,): cut for name, cut in levels.items()}, otherwise="refuse", attributes=("site",))
    given = pa.table({"at": np.arange(len(risk)), "risk": risk, "site": [f"s{at}" for at in sites]})
    write(given, tmp_path / "in.parquet")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", score="risk")
    found = pa.parquet.read_table(tmp_path / "out.parquet")
    assert found.drop_columns(["action"]).to_pydict() == given.to_pydict()
    at = np.array([cut.threshold for cut in levels.values()])
    assert np.array_equal(found["action"].to_numpy() == "flag", risk >= at[sites])


def test_lots_fall_as_often_as_they_should(tmp_path: Path) -> None:
    n = 100_000
    write(pa.table({"who": np.arange(n), "risk": np.full(n, 0.5)}), tmp_path / "in.parquet")
    policy = Policy(by_group={(): Lottery((Cut((0.3,)), Cut((0.6,))), (0.2, 0.8))}, otherwise="refuse")
    apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.parquet", score="risk", id="who")
    flagged = np.mean([row["action"] == "flag" for row in read(tmp_path / "out.parquet")])
    assert abs(flagged - 0.2) < 5 * np.sqrt(0.2 * 0.8 / n)


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
def test_labels_of_any_type_are_known_by_how_they_are_written(
    label: Any,  # noqa: ANN401  (labels)
    sql: str,
    engine: duckdb.DuckDBPyConnection,
) -> None:
    by_group = {("other",): Cut((0.1,))} | ({} if label is None else {(label,): Cut((), ("here",))})
    policy = Policy(by_group=by_group, otherwise="elsewhere", attributes=("site",))
    found = of_relation(Decision.of(policy, score="Risk"), engine.sql(TYPED.format(label=sql, id="1")))
    assert found.columns == ["site", "who", "Risk", "action"]
    assert found.fetchall()[0][-1] == ("elsewhere" if label is None else "here")


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("7::HUGEINT", "7"),
        ("(9223372036854775808)::UBIGINT", str(2**63)),
        ("'b'::ENUM('a', 'b')", "b"),
        ("'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ],
)
def test_ids_of_any_type_are_hashed_as_they_are_written(sql: str, text: str, engine: duckdb.DuckDBPyConnection) -> None:
    for odds in np.linspace(0.1, 0.9, 9):  # of different keys
        policy = Policy(by_group={(): Lottery((Cut((0.3,)), Cut((0.6,))), (odds, 1 - odds))}, otherwise="refuse")
        relation = engine.sql(TYPED.format(label="NULL", id=sql))
        found = of_relation(Decision.of(policy, score="Risk", id="who"), relation).fetchall()
        assert found[0][-1] == policy.action(0.5, id=text)


def test_relations_stay_lazy_and_fail_when_they_are_read(engine: duckdb.DuckDBPyConnection) -> None:
    policy = POLICIES["groups"]
    strict = Policy(by_group=policy.by_group, otherwise="refuse", attributes=("site",), columns=COLUMNS)
    for label, id_, risk, told in (
        ("'x'", "1", "0.5", "a row is of a group that this policy refuses"),
        ("'f'", "NULL::BIGINT", "0.5", "a row has no id, which this policy draws lots with"),
        ("'f'", "1", "'nan'", "a score is missing"),
    ):
        relation = of_relation(
            Decision.of(strict), engine.sql(f"SELECT {label} AS site, {id_} AS who, {risk}::DOUBLE AS risk")
        )
        assert relation.columns == ["site", "who", "risk", "action"]
        with pytest.raises(duckdb.InvalidInputException, match=told):
            relation.fetchall()


@pytest.mark.parametrize("kind", ["DOUBLE", "BOOLEAN", "DATE", "JSON"])
def test_ids_that_are_written_in_several_ways_are_refused(kind: str, engine: duckdb.DuckDBPyConnection) -> None:
    relation = engine.sql(TYPED.format(label="NULL", id=f"NULL::{kind}"))
    with pytest.raises(BadOption, match=rf"ids in 'who' hold {kind}; they must be whole numbers or text"):
        of_relation(Decision.of(POLICIES["lottery"], score="Risk"), relation)
    found = of_relation(Decision.of(POLICIES["plain"], score="Risk", id="who"), relation)  # which draws no lots
    assert found.fetchall()[0][-1] == "flag"


def test_ids_that_rows_share_are_noted(tmp_path: Path) -> None:
    rows = [{"who": who, "risk": risk, "site": None} for who, risk in zip("aabbbc", [0.5, 0.9] * 3, strict=True)]
    rows += [{"who": "c", "risk": 0.4, "site": None}] * 2
    write(table(rows), tmp_path / "in.csv")
    written = apply.file(POLICIES["lottery"], tmp_path / "in.csv", tmp_path / "out.csv")
    [note] = written.notes
    assert note.startswith("2 of 5 rows whose lot decides have an id in 'who' that another has, too, and so draw the")
    assert apply.file(POLICIES["lottery"], tmp_path / "in.csv", tmp_path / "out.csv", id="risk").notes != ()
    assert apply.file(POLICIES["plain"], tmp_path / "in.csv", tmp_path / "out.csv").notes == ()
    write(table(rows_of(range(50))), tmp_path / "in.parquet")
    assert apply.file(POLICIES["lottery"], tmp_path / "in.parquet", tmp_path / "out.csv").notes == ()


def lines(**columns: Sequence[Any]) -> str:
    return "".join(
        json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in zip(*columns.values(), strict=True)
    )


STRICT = Policy(by_group={("f",): HALF}, otherwise="refuse", attributes=("site",), columns=COLUMNS)
BAD: dict[str, tuple[str, dict[str, Any], type[BaserateError], str]] = {
    "missing scores": (
        lines(who="abc", risk=[None, 0.5, "NA"], site="fxf"),
        {},
        MissingValues,
        "2 of 3 rows have a score that is missing, NaN or infinite in 'risk' (rows 1, 3, counted from 1); fill them in",
    ),
    "groups that are refused": (
        lines(who=range(9), risk=[0.5] * 9, site=["f", "x", "x", None, "a", "b", "c", "d", "e"]),
        {},
        UnknownLabel,
        "'x' (2 rows), site = 'a' (1 row), site = 'b' (1 row), site = 'c' (1 row), site = 'd' (1 row) and 2 more",
    ),
    "a group that is missing": (
        lines(who="a", risk=[0.5], site=[None]),
        {},
        UnknownLabel,
        "1 of 1 rows are of groups that this policy refuses: site missing (1 row); leave them out",
    ),
    "no id": (
        lines(who=["a", None], risk=[0.5, 0.9], site="ff"),
        {},
        MissingValues,
        "1 of 2 rows have no id in 'who' (row 2, counted from 1), which this policy draws lots with; give every row",
    ),
    "ids with a fraction": (lines(who=[1, 2.5], risk=[0.5] * 2, site="ff"), {}, BadOption, "numbers that are not"),
    "ids that are too large": (lines(who=[2**64], risk=[0.5], site="f"), {}, BadOption, "or too large; they must"),
    "ids of two kinds": (
        lines(who=[1, "1"], risk=[0.5] * 2, site="ff"),
        {},
        BadOption,
        "ids in 'who' hold whole numbers and text; they must be whole numbers or text, and all of one kind",
    ),
    "booleans for ids": (lines(who=[True], risk=[0.5], site="f"), {}, BadOption, "hold booleans; they must be"),
    "objects for ids": (lines(who=[{"a": 1}], risk=[0.5], site="f"), {}, BadOption, "hold objects; they must be"),
    "no column of ids": (lines(risk=[0.5], site="f"), {}, UnknownName, "there is no column 'who'"),
    "no column of groups": (lines(who="a", risk=[0.5]), {}, UnknownName, "there is no column 'site'"),
    "a name that is taken": (
        lines(who="a", risk=[0.5], site="f"),
        {"to": "site"},
        BadOption,
        "a column 'site' already",
    ),
    "an option of maps": (lines(who="a", risk=[0.5], site="f"), {"bounds": True}, BadOption, "bounds is no option"),
    "two groups for one": (
        lines(who="a", risk=[0.5], site="f"),
        {"group": ["site", "who"]},
        BadOption,
        "group names 2 columns; this policy asks for site: name one for each.",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_decided_is_told_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    text, asked, error, message = BAD[name]
    (tmp_path / "in.jsonl").write_text(text)
    (tmp_path / "out.jsonl").write_text("precious")
    with pytest.raises(error) as refused:
        apply.file(STRICT, tmp_path / "in.jsonl", tmp_path / "out.jsonl", **asked)
    assert message in str(refused.value)
    assert (tmp_path / "out.jsonl").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_an_id_must_be_named() -> None:
    nameless = Policy(by_group={(): HALF}, otherwise="refuse")
    with pytest.raises(BadOption, match='name their column, such as id="patient"'):
        apply.file(nameless, "in.csv", "out.csv", score="risk")


def test_scores_that_a_map_does_not_take_are_told_as_the_map_tells_them(tmp_path: Path) -> None:
    write(pa.table({"who": [1, 2, 3], "risk": [0.5, 1.5, None]}), tmp_path / "in.parquet")
    for name in ("after beta", "after knots of probabilities"):
        policy = POLICIES[name]
        assert policy.map is not None
        with pytest.raises(NotAProbability) as refused:
            apply.file(policy, tmp_path / "in.parquet", tmp_path / "out.csv", missing="keep")
        with pytest.raises(NotAProbability) as of_map:
            apply.file(policy.map, tmp_path / "in.parquet", tmp_path / "out.csv", missing="keep", score="risk")
        assert str(refused.value) == str(of_map.value)
    apply.file(POLICIES["plain"], tmp_path / "in.parquet", tmp_path / "out.csv", missing="keep")
    assert [row["action"] for row in read(tmp_path / "out.csv")] == ["flag", "flag", ""]


@pytest.mark.parametrize("source", KINDS)
def test_rows_without_a_score_may_stay(source: str, tmp_path: Path) -> None:
    rows = [{**row, "risk": row["risk"] if row["who"] % 2 else None} for row in rows_of(IDS["numbers"])]
    write(table(rows), tmp_path / source)
    for policy in (POLICIES[name] for name in OF_FILES):
        apply.file(policy, tmp_path / source, tmp_path / "out.jsonl", missing="keep", chances=True)
        for row, new in zip(rows, read(tmp_path / "out.jsonl"), strict=True):
            made = [new[name] for name in [*new][5:]]
            if row["risk"] is None:
                assert made == [None] * len(made)
            else:
                assert made[0] == said(policy, row)
                assert sum(made[1:]) == pytest.approx(1)


FULL = """
import resource, sys
from baserate import BadOption, Policy, apply
if sys.argv[3] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    apply.file(Policy.load(sys.argv[1]), sys.argv[2], sys.argv[4])
except BadOption as error:
    print(error)
"""


def written_where_there_is_no_room(folder: Path, target: Path, how: str) -> str:
    """Write 300 000 rows there, in a process of its own."""
    n = 300_000
    write(pa.table({"who": np.arange(n), "risk": np.random.default_rng(0).random(n)}), folder / "in.parquet")
    POLICIES["lottery"].save(folder / "policy.json")
    paths = [folder / "policy.json", folder / "in.parquet", how, target]
    done = subprocess.run([sys.executable, "-c", FULL, *map(str, paths)], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_file_that_grows_too_large_leaves_the_old_one(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("precious")
    told = written_where_there_is_no_room(tmp_path, tmp_path / name, "limit")
    assert told == f"cannot write {tmp_path / name} (File too large); make room there, or name another file.\n"
    assert (tmp_path / name).read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.parquet", name, "policy.json"])


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Make a folder that holds 200 kB and no more."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program to mount a small tmpfs")
    if done.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607  (where it is differs)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_full_disk_leaves_the_old_file(name: str, small: Path, tmp_path: Path) -> None:
    (small / name).write_text("precious")
    told = written_where_there_is_no_room(tmp_path, small / name, "disk")
    assert told == f"cannot write {small / name} (No space left on device); make room there, or name another file.\n"
    assert [path.name for path in small.iterdir()] == [name]
    assert (small / name).read_text() == "precious"
