"""Laws of reading: every engine gives equal tallies, whatever values are missing."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from baserate import BaserateError, Tallies, Target, read
from baserate.read import _duckdb
from tests.strategies import few, real

missing_score = st.sampled_from([None, float("nan"), float("inf"), -float("inf")])


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Small tables in which anything may be missing."""
    size = draw(st.integers(1, 12))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    return pl.DataFrame(
        {
            "y": pl.Series(column(st.sampled_from([0, 1, 1, 0, None])), dtype=pl.Int8),
            "p": pl.Series(column(few | real | missing_score), dtype=pl.Float64),
            "q": pl.Series(column(few | few | missing_score), dtype=pl.Float64),
            "g": pl.Series(column(st.sampled_from(["a", "a", "b", None])), dtype=pl.String),
            "w": pl.Series(column(st.sampled_from([0.0, 0.5, 1.0, 3.0, None])), dtype=pl.Float64),
            "n": pl.Series(column(st.sampled_from([0, 1, 2, 5, None])), dtype=pl.Int64),
            "hat": pl.Series(column(st.sampled_from([0, 1, None])), dtype=pl.Int8),
        }
    )


ASKED = st.fixed_dictionaries(
    {"truth": st.just("y"), "score": st.sampled_from([["p"], ["q"], ["p", "q"]])},
    optional={"group": st.just("g"), "weight": st.just("w"), "count": st.just("n"), "predicted": st.just("hat")},
)


def read_or_error(source: object, options: dict[str, Any], missing: Any) -> Tallies | str:  # noqa: ANN401  (a literal)
    try:
        return read.tallies(source, missing=missing, **options)
    except BaserateError as error:
        return f"{type(error).__name__}: {error}"


@given(table=tables(), query=ASKED, missing=st.sampled_from(["refuse", "drop"]))
def test_every_engine_gives_the_tallies_of_the_rows(table: pl.DataFrame, query: dict[str, Any], missing: str) -> None:
    wanted = read_or_error(table, query, missing)
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as engine:
        relation = engine.from_arrow(table)
        sources: list[tuple[object, bool]] = [(table.lazy(), False), (relation, True), (relation, False)]
        for source, sums in sources:
            patch.setattr(_duckdb, "has_repeated_scores", lambda *_, sums=sums: sums)
            result = read_or_error(source, query, missing)
            if isinstance(wanted, str):
                assert result == wanted
                continue
            assert isinstance(result, Tallies), result
            assert (result.digest, result.groups, result.intake) == (wanted.digest, wanted.groups, wanted.intake)
            for model, decisions in wanted.decisions.items():
                assert result.decisions[model].digest == decisions.digest
            for (_, _, one), (_, _, other) in zip(result.walk(), wanted.walk(), strict=True):
                np.testing.assert_allclose(one.mass, other.mass, rtol=1e-13)
                np.testing.assert_allclose(one.squares, other.squares, rtol=1e-13)


ASKED_OF_TARGETS = st.fixed_dictionaries(
    {"score": st.sampled_from(["p", "q"])},
    optional={"truth": st.just("y"), "weight": st.just("w"), "count": st.just("n")},
)


def target(source: object, options: dict[str, Any], missing: Any) -> Target | str:  # noqa: ANN401  (a literal)
    try:
        return read.target(source, missing=missing, **options)
    except BaserateError as error:
        return f"{type(error).__name__}: {error}"


def by_score(result: Target) -> list[list[float]]:
    """Distinct scores in order, with how much sits at each: what is left if the order of rows is forgotten."""
    sums = [np.ones(len(result.score)) if each is None else each for each in (result.mass, result.squares, result.rows)]
    distinct, place = np.unique(result.score, return_inverse=True)
    return [distinct.tolist(), *(np.bincount(place, weights=each).tolist() for each in sums)]


@given(
    table=tables(),
    query=ASKED_OF_TARGETS,
    missing=st.sampled_from(["refuse", "drop"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_engine_and_every_order_of_rows_give_the_same_target(
    table: pl.DataFrame, query: dict[str, Any], missing: str, seed: int
) -> None:
    wanted = target(table, query, missing)
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as engine:
        mixed = table.sample(fraction=1.0, shuffle=True, seed=seed)
        relation = engine.from_arrow(mixed)
        sources = [(mixed, False), (mixed.lazy(), False), (relation, True), (relation, False)]
        for source, sums in sources:
            patch.setattr(_duckdb, "has_repeated_scores", lambda *_, sums=sums: sums)
            result = target(source, query, missing)
            if isinstance(wanted, str):
                assert result == wanted
                continue
            assert isinstance(result, Target), result
            assert result.intake == wanted.intake
            for one, other in zip(by_score(result), by_score(wanted), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13)
            assert (result.labelled is None) == (wanted.labelled is None)
            if result.labelled is not None and wanted.labelled is not None:
                assert result.labelled.digest == wanted.labelled.digest


@given(table=tables(), query=ASKED_OF_TARGETS)
def test_a_target_and_its_labels_partition_the_rows(table: pl.DataFrame, query: dict[str, Any]) -> None:
    result = target(table, query, "drop")
    whole = target(table, {what: name for what, name in query.items() if what != "truth"}, "drop")
    if isinstance(result, str) or isinstance(whole, str):
        return
    labelled = 0 if result.labelled is None else float(result.labelled.total)
    assert result.total + labelled == pytest.approx(whole.total, rel=1e-12)
