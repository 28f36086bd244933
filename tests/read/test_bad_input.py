"""Bad arrays: each kind has a message with the problem, its place, the number of values and a remedy."""

import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import baserate
from baserate import (
    BaserateError,
    EmptyDataError,
    MissingValuesError,
    NotBinaryError,
    NotNumericError,
    OptionError,
    ShapeError,
    WeightError,
    measure,
)
from baserate.measure import MEASURES, describe, undefined_reason
from tests.strategies import measure_argument

TRUTH, SCORE = [1, 0, 1], [0.9, 0.4, 0.2]


class NA:
    """Stands for pandas.NA, which refuses to be compared into a boolean."""

    def __ne__(self, other: object) -> "NA":  # type: ignore[override]
        return self

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


REFUSED = {
    "no rows": ({"truth": [], "score": []}, EmptyDataError, "there are no rows; give at least one."),
    "lengths differ": (
        {"score": [0.1, 0.2]},
        ShapeError,
        "the columns have different lengths (truth 3, score 2); give one value of each for every row.",
    ),
    "weights of another length": ({"weight": [1.0]}, ShapeError, "(truth 3, score 3, weight 1)"),
    "two columns that are no probabilities": (
        {"score": np.zeros((3, 2))},
        ShapeError,
        (
            "score has two columns whose rows do not add up to 1, so they are not probabilities of two classes. "
            'For two models, give a mapping from names to scores: {"a": score[:, 0], "b": score[:, 1]}.'
        ),
    ),
    "three columns": (
        {"score": np.full((3, 3), 1 / 3)},
        ShapeError,
        "score has 3 columns; expected one, or two for the two classes. For several classes use",
    ),
    "three dimensions": ({"score": np.zeros((3, 2, 2))}, ShapeError, "score has shape (3, 2, 2)"),
    "one array for each model": (
        {"score": [np.zeros(5), np.ones(5)]},
        ShapeError,
        (
            "score has shape (2, 5); expected one column with one value for each row. Take one of them, for example "
            'score[0]; or evaluate several models with baserate.evaluate and a mapping from names to scores, {"a": '
            'score[0], "b": score[1]}.'
        ),
    ),
    "as many models as rows": ({"score": [np.zeros(2)] * 2}, ShapeError, 'names to scores, {"a": score[0]'),
    "a row": ({"score": np.zeros((1, 3))}, ShapeError, "Take its only row, score[0]."),
    "a frame of two models": (
        {"score": pd.DataFrame({"a": SCORE, "b": SCORE})},
        OptionError,
        "there are scores of 2 models (a, b); expected one. Give the scores of one model, or use a function of several",
    ),
    "no columns": ({"score": np.zeros((3, 0))}, ShapeError, "Give a list or 1-d array."),
    "truth of shape (n, 1)": ({"truth": [[1], [0], [1]]}, ShapeError, "truth has shape (3, 1)"),
    "ragged lists": ({"truth": [[1, 0], [1]]}, ShapeError, "truth is a list of lists of different lengths"),
    "labels that cannot be compared": (
        {"truth": [{}, {}, 1]},
        NotBinaryError,
        "truth holds labels that cannot be compared",
    ),
    "a single number": ({"truth": 1, "score": 0.5}, ShapeError, "truth has shape (); expected one column"),
    "NaN scores": (
        {"score": [0.9, math.nan, math.nan]},
        MissingValuesError,
        (
            "2 of 3 values of score are missing or not finite (the first in row 1). "
            "Leave those rows out with missing='drop', or fill them in."
        ),
    ),
    "infinite scores": ({"score": [-math.inf, 0.1, math.inf]}, MissingValuesError, "2 of 3 values of score"),
    "None among scores": ({"score": [0.9, None, 0.1]}, MissingValuesError, "1 of 3 values of score are missing"),
    "NA among scores": (
        {"score": np.array([0.9, NA(), 0.1], dtype=object)},
        MissingValuesError,
        "1 of 3 values of score",
    ),
    "masked scores": ({"score": np.ma.masked_less(SCORE, 0.3)}, MissingValuesError, "1 of 3 values of score"),
    "text scores": (
        {"score": ["0.9", "0.4", "0.2"]},
        NotNumericError,
        "3 of 3 values of score are not numbers; convert",
    ),
    "text among scores": ({"score": [0.9, "high", 0.2]}, NotNumericError, "1 of 3 values of score are not numbers"),
    "text array of scores": ({"score": np.array(["a", "b", "c"])}, NotNumericError, "3 of 3 values of score"),
    "objects as scores": ({"score": [object()] * 3}, NotNumericError, "score cannot be read as numbers"),
    "complex scores": ({"score": [1j, 2j, 3j]}, NotNumericError, "3 of 3 values of score are not numbers"),
    "whole numbers too large for floats": ({"score": [2**53 + 1, 2**53, 1]}, NotNumericError, "beyond 2⁵³"),
    "numbers too long for floats": (
        {"score": np.array([1, 1 + np.finfo(np.longdouble).eps, 2], dtype=np.longdouble)},
        NotNumericError,
        "numbers that a float64 cannot hold; round them first.",
    ),
    "three labels": (
        {"truth": ["a", "b", "c"]},
        NotBinaryError,
        (
            "truth has more than two labels ('a', 'b', 'c'); name both classes with positive= and negative=, or "
            "compare one class with the rest, truth == label."
        ),
    ),
    "three labels, one named": (
        {"truth": ["a", "b", "c"], "positive": "b"},
        NotBinaryError,
        "truth has more than two labels ('a', 'b', 'c'); pass truth == 'b' to evaluate one of them.",
    ),
    "many labels": ({"truth": list(range(7)), "score": [0.1] * 7}, NotBinaryError, "(0, 1, 2, 3, 4 and 2 more)"),
    "two labels, none named": (
        {"truth": ["no", "yes", "no"]},
        NotBinaryError,
        "truth has the labels 'no', 'yes'; name the positive one: positive='no' or positive='yes'.",
    ),
    "minus one and one": ({"truth": [-1, 1, 1]}, NotBinaryError, "truth has the labels -1, 1; name the positive one"),
    "fractions as truth": (
        {"truth": [0.2, 0.8, 0.8]},
        NotBinaryError,
        "truth has the labels 0.2, 0.8; name the positive",
    ),
    "labels that differ only in type": (
        {"truth": [1, "1", 1]},
        NotBinaryError,
        "truth mixes text and numbers (1, '1'), so that labels that look equal may differ; make them all of one type.",
    ),
    "labels that differ only in type, one named": ({"truth": [1, "1", 1], "positive": 1}, NotBinaryError, "mixes text"),
    "a positive of the wrong type": (
        {"truth": ["1", "1", "1"], "positive": 1},
        NotBinaryError,
        "positive=1 is a number, but truth holds '1', text; pass positive='1'.",
    ),
    "a positive of the wrong type among two": (
        {"truth": ["1", "0", "1"], "positive": 1},
        NotBinaryError,
        "pass positive='1'.",
    ),
    "a positive that does not occur": (
        {"truth": ["no", "no", "no"], "positive": "yes"},
        NotBinaryError,
        (
            "positive='yes' does not occur in truth, which holds 'no'. "
            "If there really are no positives, recode truth to 0 and 1."
        ),
    ),
    "several positives": (
        {"truth": ["a", "b", "c"], "positive": ["a", "b"]},
        OptionError,
        "positive=['a', 'b'] is more than one label; name the positive one.",
    ),
    "NaN as truth": ({"truth": [1.0, 0.0, math.nan]}, MissingValuesError, "1 of 3 values of truth are missing"),
    "None as truth": ({"truth": [1, None, 0]}, MissingValuesError, "1 of 3 values of truth are missing"),
    "negative weights": (
        {"weight": [1, -1, -2]},
        WeightError,
        "2 of 3 values of weight are negative; expected 0 or more. Set them to 0 to leave those rows out.",
    ),
    "NaN weights": (
        {"weight": [1, math.nan, 1]},
        MissingValuesError,
        "1 of 3 values of weight are missing or not finite",
    ),
    "huge weights": (
        {"weight": [1e200, 0, 1]},
        WeightError,
        "1 of 3 values of weight are above 1e+140 or below 1e-140",
    ),
    "tiny weights": ({"weight": [1e-320, 0, 1]}, WeightError, "divide all of them by a common number."),
    "only zero weights": ({"weight": [0, 0, 0]}, EmptyDataError, "every weight is zero, so there are no rows"),
    "fractional counts": (
        {"count": [1, 2.5, 1]},
        WeightError,
        (
            "1 of 3 values of count are not whole; expected numbers of identical rows. "
            "Pass sampling or importance weights as weight= instead."
        ),
    ),
    "negative counts": ({"count": [1, -1, 1]}, WeightError, "1 of 3 values of count are negative"),
    "more rows than can be counted": ({"count": [2**53, 2**53, 1]}, WeightError, "adds up to more than 2⁵³ rows"),
    "only zero counts": ({"count": [0, 0, 0]}, EmptyDataError, "every count is zero, so there are no rows"),
    "text weights": ({"weight": ["a", "b", "c"]}, NotNumericError, "3 of 3 values of weight are not numbers"),
}


@pytest.mark.parametrize(("source", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_raises_with_a_remedy(source: dict[str, object], error: type[BaserateError], message: str) -> None:
    arguments = {"truth": TRUTH, "score": SCORE} | source
    with pytest.raises(error, match=re.escape(message)) as caught:
        baserate.tally(**arguments)  # type: ignore[call-overload]
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).endswith(".")


ACCEPTED = {
    "booleans": [True, False, True],
    "whole numbers": [1, 0, 1],
    "unsigned bytes": np.array([1, 0, 1], dtype=np.uint8),
    "floats": [1.0, 0.0, 1.0],
    "objects": np.array([True, 0, 1], dtype=object),
}


@pytest.mark.parametrize("truth", ACCEPTED.values(), ids=ACCEPTED)
def test_zeros_ones_and_booleans_need_no_positive_label(truth: object) -> None:
    assert baserate.tally(truth, SCORE).digest == baserate.tally(TRUTH, SCORE).digest  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        (["yes", "no", "yes"], "yes"),
        (np.array(["yes", "no", "yes"]), "yes"),
        (np.array(["yes", "no", "yes"], dtype=object), "yes"),
        (np.array([b"yes", b"no", b"yes"]), b"yes"),
        ([2, 1, 2], 2),
        ([1, -1, 1], 1),
        ([0, 1, 0], 0),
        ([True, False, True], True),
        ([False, True, False], False),
        (np.array([1.5, 2.5, 1.5]), 1.5),
    ],
)
def test_the_positive_label_may_be_any_of_two(truth: object, positive: object) -> None:
    assert baserate.tally(truth, SCORE, positive=positive).digest == baserate.tally(TRUTH, SCORE).digest  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "score",
    [
        np.array(SCORE, dtype=">f8"),
        np.array(SCORE + SCORE)[:3],
        np.array([0.9, 7, 0.4, 7, 0.2, 7])[::2],
        [Decimal("0.9"), Decimal("0.4"), Decimal("0.2")],
        tuple(SCORE),
        np.ma.array(SCORE),
    ],
    ids=["big-endian", "slice", "strided", "decimals", "tuple", "masked nothing"],
)
def test_scores_of_any_numeric_type_are_read(score: object) -> None:
    assert baserate.tally(TRUTH, score).digest == baserate.tally(TRUTH, SCORE).digest  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_small_whole_scores_are_the_same_in_every_type(dtype: type) -> None:
    assert baserate.tally(TRUTH, np.array([1, 0, 0], dtype=dtype)).digest == baserate.tally(TRUTH, [1, 0, 0]).digest


def test_input_is_neither_changed_nor_shared() -> None:
    truth, score, weight = np.array([True, False]), np.array([0.1, 0.9]), np.array([1.0, 2.0])
    before = [column.copy() for column in (truth, score, weight)]
    kept = baserate.tally(truth, score, weight=weight)
    for column, copy in zip((truth, score, weight), before, strict=True):
        assert (column == copy).all()
        assert column.flags.writeable
    score[:] = 5
    assert kept.score.tolist() == [0.9, 0.1]


@pytest.mark.parametrize(
    ("truth", "reason"),
    [([1, 1], "there are no negatives"), ([0, 0], "there are no positives"), ([1], "there are no negatives")],
    ids=["only positives", "only negatives", "one row"],
)
def test_a_single_class_is_tallied_and_undefined_measures_have_reasons(truth: list[int], reason: str) -> None:
    curve = baserate.curve(baserate.tally(truth, [0.5] * len(truth)))
    assert math.isnan(measure.auc(curve))
    assert undefined_reason(measure.auc, curve) == reason


def test_all_ties_are_one_score() -> None:
    curve = baserate.curve(baserate.tally([1, 0, 0, 1], [0.3] * 4))
    assert curve.threshold.tolist() == [math.inf, 0.3]
    assert measure.auc(curve) == 0.5


@pytest.mark.parametrize("name", [name for name, m in MEASURES.items() if describe(m).of is baserate.Tally])
@pytest.mark.parametrize("score", [[1.5, 0.2], [0.5, -0.1]], ids=["above 1", "below 0"])
def test_proper_scores_refuse_scores_that_are_not_probabilities(name: str, score: list[float]) -> None:
    tally = baserate.tally([1, 0], score)
    with pytest.raises(
        baserate.NotAProbabilityError, match=r"1 row has a score outside \[0, 1\] .* calibrate the scores"
    ):
        MEASURES[name](measure_argument(baserate.Tally, tally))
