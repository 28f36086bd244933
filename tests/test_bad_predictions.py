"""Bad predictions raise errors of baserate with a remedy, never those of NumPy or pandas, in all public functions."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import baserate
from baserate import (
    BaserateError,
    EmptyDataError,
    MissingValuesError,
    NoSuchFileError,
    NotBinaryError,
    NotNumericError,
    OptionError,
    ShapeError,
    UnknownNameError,
    calibration,
    decide,
    fairness,
    infer,
    measure,
    read,
    shift,
)
from tests.forms import CLASS, GROUP, MATRIX, OTHER, ROWS, SCORE, TRUTH, Classifier, Tensor
from tests.test_forms import CALLS, FUNCTIONS, PAIRS, TARGETS, Call

BINARY = {name: call for name, call in CALLS.items() if call.kind not in ("classes", "confusion")}
"""Functions of predictions of two classes."""
T, S = TRUTH.tolist(), SCORE.tolist()


class Opaque:
    """Neither an array nor a list, but with a length."""

    def __len__(self) -> int:
        return ROWS


class Sparse:
    """A matrix without a length, as those of SciPy."""

    shape = (ROWS,)

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous")


BAD: dict[str, tuple[type[BaserateError], str, Callable[[], tuple[Any, Any]]]] = {
    "text": (NotNumericError, "48 of 48 values of score are not numbers", lambda: (T, [str(each) for each in S])),
    "some text": (NotNumericError, "1 of 48 values of score are not numbers", lambda: (T, [*S[:-1], "high"])),
    "text in a frame": (NotNumericError, "48 of 48 values of", lambda: (T, pd.DataFrame({"score": ["x"] * ROWS}))),
    "text in a tensor": (NotNumericError, "48 of 48 values of score", lambda: (T, Tensor(["x"] * ROWS))),
    "complex numbers": (NotNumericError, "48 of 48 values of score", lambda: (T, [1j] * ROWS)),
    "dates": (NotNumericError, "48 of 48 values", lambda: (T, np.array(["2020-01-01"] * ROWS, dtype="datetime64[D]"))),
    "objects": (NotNumericError, "score cannot be read as numbers", lambda: (T, np.array([object()] * ROWS))),
    "dictionaries": (NotNumericError, "score cannot be read as numbers", lambda: (T, [{"a": each} for each in S])),
    "huge numbers": (
        NotNumericError,
        "score holds whole numbers beyond",
        lambda: (T, [2**60 + at for at in range(48)]),
    ),
    "three dimensions": (ShapeError, r"score has shape \(48, 2, 2\)", lambda: (T, np.zeros((ROWS, 2, 2)))),
    "a tensor of three": (ShapeError, r"score has shape \(48, 2, 2\)", lambda: (T, Tensor(np.zeros((ROWS, 2, 2))))),
    "lists of lists": (
        ShapeError,
        "score is a list of lists of different",
        lambda: (T, [*[[each] for each in S], [1, 2]]),
    ),
    "labels in columns": (ShapeError, r"truth has shape \(48, 2\)", lambda: (np.column_stack([TRUTH, TRUTH]), S)),
    "unequal lengths": (ShapeError, r"lengths \(truth 48.*, score 47\)", lambda: (T, S[:-1])),
    "unequal in a mapping": (ShapeError, r"lengths \(truth 48.*, score 47\)", lambda: (T, {"score": S[:-1]})),
    "a matrix of 40 rows": (ShapeError, r"score has shape \(40, 2\)", lambda: (T, np.full((40, 2), 0.5))),
    "two columns, no probabilities": (ShapeError, "do not add up to 1", lambda: (T, np.full((ROWS, 2), 0.7))),
    "a generator": (
        ShapeError,
        r"score is of type generator; .* Give list\(score\)",
        lambda: (T, (each for each in S)),
    ),
    "a generator of labels": (ShapeError, r"truth is of type generator", lambda: ((each for each in T), S)),
    "a map": (ShapeError, r"Give list\(score\)", lambda: (T, map(float, S))),
    "a set": (ShapeError, "score is of type set; .* a set has no order", lambda: (T, set(S))),
    "an opaque object": (ShapeError, "score is of type Opaque", lambda: (T, Opaque())),
    "a sparse array": (ShapeError, "score is of type Sparse", lambda: (T, Sparse())),
    "a function": (OptionError, "needs labels and scores", lambda: (T, len)),
    "text alone": (ShapeError, "score is 'p'; .* a table first, and names", lambda: (T, "p")),
    "a number": (ShapeError, "score is 0.5; expected one column", lambda: (T, 0.5)),
    "bytes": (ShapeError, "score is of type bytes", lambda: (T, b"x" * ROWS)),
    "no labels": (ShapeError, "truth is None", lambda: (None, S)),
    "an empty mapping": (ShapeError, "score is of type dict, without columns", lambda: (T, {})),
    "an empty frame": (ShapeError, "score is of type DataFrame, without columns", lambda: (T, pd.DataFrame())),
    "a mapping of numbers": (ShapeError, r"has shape \(\)", lambda: (T, {"a": 0.5})),
    "no rows": (EmptyDataError, "there are no rows; give at least one", lambda: ([], [])),
    "no rows in arrays": (EmptyDataError, "there are no rows", lambda: (np.array([]), np.array([]))),
    "NaN": (
        MissingValuesError,
        "1 of 48 (values of score|rows cannot be used .score)",
        lambda: (T, [*S[:-1], math.nan]),
    ),
    "infinity": (MissingValuesError, "1 of 48 (values of score|rows)", lambda: (T, [*S[:-1], math.inf])),
    "None": (MissingValuesError, "1 of 48 (values of score|rows)", lambda: (T, [*S[:-1], None])),
    "only NaN": (MissingValuesError, "48 of 48 (values of score|rows)", lambda: (T, [math.nan] * ROWS)),
    "missing labels": (MissingValuesError, "1 of 48 (values of truth|rows)", lambda: ([math.nan, *T[1:]], S)),
    "pandas.NA": (
        MissingValuesError,
        "1 of 48 (values of score|rows)",
        lambda: (T, pd.Series([*S[:-1], pd.NA], dtype="Float64")),
    ),
    "two labels": (
        NotBinaryError,
        "truth has the labels 'a', 'b'; name the positive one",
        lambda: (["a", "b"] * 24, S),
    ),
    "three labels": (NotBinaryError, "truth has more than two labels", lambda: (["a", "b", "c"] * 16, S)),
    "fractions as labels": (NotBinaryError, "truth has the labels 0.2, 0.7", lambda: ([0.2, 0.7] * 24, S)),
    "no scores": (OptionError, "needs labels and scores", lambda: (T, None)),
    "a name in place of labels": (NoSuchFileError, "there is no file y", lambda: ("y", S)),
}
"""Bad predictions: the error, what its message says, and the arguments."""
ODD: dict[str, tuple[Any, Any]] = {
    "only positives": ([1] * ROWS, S),
    "only negatives": ([0] * ROWS, S),
    "one row": ([1], [0.3]),
    "two rows": ([1, 0], [0.3, 0.4]),
    "equal scores": (T, [0.5] * ROWS),
    "objects that are numbers": (T, np.array(S, dtype=object)),
    "decimal numbers": (T, [Decimal(each) for each in S]),
    "booleans": (T, SCORE > 0.5),
    "a list of booleans": (T, [each > 0.5 for each in S]),
    "categories": (T, pd.Series(pd.Categorical(S))),
    "five columns": (T, np.full((ROWS, 5), 0.2)),
    "huge scores": (T, [each * 1e300 for each in S]),
}
"""Predictions of which some functions can use, and others not."""


def apply_call(name: str, truth: Any, score: Any, **options: Any) -> Any:  # noqa: ANN401
    call = CALLS[name]
    if "group" in call.kind:
        options.setdefault("group", GROUP[: len(truth)] if isinstance(truth, list | np.ndarray) else GROUP)
    return FUNCTIONS[name](*call.before, truth, score, *call.after, **call.options, **options)


@pytest.mark.parametrize("bad", BAD)
def test_bad_predictions_raise_with_a_remedy(bad: str) -> None:
    error, message, make = BAD[bad]
    for name, call in BINARY.items():
        if bad == "a name in place of labels" and "group" in call.kind:
            continue  # the table, a file, has no array of groups
        with pytest.raises(error, match=message) as caught:
            apply_call(name, *make())
        assert str(caught.value).endswith((".", "?")), name
        assert caught.value.remedy, name


@pytest.mark.parametrize("odd", ODD)
def test_odd_predictions_raise_nothing_else(odd: str) -> None:
    used = 0
    for name in BINARY:
        try:
            apply_call(name, *ODD[odd])
            used += 1
        except BaserateError as error:
            assert str(error).endswith("."), (name, error)  # noqa: PT017  (some functions can use them)
    assert used, "no function uses them"


INDEX = [f"r{at}" for at in range(ROWS)]
TRUTH_SERIES, SCORE_SERIES = pd.Series(TRUTH, INDEX), pd.Series(SCORE, INDEX)
SHUFFLED = SCORE_SERIES.sample(frac=1, random_state=1)
LABELS = pd.Series(INDEX, INDEX).loc[SHUFFLED.index]
"""Any labels, in the order of the shuffled scores."""
DIFFERING: dict[str, tuple[Any, ...]] = {
    "score": (TRUTH_SERIES, SHUFFLED),
    "a pair": ((TRUTH_SERIES, SHUFFLED),),
    "a mapping": (TRUTH_SERIES, {"score": SHUFFLED}),
    "a mapping of two": (TRUTH, {"a": SCORE_SERIES, "b": SHUFFLED}),
    "a frame": (TRUTH_SERIES, pd.DataFrame({"score": SHUFFLED})),
    "a frame of probabilities": (TRUTH_SERIES, pd.DataFrame({0: 1 - SHUFFLED, 1: SHUFFLED})),
    "an estimator": (Classifier(), pd.DataFrame({"x": SHUFFLED}), TRUTH_SERIES),
    "columns": ({"truth": TRUTH_SERIES, "score": SHUFFLED},),
}


@pytest.mark.parametrize("form", DIFFERING)
def test_series_are_never_paired_by_position(form: str) -> None:
    columns = {"truth": "truth", "score": "score"} if form == "columns" else {}
    for name, call in BINARY.items():
        with pytest.raises(ShapeError, match="have indexes that differ") as caught:
            FUNCTIONS[name](*call.before, *DIFFERING[form], *call.after, **call.options, **columns)
        assert "Align them" in str(caught.value), name


@pytest.mark.parametrize("role", ["weight", "group", "id", "cluster", "count"])
def test_weights_groups_and_ids_are_never_paired_by_position(role: str) -> None:
    column = pd.Series(1, LABELS.index) if role in ("weight", "count") else LABELS
    refused = 0
    for name, call in BINARY.items():
        options = {"group": pd.Series(GROUP, INDEX)} if "group" in call.kind else {}
        with pytest.raises(BaserateError) as caught:
            apply_call(name, TRUTH_SERIES, SCORE_SERIES, **{**options, role: column})
        has_use = isinstance(caught.value, ShapeError)
        assert ("have indexes that differ" if has_use else f"has no use for {role}=") in str(caught.value), name
        refused += has_use
    assert refused > (10 if role in ("id", "cluster") else 25)


def test_pairs_and_targets_are_never_paired_by_position() -> None:
    for name, kind in PAIRS.items():
        first = (CLASS, MATRIX) if kind == "classes" else (TRUTH, SCORE)
        second = (pd.Series(CLASS, INDEX), pd.DataFrame(MATRIX, LABELS.index))
        with pytest.raises(ShapeError, match="have indexes that differ"):
            FUNCTIONS[name](first, second if kind == "classes" else (TRUTH_SERIES, SHUFFLED))
    for name, options in TARGETS.items():
        before = (shift.estimate_prevalence(OTHER, TRUTH, SCORE),) if name.endswith("prevalence_summary") else ()
        with pytest.raises(ShapeError, match="have indexes that differ"):
            FUNCTIONS[name](*before, OTHER, TRUTH_SERIES, SHUFFLED, **options)


def test_a_frame_names_the_classes_of_its_columns() -> None:
    """Columns of probabilities are recognized by the labels, in any order; other names are models."""
    expected = measure.auc(TRUTH, SCORE)
    named = np.where(TRUTH == 1, "sick", "well")
    probabilities = {"well": 1 - SCORE, "sick": SCORE}
    for frame in (pd.DataFrame(probabilities), pl.DataFrame(probabilities), probabilities):
        assert measure.auc(named, frame, positive="sick") == expected
        assert measure.auc(named, frame, positive="well") == expected
    assert measure.auc(TRUTH, pd.DataFrame({0: 1 - SCORE, 1: SCORE})) == expected
    assert measure.auc(TRUTH == 1, pd.DataFrame({True: SCORE, False: 1 - SCORE})) == expected
    with pytest.raises(OptionError, match=r"there are scores of 2 models \(a, b\)"):
        measure.auc(TRUTH, pd.DataFrame({"a": SCORE, "b": OTHER}))


SHARES = (0.1, "10%", "0.1", " 10 % ")
WORDED: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda share: baserate.evaluate(TRUTH, SCORE, prevalence=share).there.precision.value,
    "calibrate": lambda share: baserate.calibrate(TRUTH, SCORE, prevalence=share)([0.3])[0],
    "choose_threshold": lambda share: baserate.choose_threshold(TRUTH, SCORE, prevalence=share, fp=1, fn=5).threshold,
    "equalize": lambda share: str(
        baserate.equalize(TRUTH, SCORE, "equalized-odds", group=GROUP, prevalence=share).by_group
    ),
    "level": lambda share: infer.estimate("auc", TRUTH, SCORE, level=share).low,
    "level of evaluate": lambda share: baserate.evaluate(TRUTH, SCORE, level=share).here.auc.low,
    "threshold": lambda share: measure.sensitivity(TRUTH, SCORE, threshold=share),
    "threshold of a summary": lambda share: measure.summary(TRUTH, SCORE, threshold=share).rows()[2]["value"],
    "at": lambda share: measure.net_benefit(TRUTH, SCORE, at=share),
    "share": lambda share: decide.capacity(TRUTH, SCORE, share=share).threshold,
    "reweigh": lambda share: shift.reweigh(TRUTH, SCORE, prevalence=share).digest,
    "reprior": lambda share: shift.reprior([0.3], sample_prevalence=0.5, prevalence=share)[0],
    "gamma": lambda share: shift.gamma(sample_prevalence=0.5, prevalence=share),
    "ppv": lambda share: shift.ppv(0.9, 0.9, share),
    "npv": lambda share: shift.npv(0.9, 0.9, prevalence=share),
    "sample size": lambda share: infer.sample_size_for_auc(0.8, half_width=0.05, prevalence=share).rows,
    "calibrator": lambda share: calibration.prevalence(sample_prevalence=0.5, prevalence=share)([0.3])[0],
    "iso-cost line": lambda share: decide.iso_cost(baserate.Costs(fp=1, fn=5), share, cost=0.2).slope,
}


@pytest.mark.parametrize("name", WORDED)
def test_shares_may_be_written_as_text(name: str) -> None:
    plain, *texts = [WORDED[name](each) for each in SHARES]
    assert texts == [plain] * len(texts)
    with pytest.raises(BaserateError, match=r"is '?often'?; expected"):
        WORDED[name]("often")


@pytest.mark.parametrize(
    ("option", "value", "hint"), [("prevalence", 5, "0.05 or '5%'"), ("level", 95, "0.95 or '95%'")]
)
def test_percentages_without_a_sign_are_refused_with_a_hint(option: str, value: int, hint: str) -> None:
    hint = f"For {value} percent give {hint}"
    for name, function in FUNCTIONS.items():
        call = CALLS.get(name, Call("none"))
        if option not in call.options and name in BINARY and option in function.__wrapped__.__annotations__:  # type: ignore[attr-defined]
            with pytest.raises(
                OptionError,
                match=f"{option}(=5 has no effect|; give costs=| is 5; .* or 'derived'| is {value}; .* {hint})",
            ):
                apply_call(name, TRUTH, SCORE, **{option: value})


def test_costs_may_be_stated_in_several_ways() -> None:
    cost: Any = decide.cost
    expected = cost(TRUTH, SCORE, baserate.Costs(fp=1, fn=5)).threshold
    assert cost(TRUTH, SCORE, fp=1, fn=5).threshold == expected
    assert cost(TRUTH, SCORE, {"fp": 1, "fn": 5}).threshold == expected
    assert cost(TRUTH, SCORE, costs={"fp": 1, "fn": 5}).threshold == expected
    with pytest.raises(OptionError, match=r"costs have no fn\. Give both"):
        cost(TRUTH, SCORE, fp=1)
    for stated in ((TRUTH, SCORE, baserate.Costs(fp=1, fn=2)), (TRUTH, SCORE, {"fp": 1, "fn": 2})):
        with pytest.raises(OptionError, match="costs are given twice"):
            cost(*stated, fn=5)


OTHER_OPTIONS = {
    "y_true": "truth",
    "y_score": "score",
    "pos_label": "positive",
    "sample_weight": "weight",
}


@pytest.mark.parametrize("option", OTHER_OPTIONS)
def test_options_of_other_tools_are_suggested(option: str) -> None:
    for name in [*BINARY, *TARGETS]:
        arguments: tuple[Any, ...] = (TRUTH, SCORE)
        if name in TARGETS:
            arguments = (None, OTHER, *arguments) if name.endswith("prevalence_summary") else (OTHER, *arguments)
        call = CALLS.get(name, Call("", TARGETS.get(name, {})))
        with pytest.raises(UnknownNameError, match=f"no option '{option}'. Did you mean '{OTHER_OPTIONS[option]}'"):
            FUNCTIONS[name](*call.before, *arguments, *call.after, **call.options, **{option: 1})


def test_other_words_for_options_are_suggested() -> None:
    best: Any = decide.best
    for call, word in (
        (lambda: fairness.group_gaps(TRUTH, SCORE, sensitive_features=GROUP, policy=None), "group"),  # type: ignore[call-overload]
        (lambda: baserate.equalize(TRUTH, SCORE, "equalized-odds", sensitive_features=GROUP), "group"),  # type: ignore[call-overload]
        (lambda: measure.sensitivity(TRUTH, SCORE, cutoff=0.5), "threshold"),  # type: ignore[call-overload]
        (lambda: infer.bootstrap(["ece"], TRUTH, SCORE, n_boot=10), "n_bootstrap"),  # type: ignore[call-overload]
        (lambda: infer.estimate("auc", TRUTH, SCORE, conf_level=0.9), "level"),  # type: ignore[call-overload]
        (lambda: infer.summary(TRUTH, SCORE, conf_level=0.9), "level"),  # type: ignore[call-overload]
        (lambda: baserate.evaluate(TRUTH, SCORE, prior=0.1), "prevalence"),  # type: ignore[call-overload]
        (lambda: best(TRUTH, SCORE, metric="f1"), "measure"),
        (lambda: read.tallies({"y": T, "p": S}, y_true="y", score="p"), "truth"),  # type: ignore[call-arg]
    ):
        with pytest.raises(UnknownNameError, match=f"Did you mean '{word}'"):
            call()
