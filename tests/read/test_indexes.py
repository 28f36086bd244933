"""Columns of pandas whose indexes differ raise, since values are paired by position."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import baserate
from baserate import Counts, Cut, Policy, ShapeError, Tally, Target, apply, decide, read
from baserate.sklearn import CalibratedClassifier, PolicyClassifier, scorer

RNG = np.random.default_rng(5)
SIZE = 400
TRUTH = pd.Series(RNG.random(SIZE) < 0.4, index=[f"r{at}" for at in range(SIZE)], name="truth")
SCORE = pd.Series(RNG.normal(size=SIZE) + 1.2 * TRUTH.to_numpy(), index=TRUTH.index, name="score")
SHUFFLED = SCORE.sample(frac=1, random_state=1)
WEIGHT = pd.Series(1.0, index=TRUTH.index).sample(frac=1, random_state=2)
COUNT = WEIGHT.astype(int)
LABEL = TRUTH.map({True: "yes", False: "no"})
CLASS_SCORES = pd.DataFrame({"no": 1 - 1 / (1 + np.exp(-SCORE)), "yes": 1 / (1 + np.exp(-SCORE))})
SETS = pd.DataFrame({"sea": TRUTH, "sky": ~TRUTH})
POLICY = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.6,))}, otherwise="refer", attributes=("sex",))
HULL = decide.roc_convex_hull({"a": Counts(tp=2, fn=1, fp=0, tn=3), "b": Counts(tp=3, fn=0, fp=1, tn=2)})
COMBINED = decide.combine_scores(
    read.rows({"y": [1, 1, 1, 0, 0, 0], "a": [6, 8, 5, 7, 3, 4], "b": [5, 2, 5, 1, 4, 3]}, truth="y", score=["a", "b"])
)
FEATURES = pd.DataFrame({"x": SCORE})

ENTRIES: dict[str, Callable[[], object]] = {
    "tally": lambda: baserate.tally(TRUTH, SHUFFLED),
    "tally, weight": lambda: baserate.tally(TRUTH, SCORE, weight=WEIGHT),
    "tally, count": lambda: baserate.tally(TRUTH.to_numpy(), SCORE, count=COUNT),
    "confusion": lambda: baserate.confusion(LABEL, LABEL.loc[SHUFFLED.index]),
    "confusion, weight": lambda: baserate.confusion(LABEL, LABEL, weight=WEIGHT),
    "scored": lambda: baserate.class_scores(LABEL, CLASS_SCORES.loc[SHUFFLED.index]),
    "scored, count": lambda: baserate.class_scores(LABEL.tolist(), CLASS_SCORES, count=COUNT),
    "label sets": lambda: baserate.label_sets(SETS, predicted=SETS.loc[SHUFFLED.index]),
    "label sets, score": lambda: baserate.label_sets(
        SETS, score=CLASS_SCORES.loc[SHUFFLED.index].to_numpy(), weight=WEIGHT
    ),
    "evaluate": lambda: baserate.evaluate(TRUTH, SHUFFLED),
    "evaluate, models": lambda: baserate.evaluate(TRUTH, {"a": SCORE, "b": SHUFFLED}),
    "evaluate, frame": lambda: baserate.evaluate(TRUTH, pd.DataFrame({"a": SHUFFLED})),
    "evaluate, group": lambda: baserate.evaluate(TRUTH, SCORE, group=LABEL.loc[SHUFFLED.index]),
    "evaluate, predicted": lambda: baserate.evaluate(TRUTH, predicted=TRUTH.loc[SHUFFLED.index]),
    "evaluate, weight": lambda: baserate.evaluate(TRUTH, SCORE, weight=WEIGHT),
    "evaluate, id": lambda: baserate.evaluate(TRUTH, SCORE, id=pd.Series(WEIGHT.index, index=WEIGHT.index)),
    "evaluate, samples": lambda: baserate.evaluate({"a": TRUTH, "b": TRUTH}, {"a": SCORE, "b": SHUFFLED}),
    "tallies": lambda: read.tallies({"y": TRUTH, "p": SHUFFLED}, truth="y", score="p"),
    "rows": lambda: read.rows(
        {"y": TRUTH, "p": SCORE, "c": LABEL.loc[SHUFFLED.index]}, truth="y", score="p", cluster="c"
    ),
    "confusions": lambda: read.confusions({"y": TRUTH, "p": WEIGHT > 0}, truth="y", predicted="p"),
    "class rows": lambda: read.class_rows(
        {"y": LABEL, "p_no": CLASS_SCORES["no"], "p_yes": CLASS_SCORES["yes"].loc[SHUFFLED.index]},
        truth="y",
        score="p_*",
    ),
    "target": lambda: read.target({"p": SCORE, "w": WEIGHT}, score="p", weight="w"),
    "class target": lambda: read.class_target(
        {"p_no": CLASS_SCORES["no"], "p_yes": CLASS_SCORES["yes"].loc[SHUFFLED.index]}, score="p_*"
    ),
    "Target.of_rows": lambda: Target.of_rows(SCORE, weight=WEIGHT),
    "Tally.counted": lambda: Tally.from_counts(
        pd.Series([2.0, 1.0], index=["b", "a"]), pd.DataFrame([[1, 2], [3, 4]], index=["a", "b"])
    ),
    "actions": lambda: apply.actions(
        POLICY, CLASS_SCORES["yes"], group=LABEL.map({"yes": "f", "no": "m"}).loc[SHUFFLED.index]
    ),
    "ranked": lambda: decide.rank_by_hull(HULL, {"a": TRUTH.astype(int), "b": TRUTH.loc[SHUFFLED.index].astype(int)}),
    "combined": lambda: COMBINED.score(SCORE, SHUFFLED),
    "CalibratedBy": lambda: CalibratedClassifier(LogisticRegression()).fit(FEATURES, TRUTH.loc[SHUFFLED.index]),
    "PolicyClassifier": lambda: PolicyClassifier(LogisticRegression()).fit(FEATURES, TRUTH, sample_weight=WEIGHT),
    "scorer": lambda: scorer("auc")(LogisticRegression().fit(FEATURES, TRUTH), FEATURES, TRUTH, sample_weight=WEIGHT),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_rows_in_another_order_raise(entry: str) -> None:
    with pytest.raises(
        ShapeError, match=r"have indexes that differ \(same labels in another order\)\. Align them with"
    ):
        ENTRIES[entry]()


def test_remedies_align_the_columns() -> None:
    with pytest.raises(ShapeError) as caught:
        baserate.tally(TRUTH, SHUFFLED)
    assert "Align them with `score.loc[truth.index]`" in str(caught.value)
    expected = roc_auc_score(TRUTH, SCORE)
    assert expected > 0.75  # and about one half by position
    assert baserate.measure.auc(baserate.curve(baserate.tally(TRUTH, SHUFFLED.loc[TRUTH.index]))) == pytest.approx(
        expected
    )
    assert "`.reset_index(drop=True)` on both" in str(caught.value)
    apart = baserate.tally(TRUTH.reset_index(drop=True), SHUFFLED.reset_index(drop=True))
    assert baserate.measure.auc(baserate.curve(apart)) == pytest.approx(roc_auc_score(TRUTH, SHUFFLED))


def test_other_labels_raise() -> None:
    """As after a split: what was predicted has the labels 0, 1, 2, …"""
    with pytest.raises(ShapeError) as caught:
        baserate.tally(pd.Series([1, 0, 1], index=[7, 1, 9]), pd.Series([0.9, 0.2, 0.4]))
    assert str(caught.value) == (
        "truth and score have indexes that differ (2 of 3 labels are not among those of truth). "
        "Call `.reset_index(drop=True)` on both to pair rows by position."
    )


def test_labels_that_repeat_cannot_be_aligned() -> None:
    with pytest.raises(ShapeError) as caught:
        baserate.tally(pd.Series([1, 0, 1], index=["a", "a", "b"]), pd.Series([0.9, 0.2, 0.4], index=["a", "b", "a"]))
    assert "labels that repeat" in str(caught.value)
    assert ".loc" not in str(caught.value)


def test_remedy_for_names_that_are_no_identifiers() -> None:
    with pytest.raises(ShapeError, match="is it sick and the risk have indexes that differ") as caught:
        read.tallies({"is it sick": TRUTH, "the risk": SHUFFLED}, truth="is it sick", score="the risk")
    assert "`.loc` and the index of the other" in str(caught.value)


def test_different_lengths_are_reported_first() -> None:
    with pytest.raises(ShapeError, match="different lengths"):
        baserate.tally(TRUTH, SCORE.iloc[1:])


@pytest.mark.parametrize(
    "pair",
    [
        (TRUTH, SCORE),
        (TRUTH, SCORE.to_numpy()),
        (TRUTH, SCORE.tolist()),
        (TRUTH.to_numpy(), SHUFFLED),
        (TRUTH, pl.Series(SCORE.to_numpy())),
        (TRUTH, pa.chunked_array([SCORE.to_numpy()])),
        (TRUTH.reset_index(drop=True), SCORE.reset_index(drop=True)),
        (TRUTH.set_axis([1] * SIZE), SCORE.set_axis([1] * SIZE)),
        (
            TRUTH.set_axis(pd.MultiIndex.from_arrays([TRUTH.index, [0] * SIZE])),
            SCORE.set_axis(pd.MultiIndex.from_arrays([TRUTH.index, [0] * SIZE])),
        ),
        (TRUTH.set_axis(range(SIZE)), SCORE.set_axis(np.arange(SIZE))),
    ],
)
def test_compatible_indexes_are_accepted(pair: tuple[Any, Any]) -> None:
    truth, score = pair
    expected = baserate.tally(TRUTH.to_numpy(), np.asarray(score)).digest
    assert baserate.tally(truth, score).digest == expected
    assert read.tallies({"y": truth, "p": score}, truth="y", score="p").tally.digest == expected


def test_columns_that_are_not_in_use_are_not_compared() -> None:
    table = {"y": TRUTH, "p": SCORE, "other": SHUFFLED}
    assert read.tallies(table, truth="y", score="p").tally.total == SIZE
