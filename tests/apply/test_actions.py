"""Policies applied to arrays: actions, probabilities, ids, groups and errors."""

from decimal import Decimal
from math import inf, nan
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from baserate import (
    Cut,
    MissingValuesError,
    NotNumericError,
    OptionError,
    Policy,
    RandomizedCut,
    ShapeError,
    UnknownLabelError,
    apply,
    curve,
    tally,
)
from baserate._cut import RANGE, RandomNumbers, random_number, random_numbers
from tests.apply.policy_strategies import PolicyCase, cases

HALF = RandomizedCut((Cut((0.4,)), Cut((0.7,))), (0.5, 0.5))
SEXES = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.6,))}, otherwise="refuse", attributes=("sex",))
DRAWN = Policy(by_group={(): HALF}, otherwise="refuse")
TWO = Policy(
    by_group={("f", 1): Cut((0.4,)), ("m", 2): Cut((0.6,)), ("m", 1): Cut((0.5,), ("flag", "pass"))},
    otherwise="refer",
    attributes=("sex", "site"),
)


def action_texts(policy: Policy, scores: Any, **given: Any) -> list[str | None]:  # noqa: ANN401  (columns)
    result: list[str | None] = apply.actions(policy, scores, **given).text.tolist()
    return result


@given(cases())
def test_every_row_gets_the_action_of_the_policy(case: PolicyCase) -> None:
    result = apply.actions(case.policy, case.scores, **case.arrays)
    assert result.text.tolist() == case.expected_actions
    assert result.names == case.policy.actions
    assert result.is_flagged.tolist() == [each == "flag" for each in case.expected_actions]
    assert not result.codes.flags.writeable
    assert result.chances is None


@given(cases())
def test_comparisons_and_lookups_agree(case: PolicyCase) -> None:
    with patch("baserate.apply._policy_lookup._MAX_COMPARISONS", 10**9):
        compared = action_texts(case.policy, case.scores, **case.arrays)
    with patch("baserate.apply._policy_lookup._MAX_COMPARISONS", -1):
        assert action_texts(case.policy, case.scores, **case.arrays) == compared == case.expected_actions


@given(cases(), st.data())
def test_order_batches_and_splits_do_not_matter(case: PolicyCase, data: st.DataObject) -> None:
    whole = np.array(action_texts(case.policy, case.scores, **case.arrays))
    order = data.draw(st.permutations(range(len(case.scores))))
    at = data.draw(st.integers(0, len(order)))
    for rows in (order[:at], order[at:]):
        part = case.select(rows)
        assert action_texts(case.policy, part.scores, **part.arrays) == whole[rows].tolist()


@given(cases())
def test_saved_policies_decide_the_same(tmp_path_factory: pytest.TempPathFactory, case: PolicyCase) -> None:
    file = tmp_path_factory.getbasetemp() / "policy.json"
    case.policy.save(file)
    assert action_texts(Policy.load(file), case.scores, **case.arrays) == case.expected_actions


@given(cases())
def test_chances_are_those_of_the_policy(case: PolicyCase) -> None:
    result = apply.actions(case.policy, case.scores, **case.arrays, chances=True)
    assert result.chances is not None
    assert tuple(result.chances) == case.policy.actions
    every = np.array(list(result.chances.values()))
    assert np.allclose(every.sum(axis=0), 1, rtol=0, atol=1e-9)
    # What is done had a chance to be.
    assert (every[result.codes, np.arange(len(result))] > 0).all()
    for at, (score, group) in enumerate(zip(case.scores, case.groups, strict=True)):
        treatment = case.policy.treatment(group)
        wanted = treatment.chances_at(score) if isinstance(treatment, RandomizedCut) else {treatment.action(score): 1.0}
        assert {name: each[at] for name, each in result.chances.items() if each[at]} == {
            name: chance for name, chance in wanted.items() if chance
        }


@pytest.mark.slow
def test_randomized_actions_have_the_expected_frequency() -> None:
    rng = np.random.default_rng(4)
    many = 10**6
    scores, truth = rng.random(many), rng.random(many) < 0.3
    three = RandomizedCut((Cut((0.2, 0.7), ("pass", "refer", "flag")), Cut((0.5,)), Cut((0.9,))), (0.2, 0.5, 0.3))
    result = apply.actions(Policy(by_group={(): three}, otherwise="refuse"), scores, id=np.arange(many), chances=True)
    assert result.chances is not None
    tables = three.tables(curve(tally(truth, scores)))
    for at, name in enumerate(result.names):
        p = result.chances[name]
        for among, wanted in ((truth, tables[name].tp), (~truth, tables[name].fp)):
            deviation = np.sqrt((p * (1 - p))[among].sum())
            assert p[among].sum() == pytest.approx(wanted)
            assert abs((result.codes[among] == at).sum() - wanted) < 5 * deviation


# The first 13 digits that `printf 'k:7' | sha256sum` prints, and so on.
VECTORS = {
    "7": "84f73200f415a",
    "007": "5c327a7da563f",
    "": "de26157cf0d73",
    "9223372036854775808": "5cae4d0b492ed",
    "Zoë": "7ab5e4d310160",
    'it\'s "quoted"': "b5a3a4ae1747d",
}


@pytest.mark.parametrize(("name", "digits"), VECTORS.items())
def test_random_numbers_agree_with_other_tools(name: str, digits: str) -> None:
    assert random_number("k", name) == int(digits, 16)


def test_random_number_depends_on_key_and_id_only() -> None:
    names = [*VECTORS, "a:b"]
    wanted = ["flag" if random_number(DRAWN.key, name) < RANGE // 2 else "pass" for name in names]
    assert {*wanted} == {"pass", "flag"}
    assert action_texts(DRAWN, [0.5] * len(names), id=names) == wanted
    whole = [7, 2**63 - 1]
    assert action_texts(DRAWN, [0.5, 0.5], id=whole) == action_texts(
        DRAWN, [0.5, 0.5], id=[str(each) for each in whole]
    )


def test_cut_begins_at_its_first_random_number() -> None:
    three = RandomizedCut((Cut((), ("a",)), Cut((), ("b",)), Cut((), ("c",))), (0.25, 0.5, 0.25))
    first, second = three.edges
    result = np.array([0, first - 1, first, second - 1, second, RANGE - 1], dtype=np.uint64)
    with patch("baserate.apply._arrays.random_numbers", lambda *_: result):
        assert action_texts(Policy(by_group={(): three}, otherwise="refuse"), [0.5] * 6, id=range(6)) == list("aabbcc")


def test_only_rows_whose_cuts_disagree_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    observed: list[list[str]] = []

    def recorded_numbers(key: str, texts: list[str]) -> RandomNumbers:
        observed.append(texts)
        return random_numbers(key, texts)

    monkeypatch.setattr("baserate.apply._arrays.random_numbers", recorded_numbers)
    apply.actions(DRAWN, [0.1, 0.5, 0.9, 0.4, 0.7], id=["a", "b", "c", "d", "e"])
    apply.actions(DRAWN, [0.1, 0.9], id=["a", "b"])
    assert observed == [["b", "d"]]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        lambda ids: np.array(ids, dtype=object),
        np.array,
        pd.Series,
        lambda ids: pd.Series(ids, index=[3] * len(ids)),
        lambda ids: pd.Series(pd.Categorical(ids)),
        pl.Series,
        pa.array,
        lambda ids: pa.chunked_array([ids[:1], ids[1:]]),
    ],
)
@pytest.mark.parametrize("ids", [["a", "é", "007"], [1, -7, 2**62]])
def test_ids_in_columns_of_any_kind(make: Any, ids: list[Any]) -> None:  # noqa: ANN401
    scores = [0.5, 0.6, 0.45]
    assert action_texts(DRAWN, scores, id=make(ids)) == [
        DRAWN.action(x, id=each) for x, each in zip(scores, ids, strict=True)
    ]


def test_ids_beyond_64_bits() -> None:
    great = [2**63, -1, 2**64 - 1, 10**30]
    assert action_texts(DRAWN, [0.5] * 4, id=great) == [DRAWN.action(0.5, id=each) for each in great]
    unsigned = np.array([2**63, 2**64 - 1], dtype=np.uint64)
    assert action_texts(DRAWN, [0.5] * 2, id=unsigned) == [DRAWN.action(0.5, id=each) for each in unsigned]
    assert action_texts(DRAWN, [0.5] * 2, id=pd.array([2**62, 1], dtype="Int64")) == action_texts(
        DRAWN, [0.5] * 2, id=[2**62, 1]
    )


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (
            [1, None, 3],
            MissingValuesError,
            r"1 of 3 rows have no id in 'id' \(row 2, counted from 1\), which .*; give every",
        ),
        (["a", nan, None], MissingValuesError, r"2 of 3 rows have no id in 'id' \(rows 2, 3, counted from 1\)"),
        (pd.array([1, None, 3], dtype="Int64"), MissingValuesError, "row 2, counted"),
        (pd.Series([1, None, 3]), MissingValuesError, "row 2, counted"),
        (pl.Series([None, None, "a"]), MissingValuesError, "rows 1, 2, counted"),
        (pa.array([1, None, 3]), MissingValuesError, "row 2, counted"),
        (np.array([1, nan, 3]), MissingValuesError, "row 2, counted"),
        (np.ma.MaskedArray([1, 2, 3], [False, False, True]), MissingValuesError, "row 3, counted"),
        (
            [1, "a", 3],
            OptionError,
            "ids in 'id' hold int and str; expected whole numbers or text, all of one kind",
        ),
        ([1, 2.0, 3], OptionError, "hold float and int"),
        ([True, False, True], OptionError, "hold bool;"),
        ([1, True, 2], OptionError, "hold bool and int;"),
        ([b"a", b"b", b"c"], OptionError, "hold bytes;"),
        ([[1], [2], [3]], OptionError, "hold list;"),
        ([Decimal(1)] * 3, OptionError, "hold Decimal;"),
        (np.array([1.0, 2.0, 3.0]), OptionError, "hold float64"),
        (np.array([True, False, True]), OptionError, "hold bool"),
        (pd.Series([1.0, 2.0, 3.0]), OptionError, "hold Float64"),
        (pd.Series([1, "a", 3], dtype=object), OptionError, "hold int and str"),
        (pl.Series([True, False, True]), OptionError, "hold Boolean"),
        (["\ud800"] * 3, OptionError, "is not valid UTF-8 text"),
        (["a", "b"], ShapeError, "different lengths"),
        (None, OptionError, "randomized by the ids of rows, but there are none; give them as id="),
    ],
)
def test_invalid_ids_are_refused(ids: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        apply.actions(DRAWN, [0.5, 0.6, 0.65], id=ids)


def test_only_randomized_policies_use_ids() -> None:
    sure = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    assert action_texts(sure, [0.4, 0.6], id=[None, 1.5]) == ["pass", "flag"]


def test_duplicate_ids_are_noted() -> None:
    result = apply.actions(DRAWN, [0.5, 0.6, 0.9, 0.5, 0.1], id=["a", "a", "a", "b", "b"])
    (note,) = result.notes
    assert note.startswith("1 of 3 randomized rows share an id in 'id' with another")
    assert result.codes[0] == result.codes[1]
    assert apply.actions(DRAWN, [0.5, 0.9, 0.9], id=["a", "a", "b"]).notes == ()


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda labels: np.array(labels, dtype=object),
        pd.Series,
        pd.Categorical,
        lambda labels: pd.Series(pd.Categorical(labels, categories=["never", "m", "f"]), index=[1] * len(labels)),
        lambda labels: pd.Series(labels, dtype=object),
        pl.Series,
        lambda labels: pl.Series(labels, dtype=pl.Categorical),
        lambda labels: pl.Series(labels, dtype=pl.Enum(["never", "m", "f"])),
        pa.array,
        lambda labels: pa.array(labels).dictionary_encode(),
        lambda labels: pa.chunked_array(
            [pa.array(labels[:1]).dictionary_encode(), pa.array(labels[1:]).dictionary_encode()]
        ),
    ],
)
def test_groups_in_columns_of_any_kind(make: Any) -> None:  # noqa: ANN401
    labels = ["m", "f", "m", "f"]
    assert action_texts(SEXES, [0.5, 0.5, 0.7, 0.1], group=make(labels)) == ["pass", "flag", "flag", "pass"]
    refers = Policy(by_group=SEXES.by_group, otherwise="refer", attributes=("sex",))
    assert action_texts(refers, [0.5, 0.5, 0.7], group=make(["m", None, "f"])) == ["pass", "refer", "flag"]


def test_labels_match_by_their_text() -> None:
    by_number = Policy(by_group={(1,): Cut((0.4,)), (2,): Cut((0.6,))}, otherwise="refer", attributes=("site",))
    for column in ([1, 2, 3], ["1", "2", "3"], [1.0, 2.0, 3.0], pd.Series([1, 2, None]), pd.Categorical([1, 2, 3])):
        assert action_texts(by_number, [0.5] * 3, group=column) == ["flag", "pass", "refer"]
    flags = Policy(by_group={(True,): Cut((), ("flag",))}, otherwise="pass", attributes=("urgent",))
    for column in ([True, False], np.array([True, False]), ["true", "1"], ["TRUE", "False"], pl.Series([True, None])):
        assert action_texts(flags, [0.5, 0.5], group=column) == ["flag", "pass"]


@pytest.mark.parametrize("column", [[1, True, "1", 1.0, None], [True, 1.0, 1, None, "1"], [None, "1", 1, 1.0, True]])
def test_labels_of_several_types_stay_distinct_in_any_order(column: list[Any]) -> None:
    policy = Policy(
        by_group={("1",): Cut((), ("flag",)), (True,): Cut((), ("pass",))}, otherwise="refer", attributes=("x",)
    )
    wanted = [policy.action(0.5, [each]) for each in column]
    assert [*map(wanted.count, ("flag", "pass", "refer"))] == [2, 1, 2]
    for make in (list, lambda labels: np.array(labels, dtype=object), lambda labels: pd.Series(labels, dtype=object)):
        assert action_texts(policy, [0.5] * 5, group=make(column)) == wanted


def test_several_attributes_are_named_or_in_order() -> None:
    scores, sex, site = [0.5] * 5, ["f", "m", "m", "f", None], ["1", "2", "1", "2", "1"]
    wanted = ["flag", "pass", "pass", "refer", "refer"]
    assert action_texts(TWO, scores, group={"site": site, "sex": sex}) == wanted
    assert (
        action_texts(TWO, scores, group=[sex, site])
        == action_texts(TWO, scores, group=(pd.Categorical(sex), pl.Series(site)))
        == wanted
    )


def test_groups_that_share_a_label_of_another_attribute_stay_distinct() -> None:
    many: dict[tuple[object, ...], Cut] = {(f"a{i}", f"b{i % 7}", i % 3): Cut((i / 100,)) for i in range(100)}
    policy = Policy(by_group=many, otherwise="refer", attributes=("a", "b", "c"))
    rng = np.random.default_rng(2)
    rows = [(f"a{i}", f"b{j}", k) for i, j, k in rng.integers(0, [110, 8, 4], (500, 3)).tolist()] + list(many)
    scores = rng.random(len(rows)).tolist()
    wanted = [policy.action(x, row) for x, row in zip(scores, rows, strict=True)]
    assert action_texts(policy, scores, group=list(zip(*rows, strict=True))) == wanted


@pytest.mark.parametrize(
    ("policy", "group", "error", "message"),
    [
        (
            SEXES,
            ["f", "x", None, "x"],
            UnknownLabelError,
            r"3 of 4 rows .*: sex = 'x' \(2 rows\), sex missing \(1 row\); leave",
        ),
        (
            SEXES,
            pd.Categorical(["f", "x", None, "x"]),
            UnknownLabelError,
            r"3 of 4 rows .*: sex = 'x' \(2 rows\), sex missing",
        ),
        (SEXES, None, OptionError, "requires sex; give a column for each as group="),
        (SEXES, {"site": ["f"] * 4}, OptionError, "group names site, but this policy requires sex; name exactly those"),
        (SEXES, ["f", "m"], ShapeError, r"different lengths \(sex 2, scores 4\)"),
        (SEXES, [["f"]] * 4, ShapeError, "sex has shape"),
        (TWO, ["f"] * 4, OptionError, "requires sex, site; give group= as a mapping"),
        (TWO, np.array([["f", "m"]] * 4), OptionError, "requires sex, site; give group= as a mapping"),
        (TWO, [["f"] * 4, ["1"] * 3], ShapeError, r"different lengths \(sex 4, site 3, scores 4\)"),
        (DRAWN, ["f"] * 4, OptionError, "requires no group; leave group= out"),
    ],
)
def test_invalid_groups_are_refused(policy: Policy, group: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        apply.actions(policy, [0.5] * 4, group=group, id=[1, 2, 3, 4])


def test_errors_list_groups_with_all_attributes() -> None:
    refuses = Policy(by_group=TWO.by_group, otherwise="refuse", attributes=TWO.attributes)
    with pytest.raises(
        UnknownLabelError, match=r"2 of 3 .*: sex = 'f', site = '2' \(1 row\), sex missing, site = '1' \(1 row"
    ):
        apply.actions(refuses, [0.5] * 3, group=[["f", None, "f"], [2, 1, 1]])


@pytest.mark.parametrize("bad", [nan, inf, -inf, None])
def test_scores_that_are_missing_are_refused_with_their_rows_or_kept(bad: float | None) -> None:
    scores = [0.5, bad, 0.7, bad]
    with pytest.raises(
        MissingValuesError, match=r"2 of 4 rows have a score that is .* in 'scores' \(rows 2, 4, counted from 1\)"
    ):
        apply.actions(SEXES, scores, group=["f"] * 4)
    # Nothing is decided, so that the group does not matter.
    result = apply.actions(SEXES, scores, group=["f", "x", "m", None], missing="keep", chances=True)
    assert result.text.tolist() == ["flag", None, "flag", None]
    assert (result.codes.tolist(), result.is_flagged.tolist()) == ([1, -1, 1, -1], [True, False, True, False])
    assert result.chances is not None
    assert np.array_equal(result.chances["pass"], [0, nan, 0, nan], equal_nan=True)
    assert repr(result) == "Actions(4 rows: pass 0, flag 2)"


def test_scores_of_four_bytes_are_compared_exactly() -> None:
    single = np.array([0.1, 0.1], dtype=np.float32)  # a little above 0.1
    policy = Policy(
        by_group={("a",): Cut((0.1,)), ("b",): Cut((float(single[0]) + 1e-12,))}, otherwise="refuse", attributes=("g",)
    )
    assert action_texts(policy, single, group=["a", "b"]) == ["flag", "pass"]
    assert action_texts(Policy(by_group={(): Cut((0.1 + 1e-12,))}, otherwise="refuse"), single) == ["flag", "flag"]


def test_more_actions_than_a_byte_can_number() -> None:
    bands = Cut(tuple(range(1, 300)), tuple(f"band {at}" for at in range(300)))
    result = apply.actions(Policy(by_group={(): bands}, otherwise="refuse"), np.arange(300))
    assert result.text.tolist() == list(bands.actions)


@pytest.mark.parametrize("size", [0, 1, 2**15, 10**6 + 1])
def test_any_number_of_rows(size: int) -> None:
    scores, sex = np.linspace(0, 1, size), np.arange(size, dtype=np.int8) % 2
    result = apply.actions(SEXES, scores, group=pd.Categorical.from_codes(sex, ["f", "m"]))
    assert np.array_equal(result.is_flagged, scores >= np.where(sex, 0.6, 0.4))
    assert len(result) == len(result.text) == size


def test_invalid_options() -> None:
    with pytest.raises(OptionError, match=r"Cut is not a policy; read one with load_policy"):
        apply.actions(Cut((0.5,)), [0.5])  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="missing is 'drop'; expected 'refuse' or 'keep'"):
        apply.actions(DRAWN, [0.5], id=[1], missing="drop")  # type: ignore[arg-type]
    with pytest.raises(NotNumericError, match="scores"):
        apply.actions(DRAWN, ["high"], id=[1])
