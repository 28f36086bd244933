"""Counted nouns: messages and texts contain "1 row", never "1 rows"."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import BaserateError, Cut, apply, calibration, decide, measure, read

PLURAL = re.compile(
    r"\b1 (?:distinct )?(?:rows|scores|labels|columns|classes|draws|groups|cells|values|ids|clusters|weights|actions|"
    r"thresholds|bands|edges|models|chances|cuts|names|positives|negatives|bins|decisions|samples|folds)\b(?! of)"
)
TABLE: dict[str, Any] = {"y": [1], "p": [0.5], "g": ["a"], "q": [0.2]}
COLUMNS: dict[str, Any] = {"truth": "y", "score": "p", "positive": 1, "negative": 0}
OBJECTS: dict[str, Callable[[], object]] = {
    "tally": lambda: baserate.tally([1], [0.5]),
    "tallies": lambda: read.tallies(TABLE, group="g", **COLUMNS),
    "rows": lambda: read.rows(TABLE, group="g", **COLUMNS),
    "intake": lambda: read.tallies(TABLE, **COLUMNS).intake.description,
    "class rows": lambda: baserate.class_scores(["a"], [[0.2, 0.8]], labels=["a", "b"]),
    "confusions": lambda: read.confusions(TABLE, truth="g", predicted="g", group="g"),
    "label sets": lambda: baserate.label_sets([[True, False]], predicted=[[True, True]]),
    "target": lambda: read.target([0.5]),
    "class target": lambda: read.class_target(np.array([[0.2, 0.8]])),
    "results": lambda: baserate.Results({"a": [1]}),
    "policy": lambda: baserate.Policy(by_group={("a",): Cut((0.5,))}, otherwise="refuse", attributes=("g",)),
    "actions": lambda: apply.actions(baserate.Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), [0.5]),
    "decisions": lambda: decide.least_cost([[0.5, 0.5]], baserate.CostMatrix([[0, 1], [1, 0]], "ab")),
    "report": lambda: baserate.evaluate([1], [0.5], positive=1, negative=0),
}
ERRORS: dict[str, Callable[[], object]] = {
    "scores": lambda: measure.brier(baserate.tally([1, 0], [0.5, 2])),
    "a short row": lambda: baserate.class_scores(["a"], [[0.2, 0.8]], labels=["a"]),
    "labels": lambda: baserate.Confusion.of_matrix([[1, 2], [3, 4]], ["a"], truth="rows"),
    "weights": lambda: baserate.label_sets([[1, 0]], weight=[1, 2]),
    "ids": lambda: read.join(
        {
            "a": read.rows({**TABLE, "y": [1, 0], "p": [1, 2], "i": [1, 1]}, truth="y", score="p", id="i"),
            "b": read.rows({**TABLE, "y": [1, 0], "p": [1, 2], "i": [1, 2]}, truth="y", score="p", id="i"),
        }
    ),
    "actions": lambda: Cut((0.5,), actions=("a", "b", "c")),
    "all dropped": lambda: read.tallies({"y": [1], "p": [None]}, missing="drop", **COLUMNS),
    "shares": lambda: calibration.multiclass.reprior(sample_prevalence={"a": 0.5, "b": 0.5}, prevalence={"a": 1.0}),
    "group names": lambda: apply.as_sql(
        baserate.Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), score="p", group="g"
    ),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_reprs_of_one_row_are_singular(what: str) -> None:
    value = OBJECTS[what]()
    text = value if isinstance(value, str) else repr(value)
    assert "1 " in text
    assert not PLURAL.search(text), text


@pytest.mark.parametrize("what", ERRORS)
def test_messages_about_one_row_are_singular(what: str) -> None:
    with pytest.raises(BaserateError) as caught:
        ERRORS[what]()
    assert not PLURAL.search(str(caught.value)), caught.value
    assert re.search(r"\b1 |only row", str(caught.value)), caught.value
