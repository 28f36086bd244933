"""`CalibratedClassifier`: the estimator checks of scikit-learn, and its own guarantees."""

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks as checks

from baserate import (
    Calibrator,
    FitError,
    MulticlassCalibrator,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    UnknownNameError,
    WeightError,
)
from baserate._calibrator_forms import OneVsRest
from baserate.sklearn import CalibratedClassifier

Array = npt.NDArray[Any]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "check",
    [
        checks.check_parameters_default_constructible,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_estimators_dtypes,
        checks.check_estimators_unfitted,
        checks.check_classifier_data_not_an_array,
        checks.check_n_features_in,
    ],
    ids=lambda check: check.__name__,
)
def test_some_estimator_checks_of_scikit_learn(check: Any) -> None:  # noqa: ANN401
    check("CalibratedClassifier", CalibratedClassifier(GaussianNB()))


def binary_data(rows: int = 400, **options: Any) -> tuple[Array, Array]:  # noqa: ANN401
    x, y = make_classification(rows, 6, n_informative=3, flip_y=0.2, random_state=0, **options)
    return x, y


def three_class_data(rows: int = 600) -> tuple[Array, Array]:
    return binary_data(rows, n_classes=3)


def test_calibration_lowers_the_log_loss() -> None:
    for x, y in (load_breast_cancer(return_X_y=True), load_digits(return_X_y=True), three_class_data()):
        observed, new = slice(0, None, 2), slice(1, None, 2)
        plain = GaussianNB().fit(x[observed], y[observed])
        ours = CalibratedClassifier(GaussianNB(), method="isotonic" if len(set(y)) == 2 else "bias-corrected")
        ours.fit(x[observed], y[observed])

        def loss(model: Any, x: Array, y: Array) -> float:  # noqa: ANN401
            output = np.clip(model.predict_proba(x)[np.arange(len(y)), y], 1e-12, 1)
            return -float(np.log(output).mean())

        assert loss(ours, x[new], y[new]) < loss(plain, x[new], y[new])
        np.testing.assert_allclose(ours.predict_proba(x).sum(axis=1), 1)
        assert ours.out_of_fold_


@pytest.mark.parametrize("frozen", [True, False])
def test_fitted_classifiers_stay_unchanged(frozen: bool) -> None:  # noqa: FBT001
    x, y = binary_data()
    inner = GaussianNB().fit(x[:200], y[:200])
    model = CalibratedClassifier(FrozenEstimator(inner) if frozen else inner).fit(x[200:], y[200:])
    assert isinstance(model.map_, Calibrator)
    assert model.map_.fitted is not None
    assert model.map_.fitted.rows == 200
    assert model.map_.positive == "1"
    wanted = model.map_(inner.predict_proba(x)[:, 1])
    np.testing.assert_array_equal(model.predict_proba(x)[:, 1], wanted)
    np.testing.assert_array_equal(model.predict(x), (wanted > 0.5).astype(int))
    assert not model.out_of_fold_
    assert model.n_features_in_ == 6
    assert not hasattr(model, "feature_names_in_")


def test_logistic_agrees_with_sigmoid_of_scikit_learn() -> None:
    x, y = binary_data(4000)
    inner = LinearSVC().fit(x[:2000], y[:2000])
    ours = CalibratedClassifier(FrozenEstimator(inner)).fit(x[2000:], y[2000:])
    theirs = CalibratedClassifierCV(FrozenEstimator(inner), method="sigmoid", ensemble=False).fit(x[2000:], y[2000:])
    # Theirs smooths what it aims at, a little.
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=2e-3)


def test_several_classes_have_a_multiclass_calibrator() -> None:
    x, y = three_class_data()
    names = np.array(["cat", "dog", "eel"])[y]
    model = CalibratedClassifier(LogisticRegression(), method="temperature").fit(x, names)
    assert isinstance(model.map_, MulticlassCalibrator)
    assert model.map_.labels == ("cat", "dog", "eel")
    assert model.classes_.tolist() == ["cat", "dog", "eel"]
    assert set(model.predict(x)) <= set(names)
    np.testing.assert_array_equal(model.predict_proba(x), model.map_(np.clip(model.estimator_.predict_proba(x), 0, 1)))


@pytest.mark.quick(3)
@pytest.mark.parametrize("data", [binary_data, three_class_data])
@pytest.mark.parametrize("kind", ["dense", "sparse", "frame", "text"])
def test_order_and_repetition_do_not_matter(data: Any, kind: str) -> None:  # noqa: ANN401
    x: Any
    x, y = data(150)
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, len(y))
    order = rng.permutation(times.sum())
    repeated: Any = np.repeat(x, times, axis=0)[order]
    labels, inner = np.repeat(y, times)[order], GaussianNB()
    if kind == "sparse":
        inner, x, repeated = LogisticRegression(tol=1e-10), sparse.csr_matrix(x), sparse.csc_matrix(repeated)
    if kind == "frame":
        import pandas as pd

        x, repeated = (pd.DataFrame(each, columns=list("abcdef")) for each in (x, repeated))
    if kind == "text":
        inner = _TextLengthClassifier()
        x, repeated = ([["x" * int(9 + each[0]), str(each[1])] for each in some] for some in (x, repeated))
    one = CalibratedClassifier(inner).fit(repeated, labels)
    other = CalibratedClassifier(inner).fit(x, y, sample_weight=times)
    np.testing.assert_allclose(one.predict_proba(x), other.predict_proba(x), atol=1e-6)
    if kind == "frame":
        assert one.feature_names_in_.tolist() == list("abcdef")


class _TextLengthClassifier(GaussianNB):  # type: ignore[misc]  # of no known type
    """A classifier of text by its length."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ANN401, N803
        return super().fit(np.array([[len(each[0])] for each in X]), y, sample_weight)

    def predict_proba(self, X: Any) -> Any:  # noqa: ANN401, N803
        return super().predict_proba(np.array([[len(each[0])] for each in X]))


def test_rows_are_scored_without_equal_rows() -> None:
    x, y = binary_data(200)
    twice, labels = np.concatenate([x, x]), np.concatenate([y, y])
    # Nearest neighbours know every row that they have seen: scores would be certain, and right.
    model = CalibratedClassifier(KNeighborsClassifier(1), method="isotonic").fit(twice, labels)
    low, high = model.map_([0.0, 1.0])
    assert 0.1 < low < 0.4
    assert 0.6 < high < 0.9
    np.testing.assert_array_equal(
        CalibratedClassifier(KNeighborsClassifier(1), method="isotonic").fit(x, y).map_([0, 1]), [low, high]
    )


def test_decisions_are_scores_of_any_size() -> None:
    x, y = binary_data()
    model = CalibratedClassifier(LinearSVC()).fit(x, y)
    assert model.map_.form.kind == "line"
    x, y = three_class_data()
    model = CalibratedClassifier(LinearSVC()).fit(x, y)
    assert isinstance(model.map_.form, OneVsRest)
    assert {form.kind for form in model.map_.form.forms} == {"line"}
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1)
    with pytest.raises(NotAProbabilityError):
        CalibratedClassifier(LinearSVC(), method="temperature").fit(x, y)


class FirstColumnClassifier(RidgeClassifier):  # type: ignore[misc]  # of no known type
    """A classifier whose decisions are the first column, in [0, 1] or beyond."""

    def decision_function(self, X: Array) -> Array:  # noqa: N803
        """Return the first column."""
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("method", ["logistic", "isotonic", "histogram", "venn-abers", "choose"])
def test_decisions_between_0_and_1_are_no_probabilities(method: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.random((200, 1))
    y = (rng.random(200) < 0.2 + 0.6 * x[:, 0]).astype(int)
    model = CalibratedClassifier(FirstColumnClassifier(), method=method).fit(x, y)
    assert not model.map_.form.of_probabilities
    assert np.diff(model.predict_proba([[-1.0], [0.5], [4.0]])[:, 1]).min() >= 0
    with pytest.raises(NotAProbabilityError):
        CalibratedClassifier(FirstColumnClassifier(), method="beta").fit(x, y)


@pytest.mark.parametrize(
    ("inner", "plain"), [(LogisticRegression(C=1e6), "identity"), (LinearSVC(C=100, max_iter=100_000), "isotonic")]
)
def test_undetermined_calibrators_fall_back_with_a_warning(inner: Any, plain: str) -> None:  # noqa: ANN401
    x = np.concatenate([np.linspace(-2, -1, 50), np.linspace(1, 2, 50)])[:, None]
    y = (x[:, 0] > 0).astype(int)
    with pytest.warns(UserWarning, match="logistic cannot be fitted: a threshold between .* separates the classes"):
        model = CalibratedClassifier(inner).fit(x, y)
    assert model.map_.method == plain
    assert "logistic cannot be fitted" in model.map_.notes[-1]
    assert model.score(x, y) > 0.95


@pytest.mark.parametrize("alias", ["platt", "sigmoid", "platt-scaling"])
def test_names_of_other_tools(alias: str) -> None:
    x, y = binary_data()
    ours = CalibratedClassifier(GaussianNB(), alias).fit(x, y)
    np.testing.assert_array_equal(
        ours.predict_proba(x), CalibratedClassifier(GaussianNB(), "logistic").fit(x, y).predict_proba(x)
    )


def test_searches_and_pipelines() -> None:
    x, y = binary_data()
    search = GridSearchCV(
        CalibratedClassifier(GaussianNB()), {"method": ["logistic", "isotonic"], "cv": [2, 3]}, cv=3
    ).fit(x, y)
    assert search.best_score_ > 0.7
    assert cross_val_score(make_pipeline(CalibratedClassifier(GaussianNB(), method="beta")), x, y, cv=3).min() > 0.6
    copy = clone(CalibratedClassifier(GaussianNB(), method="beta", cv=4))
    assert copy.get_params(deep=False)["cv"] == 4
    chosen = CalibratedClassifier(GaussianNB(), method="choose").fit(x, y)
    assert chosen.map_.method != "choose"


def test_invalid_arguments_are_refused() -> None:
    x, y = binary_data(60)
    for options, error, output in (
        ({"method": "logistc"}, UnknownNameError, "Did you mean 'logistic'"),
        ({"cv": 1}, OptionError, "cv is 1; give 2 folds or more"),
        ({"cv": [(np.arange(30), np.arange(30, 60))]}, OptionError, "cv does not score every row once"),
    ):
        with pytest.raises(error, match=output):
            CalibratedClassifier(GaussianNB(), **options).fit(x, y)
    with pytest.raises(WeightError, match="1 of 60 weights are negative"):
        CalibratedClassifier(GaussianNB()).fit(x, y, sample_weight=np.where(np.arange(60) == 3, -1, 1))
    with pytest.raises(ShapeError, match=r"sample_weight has shape \(60, 2\)"):
        CalibratedClassifier(GaussianNB()).fit(x, y, sample_weight=np.ones((60, 2)))
    with pytest.raises(FitError, match="there is only one class"):
        CalibratedClassifier(GaussianNB()).fit(x, np.ones(60))
    with pytest.raises(FitError, match=r"without fold \d of 5 there are rows of one class only"):
        CalibratedClassifier(GaussianNB()).fit(x, np.arange(60) == 0)
    with pytest.raises(FitError, match="y contains 7, which is not a class of the classifier"):
        CalibratedClassifier(GaussianNB().fit(x, y)).fit(x, np.where(y, 7, 0))
    with pytest.warns(UserWarning, match="KNeighborsClassifier takes no sample_weight"):
        CalibratedClassifier(KNeighborsClassifier()).fit(x, y, sample_weight=np.ones(60))


def test_classes_missing_in_a_fold_have_probability_0() -> None:
    x, y = three_class_data(90)
    y = np.where(np.arange(90) == 0, 3, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a single row determines is not the point
        model = CalibratedClassifier(GaussianNB(), method="isotonic").fit(x, y)
    assert model.predict_proba(x).shape == (90, 4)
    with pytest.raises(ShapeError, match="by a classifier of 3 of 4 classes"):
        CalibratedClassifier(LinearSVC()).fit(x, y)


def test_missing_scikit_learn_is_reported() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import baserate.sklearn"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "run: pip install 'baserate[sklearn]'" in result.stderr


def test_constant_scores_keep_the_share_of_the_class() -> None:
    x, y = binary_data()
    with pytest.warns(UserWarning, match="all scores are equal"):
        model = CalibratedClassifier(DummyClassifier(strategy="constant", constant=1)).fit(x, y)
    assert model.map_.method == "identity"
