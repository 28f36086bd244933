"""The estimator checks of scikit-learn: which classifiers pass all of them, and which checks others fail, and why.

`docs/scikit_learn.md` lists the same deviations.
"""

from pathlib import Path
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from baserate import Cut, Policy
from baserate.sklearn import CalibratedClassifier, PolicyClassifier
from tests.tiers import tiered_rows

NOT_THE_LIKELIER = {"check_classifiers_train": "it expects the more probable class, whatever the threshold"}
NO_WEIGHTS = dict.fromkeys(
    (
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "venn-abers adds a row to the data, which has no weight, so weights are refused",
)
HALF = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
CLASSIFIERS: list[tuple[Any, dict[str, str]]] = [
    (PolicyClassifier(LogisticRegression(), 0.2), NOT_THE_LIKELIER),
    (CalibratedClassifier(GaussianNB(), cv=3), {}),
    (CalibratedClassifier(LogisticRegression()), {}),
    (CalibratedClassifier(RidgeClassifier(), "isotonic"), {}),
    (CalibratedClassifier(GaussianNB(), "isotonic"), {}),
    (CalibratedClassifier(DecisionTreeClassifier(random_state=0), cv=3), {}),
    (CalibratedClassifier(RidgeClassifier()), {}),
    (CalibratedClassifier(RidgeClassifier(), "venn-abers", cv=3), NO_WEIGHTS),
    (PolicyClassifier(LogisticRegression()), {}),
    (PolicyClassifier(LogisticRegression(), 0.5), {}),
    (PolicyClassifier(RidgeClassifier(), cv=3), {}),
    (PolicyClassifier(GaussianNB(), HALF), {}),
    (PolicyClassifier(GaussianNB(), "fixed", options={"threshold": 0.5}, cv=3), {}),
    (PolicyClassifier(RidgeClassifier(), "youden", cv=3), NOT_THE_LIKELIER),
    (PolicyClassifier(LogisticRegression(), fp=1, fn=5, prevalence="5%", cv=3), NOT_THE_LIKELIER),
]
"""Classifier -> the checks that it fails, with the reason."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("classifier", "deviations"), tiered_rows(CLASSIFIERS, 1), ids=str)
def test_checks_that_fail_are_the_known_deviations(classifier: Any, deviations: dict[str, str]) -> None:  # noqa: ANN401
    results = check_estimator(classifier, expected_failed_checks=deviations, on_skip=None, on_fail=None)
    assert len(results) > 40
    failed = {each["check_name"] for each in results if each["status"] == "failed"}
    assert failed == set()
    assert {each["check_name"] for each in results if each["status"] == "xfail"} == deviations.keys()


def test_documentation_lists_the_deviations() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scikit_learn.md").read_text(encoding="utf-8")
    named = {name for _, deviations in CLASSIFIERS for name in deviations}
    patterns = {name if "weight" not in name else "check_sample_weight" for name in named}
    assert all(pattern in page for pattern in patterns)
