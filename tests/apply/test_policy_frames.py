"""Policies applied to frames of every library: type, rows, columns and index are kept."""

import warnings
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

from baserate import (
    Cut,
    FileFormatError,
    MissingValuesError,
    OptionError,
    Policy,
    RandomizedCut,
    ShapeError,
    UnknownLabelError,
    UnknownNameError,
    apply,
    decide,
)
from baserate._calibrator import shift_log_odds
from tests.apply.policy_strategies import PolicyCase, cases
from tests.apply.test_frames import KINDS as FRAMES, columns_of

KINDS = {name: make for name, make in FRAMES.items() if name != "duckdb"}
HALF = RandomizedCut((Cut((0.4,)), Cut((0.7,))), (0.5, 0.5))
POLICY = Policy(
    by_group={("f",): Cut((0.4,)), ("m",): HALF},
    otherwise="refer",
    attributes=("sex",),
    columns={"score": "risk", "id": "who"},
)
TABLE: dict[str, list[Any]] = {
    "who": ["a", "b", "c", "d", "é"],
    "risk": [0.45, 0.5, 0.6, 0.9, 0.1],
    "sex": ["f", "m", "m", None, "m"],
    "n": [5, 4, 3, 2, 1],
}
WANTED = [POLICY.action(TABLE["risk"][at], [TABLE["sex"][at]], id=TABLE["who"][at]) for at in range(5)]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_frames_keep_their_type(kind: str) -> None:
    assert {*WANTED} == {"flag", "pass", "refer"}
    given_ = KINDS[kind](TABLE)
    result = apply.frame(POLICY, given_)
    assert type(result) is type(given_)
    assert columns_of(result) == {**TABLE, "action": WANTED}
    assert list(columns_of(given_)) == list(TABLE)


def _object_frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Make a pandas frame of objects, so that whole numbers stay whole beside missing values."""
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})


@given(cases(max_size=12))
@settings(max_examples=25)
def test_frames_agree_with_the_policy(case: PolicyCase) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of ids that rows share
        for make in (dict, _object_frame, pl.DataFrame, pl.LazyFrame, pa.table):
            result = apply.frame(case.policy, make(case.columns), chances=True, name="done")
            read = columns_of(result)
            assert read["done"] == case.expected_actions
            assert list(read)[len(case.columns) :] == ["done", *(f"done_chance_{name}" for name in case.policy.actions)]


def test_actions_are_categories_where_a_library_has_them() -> None:
    names = ["pass", "refer", "flag"]
    in_pandas = apply.frame(POLICY, pd.DataFrame(TABLE))["action"]
    assert (in_pandas.dtype, in_pandas.cat.categories.tolist()) == ("category", names)
    assert apply.frame(POLICY, pl.DataFrame(TABLE)).schema["action"] == pl.Enum(names)
    assert apply.frame(POLICY, pl.LazyFrame(TABLE)).collect_schema()["action"] == pl.Enum(names)
    in_arrow = apply.frame(POLICY, pa.table(TABLE))["action"]
    assert in_arrow.type == pa.dictionary(pa.int8(), pa.string())
    in_arrow.validate(full=True)
    assert apply.frame(POLICY, TABLE)["action"].tolist() == WANTED


def test_chances_are_columns_too(kind: str) -> None:
    result = columns_of(apply.frame(POLICY, KINDS[kind](TABLE), name="do", chances=True))
    assert list(result)[4:] == ["do", "do_chance_pass", "do_chance_refer", "do_chance_flag"]
    assert result["do_chance_pass"] == [0.0, 0.5, 0.5, 0.0, 1.0]
    assert result["do_chance_refer"] == [0.0, 0.0, 0.0, 1.0, 0.0]
    assert result["do_chance_flag"] == [1.0, 0.5, 0.5, 0.0, 0.0]


def test_columns_may_have_other_names(kind: str) -> None:
    renamed = dict(zip(("id", "p", "gender", "n"), TABLE.values(), strict=True))
    result = apply.frame(POLICY, KINDS[kind](renamed), score="p", group="gender", id="id", name="done")
    assert columns_of(result)["done"] == WANTED
    assert (
        columns_of(apply.frame(POLICY, KINDS[kind](renamed), score="p", group=["gender"], id="id"))["action"] == WANTED
    )


def test_missing_scores_are_refused_with_their_rows(kind: str) -> None:
    given_ = KINDS[kind]({**TABLE, "risk": [0.1, None, inf, nan, 0.3]})
    with pytest.raises(
        MissingValuesError, match=r"3 of 5 rows have a score .* in 'risk' \(rows 2, 3, 4, counted from 1\); fill"
    ):
        columns_of(apply.frame(POLICY, given_))


def test_missing_scores_can_be_kept(kind: str) -> None:
    given_ = KINDS[kind]({**TABLE, "risk": [0.45, None, 0.6, nan, 0.1]})
    result = columns_of(apply.frame(POLICY, given_, missing="keep", chances=True))
    assert result["action"] == [WANTED[0], None, WANTED[2], None, WANTED[4]]
    assert result["action_chance_flag"] == [1.0, None, 0.5, None, 0.0]


def test_kept_rows_without_a_score_are_null() -> None:
    part = {**TABLE, "risk": [0.45, None, 0.6, 0.9, 0.1]}
    for actual in (pl.DataFrame(part), pa.table(part)):
        result = pl.DataFrame(apply.frame(POLICY, actual, missing="keep", chances=True))
        assert result.select("action", "action_chance_pass").null_count().row(0) == (1, 1)
    assert apply.frame(POLICY, part, missing="keep")["action"][1] is None


def test_refused_groups_are_listed(kind: str) -> None:
    refuses = Policy(by_group=POLICY.by_group, otherwise="refuse", attributes=("sex",), columns=POLICY.columns)
    with pytest.raises(
        UnknownLabelError, match=r"1 of 5 rows are of groups that this policy refuses: sex missing \(1 row\)"
    ):
        columns_of(apply.frame(refuses, KINDS[kind](TABLE)))


def test_duplicate_ids_warn(kind: str) -> None:
    with pytest.warns(UserWarning, match="1 of 2 randomized rows share an id in 'who' with another"):
        result = columns_of(apply.frame(POLICY, KINDS[kind]({**TABLE, "who": ["a", "b", "b", "d", "b"]})))
    assert result["action"][1] == result["action"][2]


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_the_warning_points_at_the_caller(make: Any) -> None:  # noqa: ANN401
    with pytest.warns(UserWarning, match="share an id in") as output:
        apply.frame(POLICY, make({**TABLE, "who": ["a", "b", "b", "d", "b"]}))
    assert [each.filename for each in output] == [__file__]


@pytest.mark.parametrize("ids", [[1, None, 3, 4, 5], [None] * 5, ["a", None, "c", "d", "e"]])
def test_rows_without_an_id_are_refused(kind: str, ids: list[Any]) -> None:
    with pytest.raises(
        MissingValuesError, match=r"of 5 rows have no id in 'who' \(rows? .*2.*, counted from 1\), which"
    ):
        columns_of(apply.frame(POLICY, KINDS[kind]({**TABLE, "who": ids})))


@pytest.mark.parametrize("ids", [[1.5, 2.5, 3.5, 4.5, 5.5], [True, False, True, True, False]])
def test_ids_with_several_spellings_raise(kind: str, ids: list[Any]) -> None:
    with pytest.raises(OptionError, match=r"ids in 'who' hold .*; expected whole numbers or text"):
        columns_of(apply.frame(POLICY, KINDS[kind]({**TABLE, "who": ids})))


def test_numeric_ids_are_hashed_by_their_digits(kind: str) -> None:
    numbers = {**TABLE, "who": [2**62, 7, -3, 0, 12]}
    texts = {**TABLE, "who": [str(each) for each in numbers["who"]]}
    result, wanted = (columns_of(apply.frame(POLICY, KINDS[kind](each)))["action"] for each in (numbers, texts))
    assert result == wanted


def test_policy_after_a_calibrator_takes_raw_scores(kind: str) -> None:
    behind = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", columns={"score": "risk"})
    wanted = ["flag" if p >= 0.5 else "pass" for p in shift_log_odds(1.0)(TABLE["risk"])]
    assert (
        columns_of(apply.frame(decide.on_raw_scores(behind, shift_log_odds(1.0)), KINDS[kind](TABLE)))["action"]
        == wanted
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"score": "rsk"}, UnknownNameError, "there is no column 'rsk'. Did you mean 'risk'?"),
        ({"id": "whom"}, UnknownNameError, "there is no column 'whom'. Did you mean 'who'?"),
        ({"group": "sx"}, UnknownNameError, "there is no column 'sx'. Did you mean 'sex'?"),
        ({"group": ["sex", "n"]}, OptionError, "group names 2 columns, but this policy requires sex; name one"),
        ({"name": "sex"}, OptionError, "there is a column 'sex' already; choose another with name="),
        ({"missing": "drop"}, OptionError, "missing is 'drop'; expected 'refuse' or 'keep'"),
        ({"bounds": True}, OptionError, "bounds is not an option for a policy"),
    ],
)
def test_invalid_options(kind: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        columns_of(apply.frame(POLICY, KINDS[kind](TABLE), **options))


def test_policy_without_columns_needs_a_score_column() -> None:
    bare = Policy(by_group={(): HALF}, otherwise="refuse")
    with pytest.raises(OptionError, match="name it, such as score='risk'"):
        apply.frame(bare, TABLE)
    with pytest.raises(OptionError, match=r"name it, such as id='patient'"):
        apply.frame(bare, TABLE, score="risk")


def test_invalid_tables_raise() -> None:
    with pytest.raises(OptionError, match="the table is int; expected a frame"):
        apply.frame(POLICY, 7)
    with pytest.raises(FileFormatError, match="two columns of the frame have the same name"):
        apply.frame(POLICY, pd.DataFrame([[0.1, 0.2]], columns=["risk", "risk"]))
    with pytest.raises(ShapeError, match=r"different lengths \(sex 5, risk 4, id 5\)"):
        apply.frame(POLICY, {**TABLE, "risk": [0.1] * 4})


@pytest.mark.parametrize("index", [["x"] * 5, [9, 8, 7, 6, 5], pd.MultiIndex.from_product([["u"], range(5)])])
def test_index_is_kept(index: Any) -> None:  # noqa: ANN401  (of pandas)
    given_ = pd.DataFrame(TABLE, index=index)
    result = apply.frame(POLICY, given_, missing="keep", chances=True)
    assert result.index.equals(given_.index)
    assert result["action"].tolist() == WANTED
    pd.testing.assert_frame_equal(result[list(TABLE)], given_)


@pytest.mark.parametrize(
    "types",
    [
        {"who": "string", "sex": "string", "risk": "Float64"},
        {"who": object, "sex": object, "risk": object},
        {"who": "category", "sex": "category", "risk": "float64"},
        {
            "who": pd.ArrowDtype(pa.large_string()),
            "sex": pd.ArrowDtype(pa.string()),
            "risk": pd.ArrowDtype(pa.float64()),
        },
    ],
    ids=str,
)
def test_pandas_columns_of_any_type(types: dict[str, Any]) -> None:
    result = apply.frame(POLICY, pd.DataFrame(TABLE).astype(types))
    assert result["action"].tolist() == WANTED
    assert {name: str(result.dtypes[name]) for name in types} == {
        name: str(pd.DataFrame(TABLE).astype(types).dtypes[name]) for name in types
    }


def test_nullable_whole_numbers_are_ids() -> None:
    given_ = pd.DataFrame({**TABLE, "who": pd.array([1, 2, 3, 4, 5], dtype="Int64")})
    assert (
        apply.frame(POLICY, given_)["action"].tolist()
        == apply.frame(POLICY, {**TABLE, "who": [1, 2, 3, 4, 5]})["action"].tolist()
    )
    # A number that was missing has made floats of all others.
    with pytest.raises(MissingValuesError, match="1 of 5 rows have no id in 'who'"):
        apply.frame(POLICY, pd.DataFrame({**TABLE, "who": [1, 2, None, 4, 5]}))
    with pytest.raises(OptionError, match="hold int and str"):
        apply.frame(POLICY, pd.DataFrame({**TABLE, "who": [1, "2", 3, 4, 5]}))


def test_names_of_columns_need_not_be_text() -> None:
    given_ = pd.DataFrame({0: TABLE["risk"], "risk": TABLE["risk"], "sex": TABLE["sex"], "who": TABLE["who"]})
    assert list(apply.frame(POLICY, given_)) == [0, "risk", "sex", "who", "action"]


def test_lazy_frames_stay_lazy() -> None:
    lazy = apply.frame(POLICY, pl.LazyFrame({**TABLE, "risk": [0.1, 0.9, nan, 0.5, 0.5]}))
    with pytest.raises(MissingValuesError, match=r"1 of 5 rows .*\(row 3, counted from 1\)"):
        lazy.collect()
    assert lazy.select("n").collect()["n"].to_list() == TABLE["n"]


def test_batches_do_not_matter() -> None:
    whole = pa.table({**TABLE, "sex": pa.array(TABLE["sex"]).dictionary_encode()})
    parts = pa.concat_tables([whole.slice(0, 2), whole.slice(2, 1), whole.slice(3)])
    assert apply.frame(POLICY, parts)["action"].to_pylist() == WANTED
    order = [4, 2, 0, 1, 3]
    assert apply.frame(POLICY, whole.take(order))["action"].to_pylist() == [WANTED[at] for at in order]


def test_empty_frames(kind: str) -> None:
    none = pd.DataFrame(TABLE)[:0]
    actual = {
        "pandas": none,
        "polars": pl.DataFrame(TABLE)[:0],
        "polars, lazy": pl.LazyFrame(TABLE).head(0),
        "pyarrow": pa.table(TABLE)[:0],
    }
    result = apply.frame(POLICY, actual.get(kind, {name: none[name].tolist() for name in none}), chances=True)
    columns = result.collect() if isinstance(result, pl.LazyFrame) else result
    names = (
        columns.column_names
        if isinstance(columns, pa.Table)
        else list(columns if isinstance(columns, dict) else columns.columns)
    )
    assert names == [*TABLE, "action", "action_chance_pass", "action_chance_refer", "action_chance_flag"]
    assert len(columns["action"]) == 0


def test_mappings_may_hold_columns_of_any_library() -> None:
    given_ = {"who": pl.Series(TABLE["who"]), "risk": np.array(TABLE["risk"]), "sex": pd.Categorical(TABLE["sex"])}
    result = apply.frame(POLICY, given_)
    assert result["action"].tolist() == WANTED
    assert result["sex"] is given_["sex"]
