"""Scores of fitted classifiers: of scikit-learn, and of objects with the same methods."""

import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from baserate import FitError, NotBinaryError, OptionError, ShapeError, UnknownLabelError
from baserate.read import is_estimator, responses

Array = npt.NDArray[Any]


def binary_data(labels: tuple[object, object] = (0, 1)) -> tuple[Array, Array]:
    x, y = make_classification(200, 5, random_state=0)
    return x, np.array(labels)[y]


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}),
    ],
    ids=lambda each: type(each).__name__,
)
def test_probabilities_of_the_positive_class(estimator: Any) -> None:  # noqa: ANN401
    x, y = binary_data()
    estimator.fit(x, y)
    score, positive = responses(estimator, x, y)
    np.testing.assert_array_equal(score, estimator.predict_proba(x)[:, 1])
    assert positive == 1
    assert type(positive) is int
    zero, positive = responses(FrozenEstimator(estimator), x, y, positive=0)
    np.testing.assert_array_equal(zero, estimator.predict_proba(x)[:, 0])
    assert positive == 0


def test_decisions_of_the_first_class_are_negated() -> None:
    x, y = binary_data(("ill", "well"))
    model = LinearSVC().fit(x, y)
    np.testing.assert_array_equal(responses(model, x, positive="well").score, model.decision_function(x))
    np.testing.assert_array_equal(responses(model, x, positive="ill").score, -model.decision_function(x))


class OneColumn:
    """A classifier in the manner of other libraries: probabilities of the second class only."""

    classes_ = (False, True)

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def predict_proba(self, x: Array) -> Array:
        return np.resize(x[:, 0], (len(x), *self.shape))


def test_a_single_column_is_about_the_second_class() -> None:
    x = np.array([[0.25], [0.75]])
    for model in (OneColumn(), OneColumn(1)):
        assert responses(model, x).score.tolist() == [0.25, 0.75]
        assert responses(model, x, positive=False).score.tolist() == [0.75, 0.25]
    with pytest.raises(ShapeError, match=r"shape \(2, 3\); expected one or two columns"):
        responses(OneColumn(3), x)


def test_text_labels_need_the_positive_one() -> None:
    x, y = binary_data(("ill", "well"))
    model = GaussianNB().fit(x, y)
    with pytest.raises(NotBinaryError, match="name the positive one: positive='ill' or positive='well'"):
        responses(model, x)
    with pytest.raises(NotBinaryError, match=r"positive='sick' does not occur"):
        responses(model, x, positive="sick")


@pytest.mark.parametrize("inner", [GaussianNB(), make_pipeline(StandardScaler(), GaussianNB()), IsolationForest()])
def test_estimators_must_be_fitted(inner: BaseEstimator) -> None:
    with pytest.raises(FitError, match=r"is not fitted yet: .* Call its method fit\(X, y\) first\."):
        responses(inner, np.zeros((3, 2)))


def test_other_objects_are_refused() -> None:
    x, y = binary_data()
    with pytest.raises(OptionError, match="LinearRegression has neither predict_proba nor decision_function"):
        responses(LinearRegression().fit(x, y), x)
    with pytest.raises(OptionError, match="GaussianNB is a class; expected a fitted classifier"):
        responses(GaussianNB, x)
    three = LogisticRegression().fit(x, np.arange(200) % 3)
    with pytest.raises(NotBinaryError, match=r"has 3 classes \(0, 1, 2\); expected two\. Use .*multiclass\.summary"):
        responses(three, x)
    with pytest.raises(NotBinaryError, match=r"has 1 class \(0\); expected two\. Fit it to rows of both"):
        responses(GaussianNB().fit(x, y * 0), x)
    several = RandomForestClassifier(2).fit(x, np.column_stack([y, y]))
    with pytest.raises(NotBinaryError, match="predicts 2 outputs; expected one"):
        responses(several, x)


@pytest.mark.parametrize("y", [["no", "yes", "maybe"], pd.Series(["no", None, "maybe"])])
def test_labels_must_be_classes_of_the_estimator(y: Any) -> None:  # noqa: ANN401
    x, truth = binary_data(("no", "yes"))
    model = GaussianNB().fit(x, truth)
    with pytest.raises(UnknownLabelError, match="y holds 'maybe', but the classes of GaussianNB are 'no', 'yes'"):
        responses(model, x[:3], y, positive="yes")


def test_indexes_must_agree() -> None:
    x, y = binary_data()
    frame, labels = pd.DataFrame(x), pd.Series(y)
    model = GaussianNB().fit(frame, labels)
    assert responses(model, frame, labels).positive == 1
    with pytest.raises(ShapeError, match="X and y have indexes that differ"):
        responses(model, frame, labels[::-1])


def test_estimators_are_recognized_by_their_methods() -> None:
    assert is_estimator(GaussianNB())
    assert is_estimator(LinearSVC())
    assert is_estimator(LinearRegression())
    assert not any(map(is_estimator, (GaussianNB, StandardScaler(), np.zeros(3), pd.DataFrame(), "file.csv", None)))


def test_scikit_learn_is_not_imported() -> None:
    code = "import sys; from baserate.read import responses; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
