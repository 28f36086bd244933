"""Random assignment: equal on every machine, uniform, and a function of key and id only."""

from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import MissingValuesError, OptionError
from baserate._cut import DIGITS, RANGE, id_text, random_edge, random_number, random_numbers

KEY = "0" * 64
VECTORS = {
    "7": "c6dc093e9d8c7",
    "007": "0f1932c8a0f4e",
    "": "e6f88a0d6aba0",
    "é": "c969f5ea295ad",
    "日本": "f3a25a16fecc7",
    "it's": "452f80613102c",
    '"q"': "6eb997efa3c60",
    "9223372036854775808": "59d33c249b25b",
    "🙂": "8fb54ebc1568c",
    "a b": "467051fe96c74",
}
"""Id -> the first digits of what `sha256sum` says of the key, a colon and the id."""


@pytest.mark.parametrize("id_", VECTORS)
def test_random_numbers_equal_the_golden_vectors(id_: str) -> None:
    assert f"{random_number(KEY, id_):0{DIGITS}x}" == VECTORS[id_]


@given(st.text(max_size=8), st.lists(st.text(max_size=12), max_size=5))
def test_random_number_is_the_beginning_of_the_digest(key: str, ids: list[str]) -> None:
    result = random_numbers(key, ids)
    assert result.tolist() == [int(sha256(f"{key}:{each}".encode()).hexdigest()[:DIGITS], 16) for each in ids]
    assert all(int(each) / RANGE < 1 for each in result)


@given(st.floats(2**-52, 1, exclude_max=True), st.integers(0, RANGE - 1))
def test_random_number_is_below_the_edge_if_u_is_below_the_chance(chance: float, drawn: int) -> None:
    assert (drawn < random_edge(chance)) == (Fraction(drawn, RANGE) < Fraction(chance)) == (drawn / RANGE < chance)


def test_random_numbers_are_uniform_and_independent_of_the_key() -> None:
    ids = [str(each) for each in range(20_000)]
    one, other = (random_numbers(key, ids) / RANGE for key in ("a", "b"))
    counts = np.histogram(one, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 45  # 19 degrees of freedom: p = 0.0007
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03


def test_ids_are_whole_numbers_or_text() -> None:
    assert id_text(7) == id_text(np.int64(7)) == id_text(np.uint8(7)) == "7"
    assert id_text(2**63) == "9223372036854775808"
    assert id_text(-3) == "-3"
    assert id_text("007") == "007"
    assert type(id_text(np.str_("a"))) is str
    for wrong in (7.0, True, np.True_, np.float64(7), b"7", (7,)):
        with pytest.raises(OptionError, match="a whole number or text"):
            id_text(wrong)
    with pytest.raises(MissingValuesError, match="an ID is missing"):
        id_text(None)
    with pytest.raises(OptionError, match="UTF-8"):
        random_number("key", "\ud800")
