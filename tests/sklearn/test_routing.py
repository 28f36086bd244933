"""Metadata (groups, ids, weights) pass through pipelines and searches; frames pass through meta-estimators."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baserate import Cut, Policy, RandomizedCut
from baserate.sklearn import CalibratedClassifier, PolicyClassifier, scorer

Array = npt.NDArray[Any]
DRAWN = Policy(
    by_group={("f",): Cut((0.4,)), ("m",): RandomizedCut((Cut((0.2,)), Cut((0.8,))), (0.3, 0.7))},
    otherwise="refuse",
    attributes=("sex",),
    columns={"id": "who"},
)


@pytest.fixture(autouse=True)
def route_metadata() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def people() -> tuple[Array, Array, Array, Array, Array]:
    """Return features, classes, sexes, ids and weights."""
    x, y = make_classification(400, 6, n_informative=3, flip_y=0.2, random_state=0)
    rng = np.random.default_rng(0)
    return x, y, rng.choice(["f", "m"], 400), np.arange(400), rng.integers(1, 4, 400).astype(float)


def request_all(model: Any) -> Any:  # noqa: ANN401  (its methods are made by scikit-learn)
    """Request groups at the fit, the prediction and the score, and ids at the last two."""
    model = model.set_fit_request(group=True, sample_weight=True)
    return model.set_predict_request(group=True, id=True).set_score_request(group=True, id=True, sample_weight=True)


def test_parity_in_a_pipeline() -> None:
    x, y, sex, who, weight = people()
    model = request_all(PolicyClassifier(GaussianNB(), "equal-opportunity", fp=1, fn=2))
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    line = make_pipeline(scaler, model).fit(x, y, group=sex, sample_weight=weight)
    scaled = StandardScaler().fit_transform(x)
    alone = PolicyClassifier(GaussianNB(), "equal-opportunity", fp=1, fn=2)
    alone.fit(scaled, y, group=sex, sample_weight=weight)
    wanted = alone.predict(scaled, group=sex, id=who)
    np.testing.assert_array_equal(line.predict(x, group=sex, id=who), wanted)
    score = line.score(x, y, group=sex, id=who, sample_weight=weight)
    assert score == pytest.approx(np.average(wanted == y, weights=weight))
    assert score != pytest.approx((wanted == y).mean())


def test_groups_and_ids_in_a_search_over_a_pipeline() -> None:
    x, y, sex, who, _ = people()
    model = PolicyClassifier(GaussianNB(), "demographic-parity", fp=1, fn=2).set_fit_request(group=True)
    model.set_predict_request(group=True, id=True).set_score_request(group=True, id=True)
    line = make_pipeline(StandardScaler(), model)
    grid = [
        {"policyclassifier__fn": [1, 20]},
        {"policyclassifier__policy": [DRAWN], "policyclassifier__fp": [None], "policyclassifier__fn": [None]},
    ]
    search = GridSearchCV(line, grid, cv=3, error_score="raise").fit(x, y, group=sex, id=who)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 3
    assert scores[0] > scores[1]  # dear misses: nearly all are flagged
    assert search.score(x, y, group=sex, id=who) == (search.best_estimator_.predict(x, group=sex, id=who) == y).mean()


def test_each_fold_gets_its_own_groups_and_ids() -> None:
    x, y, sex, who, _ = people()
    model = PolicyClassifier(FrozenEstimator(GaussianNB().fit(x, y)), DRAWN).set_fit_request(group=False)
    model.set_score_request(group=True, id=True)
    folds = [(np.arange(200), np.arange(200, 400)), (np.arange(200, 400), np.arange(200))]
    result = cross_validate(model, x, y, cv=folds, params={"group": sex, "id": who})
    for (_, test), score in zip(folds, result["test_score"], strict=True):
        assert score == model.score(x[test], y[test], group=sex[test], id=who[test])


def test_metadata_that_nobody_requested_are_refused() -> None:
    x, y, sex, _, _ = people()
    line = make_pipeline(StandardScaler(), PolicyClassifier(GaussianNB(), "equalized-odds"))
    with pytest.raises((UnsetMetadataPassedError, TypeError), match="group"):
        line.fit(x, y, group=sex)


class RecordedWeights(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A classifier that stores the weights that it is given."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ANN401, N803
        self.weight_ = sample_weight
        self.model_ = GaussianNB().fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:  # noqa: ANN401, N803
        return self.model_.predict_proba(X)


@pytest.mark.parametrize("outer", [PolicyClassifier, CalibratedClassifier])
def test_weights_reach_the_last_step_of_an_inner_pipeline(outer: Any) -> None:  # noqa: ANN401
    x, y, _, _, weight = people()
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    inner = make_pipeline(scaler, RecordedWeights().set_fit_request(sample_weight=True))
    model = outer(inner).fit(x, y, sample_weight=weight)
    np.testing.assert_array_equal(model.estimator_[-1].weight_, weight)
    deaf = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.warns(UserWarning, match="Pipeline takes no sample_weight"):
        outer(deaf).fit(x, y, sample_weight=weight)


def test_weights_of_scorers_in_a_search() -> None:
    x, y, _, _, weight = people()
    score = scorer("brier").set_score_request(sample_weight=True)
    model = CalibratedClassifier(GaussianNB()).set_fit_request(sample_weight=True)
    search = GridSearchCV(model, {"method": ["platt", "isotonic"]}, scoring=score, cv=3).fit(x, y, sample_weight=weight)
    again = GridSearchCV(model, {"method": ["platt", "isotonic"]}, scoring=scorer("brier"), cv=3)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        again.fit(x, y, sample_weight=weight)
    assert search.best_score_ < 0


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_of_transformers_reach_the_inner_classifier(output: str) -> None:
    x, y, _, _, _ = people()
    frame = pd.DataFrame(x, columns=[f"x{at}" for at in range(6)])
    scaler = StandardScaler().set_output(transform=output)
    for outer in (PolicyClassifier(GaussianNB(), 0.3), CalibratedClassifier(GaussianNB())):
        inner = make_pipeline(scaler, outer).fit(frame, y)
        assert inner[-1].feature_names_in_.tolist() == frame.columns.tolist()
        assert inner[-1].estimator_.feature_names_in_.tolist() == frame.columns.tolist()
        around = make_pipeline(scaler, GaussianNB()).fit(frame, y)
        if isinstance(outer, PolicyClassifier):
            np.testing.assert_array_equal(inner.predict_proba(frame), around.predict_proba(frame))
        assert not hasattr(outer, "transform")
        assert not hasattr(outer, "set_output")
