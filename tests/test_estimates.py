"""Estimates as text and as numbers: `str`, `repr`, `float` and formats."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Estimate, infer
from baserate._formatting import format_alike

NUMBERS = st.floats(-1e9, 1e9) | st.floats(0.8531, 0.8533) | st.floats(-1e-6, 1e-6) | st.integers(-9, 9).map(float)


@pytest.mark.parametrize(
    ("estimate", "text", "representation"),
    [
        (Estimate(0.8532, 0.8411, 0.8654), "0.85 (0.84 to 0.87)", "Estimate(0.8532, 0.8411 to 0.8654)"),
        (Estimate(0.85, 0.8496, 0.8504), "0.8500 (0.8496 to 0.8504)", "Estimate(0.8500, 0.8496 to 0.8504)"),
        (Estimate(1.0, 0.769, 1.0), "1.00 (0.77 to 1.00)", "Estimate(1.0000, 0.7690 to 1.0000)"),
        (Estimate(12.34, 8.2, 20.05), "12.3 (8.2 to 20.1)", "Estimate(12.340, 8.200 to 20.050)"),
        (Estimate(-0.07, -0.2, 0.06), "−0.07 (−0.20 to 0.06)", "Estimate(-0.0700, -0.2000 to 0.0600)"),
        (Estimate(15300.0, 9e3, math.inf), "15,300 (9,000 to ∞)", "Estimate(15300, 9000 to inf)"),
        (
            Estimate(0.5, 0.5 - 2e-9, 0.5 + 2e-9),
            "0.500000000 (0.499999998 to 0.500000002)",
            "Estimate(0.500000000, 0.499999998 to 0.500000002)",
        ),
        (
            Estimate(2e-7, 0.0, 3e-6),
            "2.000e-07 (0.000e+00 to 3.000e-06)",
            "Estimate(2.00000e-07, 0.00000e+00 to 3.00000e-06)",
        ),
        (Estimate(0.5), "0.50", "Estimate(0.5000)"),
        (Estimate(math.nan, why="no positives"), "undefined (no positives)", "Estimate(undefined: no positives)"),
        (Estimate(0.5, level=0.95, why="one row"), "0.50 (interval undefined: one row)", "Estimate(0.5000)"),
    ],
)
def test_text_and_representation(estimate: Estimate, text: str, representation: str) -> None:
    assert (str(estimate), repr(estimate), f"{estimate}") == (text, representation, text)


def test_an_estimate_is_a_number() -> None:
    estimate = infer.estimate("auc", [1, 0, 1, 0, 1, 0], [0.9, 0.1, 0.8, 0.6, 0.4, 0.2])
    assert float(estimate) == estimate.value == 8 / 9
    assert np.asarray([estimate, estimate], dtype=float).tolist() == [8 / 9, 8 / 9]
    assert math.isnan(float(Estimate(math.nan, why="no positives")))


def test_a_format_applies_to_all_numbers() -> None:
    estimate = Estimate(0.85321, 0.84111, 0.86543)
    assert f"{estimate:.3f} {estimate:.1%}" == "0.853 (0.841 to 0.865) 85.3% (84.1% to 86.5%)"
    assert f"{Estimate(0.5):.1f} {Estimate(math.nan, why='no rows'):.1f}" == "0.5 nan"
    with pytest.raises(ValueError, match="Unknown format code"):
        f"{estimate:d}"


@given(st.lists(NUMBERS, min_size=1, max_size=3), st.integers(1, 4))
def test_numbers_that_differ_have_different_texts_of_equal_precision(numbers: list[float], digits: int) -> None:
    texts = format_alike(numbers, digits)
    close = 1e-9 * max(map(abs, numbers))
    if all(high - low > close for low, high in pairwise(sorted(numbers))):
        assert len(set(texts)) == len(numbers)
    assert len({len(text.partition(".")[2].partition("e")[0]) for text in texts}) == 1
    for number, text in zip(numbers, texts, strict=True):
        shown = float(text.replace("−", "-").replace(",", ""))
        assert abs(shown - number) <= 0.5 * 10.0 ** (1 - digits) * max(*map(abs, numbers), 1)
