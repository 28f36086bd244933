"""pROC's aSAH data: Venkatraman's permutation tests, computed by pROC 1.18.0 (`roc.test(method="venkatraman")`)."""

from collections.abc import Callable

import numpy as np
import pytest

from baserate import Rows, infer, tally
from baserate.infer import Question

Columns = Callable[[str], dict[str, list[str]]]

QUESTION = Question(method="venkatraman")
# E is the same in every run; p is that of 2000 permutations (set.seed(42)), so within 0.02 of another run.
PAIRED = [
    (("wfns", "ndka"), 1234, 0.0085),
    (("wfns", "s100b"), 578, 0.0225),
    (("ndka", "s100b"), 692, 0.202),
]
UNPAIRED = [
    (("wfns", "ndka"), 0.0966403007283264, 0.0035),
    (("wfns", "s100b"), 0.045187563630668, 0.172),
    (("ndka", "s100b"), 0.0541154358211293, 0.158),
]
OMITTED = 1e-4
"""pROC leaves out the area below the first rank, less than 1/n² of the 113 patients."""


@pytest.fixture(scope="module")
def rows(columns: Columns) -> Rows:
    """Ranks with ties in the order of the patients, as pROC breaks them by default (ties.method="first")."""
    read = columns("aSAH.csv")
    scores = {name: np.array(read[name], dtype=float) for name in ("wfns", "ndka", "s100b")}
    ranks = {name: np.argsort(np.argsort(score, kind="stable")).astype(float) for name, score in scores.items()}
    return Rows(np.array(read["outcome"]) == "Poor", ranks)


@pytest.mark.parametrize(("pair", "statistic", "p"), PAIRED)
def test_paired(rows: Rows, pair: tuple[str, str], statistic: float, p: float) -> None:
    (result,) = infer.compare(rows, models=[pair], question=QUESTION)
    assert result.statistic == statistic
    assert result.p == pytest.approx(p, abs=0.02)
    assert result.test == "Venkatraman's test of equal ROC curves, 9999 permutations"


@pytest.mark.parametrize(("pair", "statistic", "p"), UNPAIRED)
def test_unpaired(rows: Rows, pair: tuple[str, str], statistic: float, p: float) -> None:
    samples = [tally(rows.truth, rows.score[name]) for name in pair]
    result = infer.compare_unpaired(*samples, question=QUESTION)
    assert statistic - 1e-12 <= result.statistic <= statistic + OMITTED
    assert result.p == pytest.approx(p, abs=0.02)
