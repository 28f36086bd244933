"""Exported SQL in PostgreSQL and Spark; skipped where they are not installed."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from baserate import Policy, apply
from tests.apply.export_samples import Sample, check, columns, policies, samples

Run = Callable[[Policy, Sequence[Sample], str], list[Any]]
"""Rows that a query selects, in any order, from a table `scores` that holds the given ones."""
ONE_SESSION = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check_decisions(run: Run, policy: Policy, rows: Sequence[Sample], dialect: str) -> None:
    query = apply.as_sql(policy, dialect=dialect, table="scores", chances=True)
    before = len(columns(policy, rows))
    result = sorted(run(policy, rows, str(query)), key=lambda row: row[before - 1])
    check(policy, rows, [tuple(row)[before:] for row in result])
    simple = f"SELECT row, {apply.as_sql(policy, dialect=dialect)} AS decided FROM scores"  # noqa: S608  (ours)
    result = sorted(run(policy, rows, simple), key=lambda row: row[0])
    check(policy, rows, [tuple(row)[1:] for row in result])


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Run]:
    psycopg: Any = pytest.importorskip("psycopg", reason="needs psycopg, to speak to PostgreSQL")
    if "BASERATE_POSTGRESQL" not in os.environ:
        pytest.skip("needs BASERATE_POSTGRESQL, which says how to reach a server")
    # Nothing is prepared, since the table is another one each time.
    query = {"autocommit": True, "prepare_threshold": None}
    with psycopg.connect(os.environ["BASERATE_POSTGRESQL"], **query) as server:

        def run(policy: Policy, rows: Sequence[Sample], query: str) -> list[Any]:
            given = columns(policy, rows)
            names = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in given]
            kinds = ["double precision", *["text"] * (len(names) - 2), "integer"]
            actual = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
            server.execute("DROP TABLE IF EXISTS scores")
            server.execute(f"CREATE TEMPORARY TABLE scores ({actual})")
            with server.cursor().copy("COPY scores FROM STDIN") as copy:
                for row in zip(*given.values(), strict=True):
                    copy.write_row(row)
            result: list[Any] = server.execute(query.encode()).fetchall()
            return result

        yield run


@pytest.fixture(scope="module")
def spark() -> Iterator[Run]:
    sql: Any = pytest.importorskip("pyspark.sql", reason="needs PySpark")
    building = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = building.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def run(policy: Policy, rows: Sequence[Sample], query: str) -> list[Any]:
        given = columns(policy, rows)
        kinds = ["double", *["string"] * (len(given) - 2), "int"]
        types = sql.types
        named = {"double": types.DoubleType(), "string": types.StringType(), "int": types.IntegerType()}
        fields = [types.StructField(name, named[kind]) for name, kind in zip(given, kinds, strict=True)]
        frame = session.createDataFrame([*zip(*given.values(), strict=True)], types.StructType(fields))
        frame.createOrReplaceTempView("scores")
        result: list[Any] = session.sql(query).collect()
        return result

    yield run
    session.stop()


@given(st.data())
@settings(ONE_SESSION)
def test_postgresql_agrees_with_the_policy(postgresql: Run, data: st.DataObject) -> None:
    policy = data.draw(policies())
    check_decisions(postgresql, policy, data.draw(samples(policy)), "postgresql")


@given(st.data())
@settings(ONE_SESSION, max_examples=25)
def test_spark_agrees_with_the_policy(spark: Run, data: st.DataObject) -> None:
    policy = data.draw(policies())
    check_decisions(spark, policy, data.draw(samples(policy)), "spark")
