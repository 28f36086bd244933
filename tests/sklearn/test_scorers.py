"""Scorers agree with the measures, and with scikit-learn's own scorers."""

import pickle
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_iris, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score, top_k_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import baserate
from baserate import (
    Costs,
    Counts,
    Curve,
    Cut,
    NotBinaryError,
    OptionError,
    Policy,
    RandomizedCut,
    Tally,
    UnknownNameError,
    decide,
    measure,
)
from baserate.calibration import fit as calibrated
from baserate.measure import describe, multiclass
from baserate.shift import reweigh
from baserate.sklearn import PolicyClassifier, scorer, scorers

Array = npt.NDArray[Any]
AT = Policy(by_group={(): Cut((0.2,))}, otherwise="refuse")


@cache
def cancer() -> tuple[Any, Array, Array]:
    """Return a model, and rows that it was not fitted to."""
    x, y = load_breast_cancer(return_X_y=True)
    return GaussianNB().fit(x[::2, :3], y[::2]), x[1::2, :3], y[1::2]


@cache
def iris() -> tuple[Any, Array, Array]:
    x, y = load_iris(return_X_y=True)
    return GaussianNB().fit(x[::2, :2], y[::2]), x[1::2, :2], y[1::2]


def weights(y: Array) -> Array:
    result: Array = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    return result


@pytest.mark.quick(70)
@pytest.mark.parametrize("name", measure.MEASURES)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_agree_with_the_measure(name: str, weighted: bool) -> None:  # noqa: FBT001
    model, x, y = cancer()
    weight = weights(y) if weighted else None
    observed = baserate.tally(y, model.predict_proba(x)[:, 1], weight=weight)
    decided = baserate.confusion(y, model.predict(x), weight=weight, labels=[0, 1]).one_vs_rest()[1]
    function = measure.MEASURES[name]
    nouns = {Counts: decided, Curve: Curve(observed), Tally: observed}
    sign = -1 if describe(function).best == "low" else 1
    given = {"sample_weight": weight} if weighted else {}
    options = STATED.get(str(measure.REQUIRED_OPTIONS.get(name)), {})
    wanted = sign * function(nouns[describe(function).of], **options)
    np.testing.assert_allclose(scorer(name, **options)(model, x, y, **given), wanted, rtol=1e-12)
    np.testing.assert_allclose(scorer(function, **options)(model, x, y, **given), wanted, rtol=1e-12)


@pytest.mark.quick(30)
@pytest.mark.parametrize("name", measure.MEASURES)
def test_measures_are_functions_for_make_scorer(name: str) -> None:
    model, x, y = cancer()
    function = measure.MEASURES[name]
    options = STATED.get(str(measure.REQUIRED_OPTIONS.get(name)), {})
    response = "predict" if describe(function).of is Counts else "predict_proba"
    best = describe(function).best != "low"
    theirs = make_scorer(function, greater_is_better=best, response_method=response, **options)
    for given in ({}, {"sample_weight": weights(y)}):
        score = theirs(model, x, y, **given)
        assert isinstance(score, float)
        np.testing.assert_allclose(score, scorer(name, **options)(model, x, y, **given), rtol=1e-12)


def test_measures_of_named_classes_in_make_scorer() -> None:
    _, x, y = cancer()
    names = np.where(y, "well", "ill")
    model = GaussianNB().fit(x, names)
    cost = make_scorer(measure.expected_cost, greater_is_better=False, pos_label="ill", fp=1, fn=5)
    assert cost(model, x, names) == scorer("expected_cost", positive="ill", fp=1, fn=5)(model, x, names)
    area = make_scorer(measure.auc, response_method="predict_proba", pos_label="ill")
    assert area(model, x, names) == pytest.approx(roc_auc_score(names == "ill", model.predict_proba(x)[:, 0]))


OF_CLASSES = [name for name, each in multiclass.MEASURES.items() if describe(each).of is not baserate.LabelSets]


@pytest.mark.parametrize("name", OF_CLASSES)
def test_scores_agree_with_the_multiclass_measure(name: str) -> None:
    model, x, y = iris()
    function = multiclass.MEASURES[name]
    rows = baserate.class_scores(y, model.predict_proba(x))
    noun = baserate.confusion(y, model.predict(x)) if describe(function).of is baserate.Confusion else rows
    sign = -1 if describe(function).best == "low" else 1
    assert scorer(function)(model, x, y) == pytest.approx(sign * function(noun), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["coverage_error", "lrap", "label_ranking_loss", "dcg", "ndcg", "exact_match"])
def test_scores_agree_with_the_measure_of_label_sets(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    truth = (x + rng.normal(size=(80, 3)) > 0).astype(int)
    model = OneVsRestClassifier(LogisticRegression()).fit(x, truth)
    sets = baserate.label_sets(truth, predicted=model.predict(x), score=model.predict_proba(x))
    function = multiclass.MEASURES[name]
    sign = -1 if describe(function).best == "low" else 1
    assert scorer(name)(model, x, truth) == pytest.approx(sign * function(sets))


STATED: dict[str, dict[str, Any]] = {"costs": {"costs": Costs(fp=1, fn=5)}, "at": {"at": 0.2}}
STATED |= {name: {name: 0.8} for name in ("specificity", "sensitivity", "precision")}
"""Numbers on which some measures depend."""
THEIRS = {
    "roc_auc": "auc",
    "average_precision": "average_precision",
    "neg_brier_score": "brier",
    "neg_log_loss": "log_loss",
    "f1": "f1",
    "balanced_accuracy": "balanced_accuracy",
    "matthews_corrcoef": "mcc",
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "sensitivity",
    "jaccard": "jaccard",
    "positive_likelihood_ratio": "positive likelihood ratio",
    "neg_negative_likelihood_ratio": "negative likelihood ratio",
}


def test_scores_agree_with_scikit_learn() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    both = {name: name for name in THEIRS} | {f"our {name}": scorer(ours) for name, ours in THEIRS.items()}
    result = cross_validate(model, x[:, :6], y, scoring=both)
    fitted, x, y = cancer()
    weight = weights(y)
    for theirs, ours in THEIRS.items():
        np.testing.assert_allclose(result[f"test_our {theirs}"], result[f"test_{theirs}"], rtol=1e-9, err_msg=theirs)
        if "likelihood" not in theirs:  # whose scorers take no weights
            wanted = get_scorer(theirs)(fitted, x, y, sample_weight=weight)
            assert scorer(ours)(fitted, x, y, sample_weight=weight) == pytest.approx(wanted), theirs


def test_multiclass_scores_agree_with_scikit_learn() -> None:
    model, x, y = iris()
    pairs: dict[str, measure.Measure] = {
        "balanced_accuracy": multiclass.balanced_accuracy,
        "matthews_corrcoef": multiclass.mcc,
        "neg_log_loss": multiclass.log_loss,
        "accuracy": multiclass.accuracy,
        "f1_macro": multiclass.average_over_classes("f1", "macro"),
        "recall_weighted": multiclass.average_over_classes("sensitivity", "weighted"),
        "roc_auc_ovo": multiclass.hand_till,
        "roc_auc_ovr": multiclass.average_over_classes("auc", "macro"),
    }
    for theirs, ours in pairs.items():
        assert scorer(ours)(model, x, y) == pytest.approx(get_scorer(theirs)(model, x, y)), theirs
    assert scorer("hand_till")(model, x, y) == pytest.approx(
        roc_auc_score(y, model.predict_proba(x), multi_class="ovo")
    )
    wanted = top_k_accuracy_score(y, model.predict_proba(x), k=2)
    assert scorer("top 2 accuracy")(model, x, y) == pytest.approx(wanted)
    assert scorer(multiclass.top_k_accuracy, k=2)(model, x, y) == pytest.approx(wanted)
    some = y != 2
    assert scorer("top 2", labels=[0, 1, 2])(model, x[some], y[some]) == pytest.approx(
        top_k_accuracy_score(y[some], model.predict_proba(x[some]), k=2, labels=[0, 1, 2])
    )
    binary, x, y = cancer()
    assert scorer(multiclass.log_loss)(binary, x, y) == pytest.approx(get_scorer("neg_log_loss")(binary, x, y))


def test_several_labels_at_once() -> None:
    x, y = make_multilabel_classification(60, random_state=0)
    model = KNeighborsClassifier().fit(x, y)
    assert scorer("exact match")(model, x, y) == pytest.approx(model.score(x, y))


def test_threshold_option() -> None:
    model, x, y = cancer()
    c = baserate.curve(baserate.tally(y, model.predict_proba(x)[:, 1]))
    assert scorer("f1", threshold=0.2)(model, x, y) == measure.f1(c.at(0.2))
    assert scorer("f1", policy=AT)(model, x, y) == measure.f1(c.at(0.2))
    inside = PolicyClassifier(model, AT).fit(x, y)
    assert scorer("f1")(inside, x, y) == measure.f1(c.at(0.2))
    drawn = RandomizedCut((Cut((0.2,)), Cut((0.9,))), (0.25, 0.75))
    randomized = Policy(by_group={(): drawn}, otherwise="refuse")
    assert scorer("f1", policy=randomized)(model, x, y) == pytest.approx(measure.f1(drawn.counts(c)))
    mapped = calibrated(c.tally, "logistic")
    behind = Policy(by_group={(): Cut((0.2,))}, otherwise="refuse")
    after = decide.on_raw_scores(behind, mapped, scores=c.tally.score)
    wanted = measure.f1(Curve(c.tally.with_scores(mapped(c.tally.score))).at(0.2))
    assert scorer("f1", policy=after)(model, x, y) == wanted
    svm = LinearSVC().fit(x, y)
    assert scorer("f1", threshold=0.0)(svm, x, y) == scorer("f1")(svm, x, y)


def test_prevalence_option() -> None:
    model, x, y = cancer()
    observed = reweigh(baserate.curve(baserate.tally(y, model.predict_proba(x)[:, 1])), prevalence=0.02)
    assert scorer("precision", prevalence=0.02, threshold=0.3)(model, x, y) == measure.precision(observed.at(0.3))
    assert scorer("average_precision", prevalence=0.02)(model, x, y) == measure.average_precision(observed)
    assert scorer("brier", prevalence=0.02)(model, x, y) == -measure.brier(observed.tally)
    several, x, y = iris()
    shares = {0: 0.7, 1: 0.2, 2: 0.1}
    wanted = multiclass.accuracy(reweigh(baserate.confusion(y, several.predict(x)), prevalence=shares))
    assert scorer(multiclass.accuracy, prevalence=shares)(several, x, y) == pytest.approx(wanted)


def test_options_of_the_measure() -> None:
    model, x, y = cancer()
    decided = baserate.confusion(y, model.predict(x)).one_vs_rest()[1]
    assert scorer("f_beta", beta=2)(model, x, y) == pytest.approx(measure.f_beta(decided, beta=2))
    costs = Costs(fp=1, fn=20)
    wanted = -measure.expected_cost(decided, costs=costs)
    for options in ({"costs": costs}, {"costs": {"fp": 1, "fn": 20}}, {"fp": 1, "fn": 20}):
        assert scorer("expected_cost", **options)(model, x, y) == wanted
    there = -measure.expected_cost(reweigh(decided, prevalence=0.05), costs=costs)
    for prevalence in (0.05, "5%"):
        score = scorer("expected_cost", prevalence=prevalence, fp=1, fn=20)
        assert score(model, x, y) == pytest.approx(there)
    assert scorer(partial(measure.expected_cost, costs=costs))(model, x, y) == wanted


def test_either_class_may_be_positive() -> None:
    _, x, y = cancer()
    names = np.where(y, "well", "ill")
    model = GaussianNB().fit(x, names)
    observed = baserate.tally(names, model.predict_proba(x)[:, 0], positive="ill")
    assert scorer("auc", positive="ill")(model, x, names) == measure.auc(Curve(observed))
    assert scorer("average_precision", positive="ill")(model, x, names) == measure.average_precision(Curve(observed))
    assert scorer("f1", positive="ill")(model, x, names) == measure.f1(Curve(observed).at(0.5))
    ill = Policy(by_group={(): Cut((0.2,))}, otherwise="refuse", positive="ill")
    assert scorer("f1", positive="ill", policy=ill)(model, x, names) == measure.f1(Curve(observed).at(0.2))
    with pytest.raises(NotBinaryError, match="name the positive one"):
        scorer("f1")(model, x, names)


def test_decisions_are_ranked_but_are_no_probabilities() -> None:
    _, x, y = cancer()
    model = LinearSVC().fit(x, y)
    assert scorer("auc")(model, x, y) == pytest.approx(get_scorer("roc_auc")(model, x, y))
    with pytest.raises(AttributeError, match="predict_proba"):
        scorer("brier")(model, x, y)


def test_several_at_once_and_in_searches() -> None:
    _, x, y = cancer()
    result = cross_validate(GaussianNB(), x, y, scoring=scorers("auc", "brier", "mcc"), cv=3)
    assert {"test_auc", "test_neg_brier", "test_mcc"} <= result.keys()
    assert (result["test_neg_brier"] < 0).all()
    listed = scorers(["auc", "f1", "expected_cost"], fp=1, fn=5, threshold=0.3, prevalence="5%")
    assert list(listed) == ["auc", "f1", "neg_expected_cost"]
    assert listed["f1"](*cancer()) == scorer("f1", threshold=0.3, prevalence=0.05)(*cancer())
    assert listed["auc"](*cancer()) == pytest.approx(scorer("auc")(*cancer()))
    both = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e9]}, scoring=listed, refit="neg_expected_cost", cv=3)
    assert both.fit(x, y).best_params_ == {"var_smoothing": 1e-9}
    assert (both.cv_results_["mean_test_neg_expected_cost"] <= 0).all()
    usual = cross_validate(GaussianNB(), pl.DataFrame(x), pl.Series(y), scoring=scorers(), cv=3)
    assert not any(np.isnan(each).any() for each in usual.values())
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e9]}, scoring=scorer("log_loss"), cv=3).fit(x, y)
    assert search.best_params_ == {"var_smoothing": 1e-9}
    pickled = pickle.loads(pickle.dumps(search))  # noqa: S301  (what was just written)
    assert pickled.score(x, y) == search.score(x, y)


def test_negated_measures_show_their_sign() -> None:
    assert repr(scorer("brier")) == "make_scorer(brier, greater_is_better=False, response_method='predict_proba')"
    assert "greater_is_better" not in repr(scorer("auc"))
    stated = "make_scorer(f1(threshold=0.2, prevalence=0.05), response_method=('predict_proba', 'decision_function'))"
    assert repr(scorer("f1", threshold=0.2, prevalence="5%")) == stated
    assert "pos_label=ill" in repr(scorer("f1", positive="ill"))
    assert isinstance(scorer("f1"), type(make_scorer(roc_auc_score)))


def test_weights_are_routed() -> None:
    model, x, y = cancer()
    weight = weights(y) + 1
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = scorer("auc").set_score_request(sample_weight=True)
        inner = PolicyClassifier(GaussianNB()).set_fit_request(sample_weight=True)
        result = cross_val_score(
            inner, x, y, scoring=weighted, cv=[(range(200), range(200, len(y)))], params={"sample_weight": weight}
        )
    model = GaussianNB().fit(x[:200], y[:200], sample_weight=weight[:200])
    observed = baserate.tally(y[200:], model.predict_proba(x[200:])[:, 1], weight=weight[200:])
    assert result == pytest.approx(measure.auc(Curve(observed)))


def test_contradictory_options_are_refused() -> None:
    grouped = Policy(by_group={("f",): Cut((0.5,))}, otherwise="refuse", attributes=("sex",))
    bands = Policy(by_group={(): Cut((0.2, 0.5), ("low", "medium", "high"))}, otherwise="refuse")
    ill = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", positive="ill")
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ("aucc", {}, UnknownNameError, "Did you mean"),
        (len, {}, OptionError, "is not a measure"),
        ("auc", {"threshold": 0.5}, OptionError, "auc is not a measure of a confusion matrix"),
        ("f1", {"threshold": 0.5, "policy": AT}, OptionError, "give one of them"),
        ("f1", {"policy": grouped}, OptionError, "groups by sex, which a scorer does not receive"),
        ("f1", {"policy": bands}, OptionError, "low, medium, high, so it has no confusion matrix"),
        ("f1", {"policy": ill}, OptionError, "this policy flags 'ill'; say which label that is"),
        ("f1", {"labels": [0, 1]}, OptionError, "f1 is of two classes"),
        (multiclass.mcc, {"positive": 1}, OptionError, "mcc is of all classes"),
        ("f1", {"beta": 2}, UnknownNameError, "there is no option 'beta'"),
        ("expected_cost", {}, OptionError, "expected_cost depends on costs, which is not stated; give fp=1, fn=20"),
        ("net_benefit", {}, OptionError, "net_benefit depends on at, which is not stated; give at=0.1"),
        ("hand_till", {"prevalence": 0.5}, OptionError, "hand_till is of rows, which are not reweighed"),
    ]
    for given, options, error, output in cases:
        with pytest.raises(error, match=output):
            scorer(given, **options)
    with pytest.raises(UnknownNameError, match="there is no option 'threshold'"):
        scorers(["auc", "brier"], threshold=0.5)
