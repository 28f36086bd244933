"""Policies exported as SQL and as Python, compared with the policy row by row."""

from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from sqlglot import exp, parse_one

from baserate import Cut, OptionError, Policy, RandomizedCut, UnknownNameError, apply
from tests.apply.export_samples import NASTY, Sample, check, columns, policies, samples
from tests.apply.forms import CLASS_FORMS, FORMS, binary_calibrator, multiclass_calibrator

HALF = RandomizedCut((Cut((0.4,)), Cut((0.7,))), (0.5, 0.5))
APART = Policy(
    by_group={("f",): Cut((0.4,)), ("m",): HALF},
    otherwise="refer",
    attributes=("sex",),
    columns={"score": "risk", "id": "patient"},
)
COMMON = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", columns={"score": "risk"})


def table(policy: Policy, rows: Sequence[Sample]) -> pa.Table:
    texts = {"id": pa.string(), **dict.fromkeys(policy.attributes, pa.string())}
    types = {"my risk": pa.float64(), **texts, "row": pa.int64()}
    result = columns(policy, rows)
    return pa.table({name: pa.array(result[name], types[name]) for name in result})


def run_in_duckdb(policy: Policy, rows: Sequence[Sample], query: str) -> list[tuple[Any, ...]]:
    """Run a query on rows in a table `my.scores`; return the new columns in the order of the rows."""
    with duckdb.connect() as engine:
        engine.register("given", table(policy, rows))
        engine.execute("CREATE SCHEMA my; CREATE TABLE my.scores AS FROM given")
        return [row[1:] for row in engine.sql(query).order("1").fetchall()]


def new_columns_query(policy: Policy, query: str) -> str:
    """Select the number of the row and the new columns of a query."""
    taken = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in ("my risk", *policy.attributes, "id"))
    return f"SELECT * EXCLUDE ({taken}) FROM ({query})"  # noqa: S608  (quoted)


def expressions_query(expressions: dict[str, str]) -> str:
    named = (f"{each} AS c{place}" for place, each in enumerate(expressions.values()))
    return f'SELECT "row", {", ".join(named)} FROM my.scores'  # noqa: S608  (that is what is tested)


def chance_expressions(policy: Policy, **query: Any) -> dict[str, str]:  # noqa: ANN401  (options)
    result = apply.as_sql(policy, chances=True, **query)
    assert isinstance(result, dict)
    return result


@given(st.data())
@settings(max_examples=12, deadline=None)
def test_duckdb_agrees_with_the_policy(data: st.DataObject) -> None:
    policy = data.draw(policies())
    rows = data.draw(samples(policy))
    check(policy, rows, run_in_duckdb(policy, rows, expressions_query(chance_expressions(policy))))
    query = apply.as_sql(policy, table="my.scores", chances=True)
    check(policy, rows, run_in_duckdb(policy, rows, new_columns_query(policy, str(query))))


def translate_hash(node: exp.Expression) -> exp.Expression:
    """Translate the hash of PostgreSQL to that of DuckDB."""
    if not isinstance(node, exp.Collate):
        return node
    [text] = [each.expressions[0] for each in node.find_all(exp.Anonymous) if each.name == "convert_to"]
    assert node.sql("postgres").startswith("ENCODE(SHA256(CONVERT_TO(")
    return exp.Anonymous(this="sha256", expressions=[text])


@pytest.mark.quick(1)
@pytest.mark.parametrize(("dialect", "grammar"), [("spark", "spark"), ("postgresql", "postgres")])
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_other_dialects_agree_with_duckdb(dialect: str, grammar: str, data: st.DataObject) -> None:
    policy = data.draw(policies())
    rows = data.draw(samples(policy))
    query = parse_one(str(apply.as_sql(policy, dialect=dialect, table="my.scores", chances=True)), read=grammar)
    translated = query.transform(translate_hash).sql("duckdb")
    check(policy, rows, run_in_duckdb(policy, rows, new_columns_query(policy, translated)))
    each = chance_expressions(policy, dialect=dialect).items()
    read = {name: parse_one(text, read=grammar).transform(translate_hash).sql("duckdb") for name, text in each}
    check(policy, rows, run_in_duckdb(policy, rows, expressions_query(read)))


@given(st.data())
def test_python_agrees_with_the_policy(data: st.DataObject) -> None:
    policy = data.draw(policies())
    rows = data.draw(samples(policy))
    decide = compile_function(apply.as_python(policy))
    result: list[tuple[str | None]] = []
    for row in rows:
        group = {"group": row.groups if len(row.groups) > 1 else row.groups[0]} if policy.needs_group else {}
        try:
            result.append((decide(row.score, **group, **({"id": row.id} if policy.needs_id else {})),))
        except ValueError:
            result.append((None,))
    check(policy, rows, result)


def compile_function(source: str, name: str = "decide") -> Any:  # noqa: ANN401  (a function that is written at run time)
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)  # noqa: S102  (it is ours)
    return namespace[name]


TYPED = Policy(
    by_group={(1, True): HALF, (2, False): Cut((0.2,)), (2, True): Cut((0.5, 0.8), ("pass", "refer", "flag"))},
    otherwise="refer",
    attributes=("site", "new"),
    columns={"score": "risk", "id": "id"},
)


@pytest.mark.quick(9)
@pytest.mark.parametrize("score", ["DOUBLE", "FLOAT", "DECIMAL(4, 2)"])
@pytest.mark.parametrize("site", ["INTEGER", "DOUBLE", "VARCHAR"])
@pytest.mark.parametrize("id_", ["BIGINT", "HUGEINT", "VARCHAR"])
def test_columns_of_any_type_are_read(score: str, site: str, id_: str) -> None:
    sure = [(at / 4, site, new, 2**62 + at) for at in range(5) for site in (1, 2, 3) for new in (True, False)]
    with duckdb.connect() as engine:
        engine.execute(f"CREATE TABLE s (risk {score}, site {site}, new BOOLEAN, id {id_}, place INTEGER)")
        engine.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?)", [(*row, at) for at, row in enumerate(sure)])
        result = [row[-1] for row in engine.sql(str(apply.as_sql(TYPED, table="s"))).order("place").fetchall()]
    decide = compile_function(apply.as_python(TYPED))
    assert result == [TYPED.action(risk, (site, new), id=key) for risk, site, new, key in sure]
    assert result == [decide(risk, group=(site, new), id=key) for risk, site, new, key in sure]


def test_queries_keep_columns_with_internal_names() -> None:
    with duckdb.connect() as engine:
        engine.execute(
            "CREATE TABLE t AS SELECT 0.9e0 AS risk, 'm' AS sex, 7 AS patient, 1 AS score, 2 AS random_number, 3 AS t"
        )
        result = engine.execute(str(apply.as_sql(APART, table="t", name="do", chances=True)))
        names = [name for name, *_ in result.description]
        assert result.fetchall() == [(0.9, "m", 7, 1, 2, 3, "flag", 0.0, 0.0, 1.0)]
    chances = ["do_chance_pass", "do_chance_refer", "do_chance_flag"]
    assert names == ["risk", "sex", "patient", "score", "random_number", "t", "do", *chances]


def test_only_randomized_rows_are_hashed() -> None:
    text = str(apply.as_sql(APART, table="scores"))
    assert text.count("sha256(") == 1
    [hashed] = [line.strip() for line in text.splitlines() if "sha256(" in line]
    assert hashed == f"WHEN inputs.score >= 0.4e0 THEN sha256('{APART.key}:' || inputs.id)"


def test_groups_with_equal_treatment_share_a_branch() -> None:
    both = Policy(by_group={(name,): Cut((0.5,)) for name in "abc"}, otherwise="pass", attributes=("sex",))
    text = str(apply.as_sql(both, score="risk"))
    assert text.count("0.5e0") == 1
    assert "OR CAST(\"sex\" AS VARCHAR) = 'b'\n" in text


def test_names_are_quoted_by_dialect() -> None:
    query: dict[str, Any] = {"score": 'my "risk`', "group": "a.b", "id": "x", "table": "a b.c"}
    for dialect, names in {
        "duckdb": ('t."my ""risk`"', 't."a.b"', 'FROM "a b"."c" AS t'),
        "PostgreSQL": ('t."my ""risk`"', 't."a.b"', 'FROM "a b"."c" AS t'),
        "spark": ('t.`my "risk```', "t.`a.b`", "FROM `a b`.`c` AS t"),
    }.items():
        text = str(apply.as_sql(APART, dialect=dialect, **query))
        assert all(name in text for name in names)
    assert "`risk`" in apply.as_sql(binary_calibrator(FORMS["rarer"]), dialect="spark")
    classes = apply.as_sql(multiclass_calibrator(CLASS_FORMS["one against all"]), dialect="spark")
    assert isinstance(classes, dict)
    assert all("`p_cat`" in each and '"' not in each for each in classes.values())


def test_python_takes_numbers_of_numpy() -> None:
    decide, new = compile_function(apply.as_python(TYPED)), np.array([True])[0]
    for value in (np.float32(0.5), np.float64(0.9)):
        wanted = TYPED.action(float(value), (np.int64(1), new), id=np.uint64(2**63))
        assert decide(value, group=(np.int8(1), new), id=np.uint64(2**63)) == wanted


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"score": None}, "None is not a score|nan is not a score"),
        ({"score": float("inf")}, "inf is not a score"),
        ({"group": "x"}, "no cut for the group 'x'"),
        ({"group": None}, "no cut for the group None"),
        ({"id": None}, "the id is None"),
        ({"id": 1.0}, "the id is 1.0"),
        ({"id": True}, "the id is True"),
        ({"score": 0.9, "id": None}, "the id is None"),
    ],
)
def test_python_raises_where_apply_raises(query: dict[str, Any], words: str) -> None:
    strict = Policy(by_group={("m",): HALF}, otherwise="refuse", attributes=("sex",))
    row = {"score": 0.5, "group": "m", "id": 7} | query
    with pytest.raises(ValueError, match=words):
        compile_function(apply.as_python(strict))(row.pop("score"), **row)
    with pytest.raises(ValueError, match="the group has the length 1; give 2 values"):
        compile_function(apply.as_python(TYPED))(0.5, group=("m",), id=7)


def test_python_signature_has_only_needed_parameters() -> None:
    source = apply.as_python(COMMON, name="flagged")
    assert "def flagged(score) -> str:" in source
    assert "hashlib" not in source
    assert compile_function(source, "flagged")(0.5) == "flag"
    assert "def decide(score, *, group=None) -> str:" in apply.as_python(with_cut(APART, Cut((0.1,))))


def with_cut(policy: Policy, cut: Cut) -> Policy:
    return Policy(by_group=dict.fromkeys(policy.by_group, cut), otherwise="refuse", attributes=policy.attributes)


def test_docstring_of_a_policy_function_describes_its_origin() -> None:
    for name in NASTY:
        output = Policy(
            by_group={(name,): HALF},
            otherwise="refuse",
            attributes=("the sex",),
            rule="require",
            settings={"require": ["it's " + name], "maximize": "sensitivity"},
            columns={"score": f"{name}!"},
            chosen_on="abc123",
            calibrator=binary_calibrator(FORMS["rarer"]),
        )
        doc = compile_function(apply.as_python(output)).__doc__
        facts = ("rule: require", "sensitivity", "chosen on: abc123", "group: the sex", "calibrator: made", "refuse")
        for words in facts:
            assert words in doc


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"dialect": "oracle"}, "there is no dialect 'oracle'. Known are: duckdb, postgresql, spark"),
        ({"group": ["a", "b"]}, "group names 2 columns, but this policy requires sex"),
        ({"table": "a..b"}, "expected a name such as 'scores'"),
        ({"table": ""}, "expected a name such as 'scores'"),
        ({"name": "x"}, "name= names a column, but an expression has no name"),
        ({"missing": "keep"}, "missing is not an option in SQL"),
        ({"colour": "red"}, "colour is not an option for a policy"),
    ],
)
def test_invalid_sql_options_raise(query: dict[str, Any], words: str) -> None:
    with pytest.raises((OptionError, UnknownNameError), match=words):
        apply.as_sql(APART, **query)


def test_columns_that_the_policy_lacks_are_required() -> None:
    with pytest.raises(OptionError, match="does not store the name of the score column"):
        apply.as_sql(with_cut(APART, Cut((0.1,))))
    with pytest.raises(OptionError, match="this policy is randomized"):
        apply.as_sql(Policy(by_group={(): HALF}, otherwise="refuse"), score="risk")


def test_calibrators_take_no_options_of_policies() -> None:
    any_: Any = apply
    for query in ({"table": "t"}, {"chances": True}, {"id": "x"}):
        with pytest.raises(OptionError, match="is not an option for a calibrator; the options are: dialect, score"):
            any_.as_sql(binary_calibrator(FORMS["rarer"]), **query)
    for write in (any_.as_sql, any_.as_python):
        with pytest.raises(OptionError, match="str is neither a calibrator nor a policy"):
            write("policy.json")


@pytest.mark.parametrize("name", ["math", "_CUTS", "float", "_share"])
def test_reserved_function_names_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match="a name that the source does not use itself"):
        apply.as_python(COMMON, name=name)


def test_postgresql_products_do_not_underflow() -> None:
    tiny = "BETWEEN -1e-300 AND 1e-300 THEN"
    for name, many in {"rarer": 1, "line": 1, "two knots": 1, "likelier": 0, "temperature": 0, "one step": 0}.items():
        assert apply.as_sql(binary_calibrator(FORMS[name]), dialect="postgresql").count(tiny) == many
        assert tiny not in apply.as_sql(binary_calibrator(FORMS[name]), dialect="duckdb")
