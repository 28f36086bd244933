"""`PolicyClassifier`: the estimator checks of scikit-learn, and its own guarantees."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks as checks

from baserate import (
    Costs,
    Curve,
    Cut,
    MissingValuesError,
    NotBinaryError,
    OptionError,
    Policy,
    RandomizedCut,
    ShapeError,
    UnknownLabelError,
    UnknownNameError,
    choose_threshold,
    curve,
    decide,
    equalize,
    tally,
)
from baserate.calibration import fit as calibrated
from baserate.sklearn import PolicyClassifier

Array = npt.NDArray[Any]
CUT = Policy(by_group={(): Cut((0.3,))}, otherwise="refuse")
HALF = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
DRAWN = Policy(
    by_group={("f",): Cut((0.4,)), ("m",): RandomizedCut((Cut((0.2,)), Cut((0.8,))), (0.3, 0.7))},
    otherwise="flag",
    attributes=("sex",),
    columns={"id": "who"},
)


@dataclass(frozen=True)
class Rule:
    """A rule whose representation is the same in every process, as names of tests must be."""

    name: str
    threshold: float | None = None

    def __call__(self, result: Curve) -> Policy:
        options = {} if self.threshold is None else {"threshold": self.threshold}
        return decide.find_rule(self.name)(result, **options)


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
    check("PolicyClassifier", PolicyClassifier(GaussianNB(), Rule("fixed", 0.5), cv=3))


def binary_data(rows: int = 400, **options: Any) -> tuple[Array, Array]:  # noqa: ANN401
    x, y = make_classification(rows, 6, n_informative=3, flip_y=0.2, random_state=0, **options)
    return x, y


class FixedScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """Returns the column of risks as probabilities."""

    classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> Any:  # noqa: ANN401, ARG002, N803
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> Array:  # noqa: ANN401, N803
        risk = np.asarray(X["risk"])
        return np.column_stack([1 - risk, risk])


def fit_classifier(policy: Policy) -> PolicyClassifier:
    return PolicyClassifier(FixedScores(), policy).fit(pd.DataFrame({"risk": [0.1, 0.9]}), [0, 1])


SEXES = st.sampled_from(["f", "m", "x", None])
PEOPLE = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4, 0.7, 0.8, 1.0]), SEXES, st.integers(0, 99)))


@given(PEOPLE.filter(bool), st.randoms())
def test_decisions_agree_with_the_policy(people: list[tuple[float, str | None, int]], random: Any) -> None:  # noqa: ANN401
    random.shuffle(people)
    risk, sex, who = (list(column) for column in zip(*people, strict=True))
    wanted = [DRAWN.action(score, [group], id=each) for score, group, each in people]
    model = fit_classifier(DRAWN)
    np.testing.assert_array_equal(model.decide({"risk": risk}, group=sex, id=who), wanted)
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame({"risk": risk, "sex": sex, "who": who})
        np.testing.assert_array_equal(model.decide(table), wanted)
        np.testing.assert_array_equal(model.predict(table), np.equal(wanted, "flag").astype(int))
        # What is said goes before what stands there.
        np.testing.assert_array_equal(model.decide(table, group=["x"] * len(risk)), ["flag"] * len(risk))


def test_several_group_columns() -> None:
    by_group: dict[tuple[object, ...], Cut] = {
        ("f", 1): Cut((0.2,)),
        ("f", 2): Cut((0.8,)),
        ("m", 1): Cut((), ("flag",)),
    }
    model = fit_classifier(Policy(by_group=by_group, otherwise="pass", attributes=("sex", "site")))
    table = pd.DataFrame({"risk": [0.5] * 4, "sex": [*"ffmm"], "site": [1, 2, 1, 2]})
    assert model.decide(table).tolist() == ["flag", "pass", "flag", "pass"]
    for group in ({"site": ["2"], "sex": ["f"]}, (["f"], [2])):
        assert model.decide({"risk": [0.5]}, group=group).tolist() == ["pass"]


@pytest.mark.parametrize("inner", [LogisticRegression(max_iter=10_000), LinearSVC()])
def test_threshold_agrees_with_scikit_learn(inner: Any) -> None:  # noqa: ANN401
    x, y = load_breast_cancer(return_X_y=True)
    x, names = StandardScaler().fit_transform(x), np.where(y, "well", "ill")
    inner.fit(x, names)
    score = inner.predict_proba(x)[:, 1] if hasattr(inner, "predict_proba") else inner.decision_function(x)
    for threshold in (*np.quantile(score, [0.1, 0.3, 0.5, 0.8]), score[0], score[7]):
        for at, positive in ((threshold, "well"), (1 - threshold, "ill")):
            policy = Policy(by_group={(): Cut((at,))}, otherwise="refuse", positive=positive)
            ours = PolicyClassifier(inner, policy).fit(x, names)
            theirs = FixedThresholdClassifier(inner, threshold=at, pos_label=positive).fit(x, names)
            np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))
            np.testing.assert_array_equal(ours.decide(x) == "flag", theirs.predict(x) == positive)


RULES: list[Callable[..., Policy]] = [
    decide.youden,
    partial(decide.cost, costs=Costs(fp=1, fn=20)),
    partial(decide.require, require="specificity >= 0.9"),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()])
def test_rules_choose_from_out_of_fold_scores(rule: Any, inner: Any) -> None:  # noqa: ANN401
    x, y = binary_data()
    folds = StratifiedKFold(4)
    model = PolicyClassifier(inner, rule, cv=folds).fit(x, y)
    method = "predict_proba" if hasattr(inner, "predict_proba") else "decision_function"
    scores = cross_val_predict(inner, x, y, cv=folds, method=method)
    wanted = rule(curve(tally(y, scores if scores.ndim == 1 else scores[:, 1])))
    assert model.policy_.threshold == wanted.threshold
    assert model.policy_.chosen_on == wanted.chosen_on
    assert model.policy_.positive == "1"
    output = getattr(model.estimator_, method)(x)
    np.testing.assert_array_equal(model.predict(x), (output.reshape(len(x), -1)[:, -1] >= wanted.threshold).astype(int))


def test_a_rule_may_choose_bands_which_predict_refuses() -> None:
    x, y = binary_data()
    model = PolicyClassifier(GaussianNB(), partial(decide.abstain, costs=Costs(fp=1, fn=1), refer=0.2)).fit(x, y)
    assert set(model.decide(x)) == {"pass", "refer", "flag"}
    with pytest.raises(OptionError, match=r"this policy may also refer, .* use decide"):
        model.predict(x)


def test_weights_are_equivalent_to_repetition() -> None:
    x, y = binary_data(200)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    one = PolicyClassifier(GaussianNB(), decide.youden).fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    other = PolicyClassifier(GaussianNB(), decide.youden).fit(x, y, sample_weight=times)
    assert one.policy_.threshold == pytest.approx(other.policy_.threshold)
    unweighted = PolicyClassifier(GaussianNB(), decide.youden).fit(x, y)
    assert one.policy_.threshold != pytest.approx(unweighted.policy_.threshold)


@pytest.mark.parametrize("frozen", [True, False])
def test_fitted_classifiers_stay_unchanged(frozen: bool) -> None:  # noqa: FBT001
    x, y = binary_data()
    inner = GaussianNB().fit(x[:200], y[:200])
    model = PolicyClassifier(FrozenEstimator(inner) if frozen else inner, decide.youden).fit(x[200:], y[200:])
    scores = inner.predict_proba(x)[:, 1]
    assert model.policy_.threshold == decide.youden(curve(tally(y[200:], scores[200:]))).threshold
    np.testing.assert_array_equal(model.predict(x), (scores >= model.policy_.threshold).astype(int))
    np.testing.assert_array_equal(model.predict_proba(x), inner.predict_proba(x))
    assert model.n_features_in_ == 6
    assert not hasattr(model, "decision_function")


def test_stated_thresholds_need_no_fit() -> None:
    x, y = binary_data()
    frame = pd.DataFrame(x, columns=[f"x{at}" for at in range(6)])
    inner = GaussianNB().fit(frame, y)
    model = PolicyClassifier(inner, 0.2)
    theirs = FixedThresholdClassifier(inner, threshold=0.2, response_method="predict_proba").fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), theirs.predict(frame))
    np.testing.assert_array_equal(model.predict_proba(frame), inner.predict_proba(frame))
    assert model.score(frame, y) == theirs.score(frame, y)
    assert model.threshold_ == model.policy_.threshold == 0.2
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert PolicyClassifier(inner, threshold=0.2).predict(frame).tolist() == model.predict(frame).tolist()
    assert not hasattr(model, "nonsense")
    for unfitted in (PolicyClassifier(GaussianNB(), 0.2), PolicyClassifier(inner, "youden"), clone(model)):
        with pytest.raises(NotFittedError):
            unfitted.predict(frame)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  (what was just written)
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


@pytest.mark.parametrize("positive", ["ill", "well"])
def test_positive_names_the_class_that_is_flagged(positive: str) -> None:
    x, y = binary_data()
    names = np.where(y == 1, "well", "ill")
    for inner in (GaussianNB(), RidgeClassifier()):
        theirs = FixedThresholdClassifier(inner, threshold=0.3, pos_label=positive).fit(x, names)
        model = PolicyClassifier(inner, 0.3, positive=positive).fit(x, names)
        np.testing.assert_array_equal(model.predict(x), theirs.predict(x))
        chosen = PolicyClassifier(inner, "youden", positive=positive, cv=StratifiedKFold(3)).fit(x, names)
        mirrored = PolicyClassifier(inner, "youden", cv=StratifiedKFold(3)).fit(x, names == positive)
        np.testing.assert_array_equal(chosen.predict(x) == positive, mirrored.predict(x))


@pytest.mark.parametrize(
    "settings",
    [
        {"fp": 1, "fn": 5},
        {"costs": {"fp": 1, "fn": 5}, "prevalence": "5%"},
        {"policy": "youden"},
        {"policy": "best", "options": {"measure": "f1"}},
        {"policy": "require", "options": {"require": "sensitivity >= 0.9"}, "prevalence": 0.05},
    ],
)
def test_thresholds_are_chosen_by_cross_validation(settings: dict[str, Any]) -> None:
    x, y = binary_data()
    folds = StratifiedKFold(4)
    model = PolicyClassifier(GaussianNB(), **settings, cv=folds).fit(x, y)
    scores = cross_val_predict(GaussianNB(), x, y, cv=folds, method="predict_proba")[:, 1]
    plain = {name: each for name, each in settings.items() if name not in ("policy", "options")}
    wanted = choose_threshold(y, scores, settings.get("policy"), **plain, **settings.get("options", {}))
    assert model.threshold_ == wanted.threshold
    assert model.policy_.rule == wanted.rule
    assert model.policy_.chosen_on == wanted.chosen_on


def test_dearer_misses_and_rarer_positives_move_the_threshold() -> None:
    x, y = binary_data()
    at = {fn: PolicyClassifier(GaussianNB(), fp=1, fn=fn).fit(x, y).policy_.threshold for fn in (1, 20)}
    rare = PolicyClassifier(GaussianNB(), fp=1, fn=20, prevalence=0.01).fit(x, y).policy_.threshold
    assert at[20] < at[1]
    assert at[20] < rare


@pytest.mark.parametrize("weighted", [False, True])
def test_parities_are_chosen_by_group(weighted: bool) -> None:  # noqa: FBT001
    x, y = binary_data()
    group = np.array(["f", "m", "m", "f"] * 100)
    weight = np.random.default_rng(2).integers(0, 3, 400).astype(float) if weighted else None
    kept = slice(None) if weight is None else weight > 0
    folds = StratifiedKFold(4)
    inner = GaussianNB().fit(x[:200], y[:200])
    model = PolicyClassifier(inner, "equalized_odds", fp=1, fn=3, cv=folds)
    model.fit(x, y, sample_weight=weight, group=pd.Series(group, name="sex"))
    scores = inner.predict_proba(x)[:, 1]
    more: dict[str, Any] = {} if weight is None else {"weight": weight[kept]}
    wanted = equalize(y[kept], scores[kept], "equalized-odds", group={"sex": group[kept]}, fp=1, fn=3, **more)
    assert dict(model.policy_.by_group) == dict(wanted.by_group)
    assert model.policy_.attributes == ("sex",)
    assert model.threshold_ is None
    flagged = model.predict(x, group=group, id=np.arange(400))
    assert flagged.tolist() == [
        int(model.policy_.action(score, [sex], id=who) == "flag")
        for who, (score, sex) in enumerate(zip(scores, group, strict=True))
    ]


def test_columns_of_groups_and_ids_may_be_named() -> None:
    x, y = binary_data()
    table = pd.DataFrame(x, columns=[f"x{at}" for at in range(6)]).assign(sex=["f", "m"] * 200, who=np.arange(400))
    inner = make_pipeline(make_column_transformer(("passthrough", [f"x{at}" for at in range(6)])), GaussianNB())
    model = PolicyClassifier(inner, "demographic-parity", fp=1, fn=2, group="sex", id="who")
    assert cross_val_score(model, table, y, cv=3).min() > 0.6
    model.fit(table, y)
    assert model.policy_.attributes == ("sex",)
    assert model.policy_.columns["id"] == "who"
    given = model.predict(table, group=table["sex"], id=table["who"])
    np.testing.assert_array_equal(model.predict(table), given)
    renamed = PolicyClassifier(inner, DRAWN, group="gender", id="number").fit(table, y)
    frame = table.rename(columns={"sex": "gender", "who": "number"})
    np.testing.assert_array_equal(renamed.predict(frame), PolicyClassifier(inner, DRAWN).fit(table, y).predict(table))


def test_default_policy_predicts_like_the_classifier() -> None:
    x, y = binary_data()
    for inner, at in ((LogisticRegression(), 0.5), (LinearSVC(), 0.0)):
        model = PolicyClassifier(inner).fit(x, y)
        assert model.policy_.threshold == at
        np.testing.assert_array_equal(model.predict(x), clone(inner).fit(x, y).predict(x))
        np.testing.assert_array_equal(model.decision_function(x), model.estimator_.decision_function(x))
        assert hasattr(model, "predict_proba") == hasattr(inner, "predict_proba")


@pytest.mark.parametrize("positive", ["1", "0"])
@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()])
def test_calibrator_of_a_policy_applies_first(inner: Any, positive: str) -> None:  # noqa: ANN401
    x, y = binary_data()
    inner.fit(x[:200], y[:200])
    if hasattr(inner, "predict_proba"):
        score = inner.predict_proba(x)[:, int(positive)]
    else:
        score = inner.decision_function(x) * (1 if positive == "1" else -1)
    result = calibrated(tally(y == int(positive), score), "isotonic")
    behind = Policy(by_group={(): Cut((0.4,))}, otherwise="refuse", positive=positive)
    policy = decide.on_raw_scores(behind, result, scores=score)
    model = PolicyClassifier(inner, policy).fit(x, y)
    np.testing.assert_array_equal(model.predict_proba(x)[:, int(positive)], result(score))
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(x) == int(positive), result(score) >= 0.4)


def test_searches_and_pipelines() -> None:
    x, y = binary_data()
    policies = [None, CUT, decide.youden]
    search = GridSearchCV(PolicyClassifier(GaussianNB()), {"policy": policies, "estimator__var_smoothing": [1e-9, 1.0]})
    search.fit(x, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_score_ > 0.7
    frozen = PolicyClassifier(FrozenEstimator(GaussianNB().fit(x, y)))
    GridSearchCV(frozen, {"policy": [None, CUT]}).fit(x, y)
    assert cross_val_score(make_pipeline(StandardScaler(), PolicyClassifier(GaussianNB(), CUT)), x, y).min() > 0.6


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_group_columns_of_a_frame_in_folds(frame: Any) -> None:  # noqa: ANN401
    x, y = binary_data()
    table = frame({f"x{at}": x[:, at] for at in range(6)} | {"sex": ["f", "m"] * 200, "who": np.arange(400)})
    inner = make_pipeline(make_column_transformer(("passthrough", [f"x{at}" for at in range(6)])), GaussianNB())
    model = PolicyClassifier(inner, DRAWN)
    assert cross_val_score(model, table, y, cv=3).min() > 0.6
    model.fit(table, y)
    assert model.feature_names_in_[-1] == "who"
    scores = model.estimator_.predict_proba(table)[:, 1]
    rows = zip(scores, ["f", "m"] * 200, range(400), strict=True)
    wanted = [DRAWN.action(score, [group], id=who) for score, group, who in rows]
    np.testing.assert_array_equal(model.decide(table), wanted)
    chosen = PolicyClassifier(inner, decide.youden).fit(table, y)
    assert chosen.policy_.rule == "youden"


def test_groups_and_ids_are_routed() -> None:
    x, y = binary_data()
    group, who = ["f", "m"] * 200, np.arange(400)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PolicyClassifier(GaussianNB(), DRAWN).set_predict_request(group=True, id=True)
        line = make_pipeline(StandardScaler(), model).fit(x, y)
        output = line.predict(x, group=group, id=who)
    alone = PolicyClassifier(GaussianNB(), DRAWN).fit(StandardScaler().fit_transform(x), y)
    np.testing.assert_array_equal(output, alone.predict(StandardScaler().fit_transform(x), group=group, id=who))


def test_pickle_and_clone() -> None:
    x, y = binary_data()
    given = {"group": ["f", "m"] * 200, "id": np.arange(400)}
    model = PolicyClassifier(GaussianNB(), DRAWN).fit(x, y)
    back = pickle.loads(pickle.dumps(model))  # noqa: S301  (what was just written)
    assert back.policy_ == model.policy_
    np.testing.assert_array_equal(back.decide(x, **given), model.decide(x, **given))
    assert clone(model).policy == DRAWN
    assert not hasattr(clone(model), "policy_")


def test_invalid_arguments_are_refused() -> None:
    x, y = binary_data(60)
    with pytest.raises(OptionError, match=r"policy is \[0\.5\]; give a threshold, a Policy, the name of a rule"):
        PolicyClassifier(GaussianNB(), [0.5]).fit(x, y)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=r"there is no rule or parity 'yuden'\. Did you mean 'youden'"):
        PolicyClassifier(GaussianNB(), "yuden").fit(x, y)
    with pytest.raises(OptionError, match=r"policy is 'youden', and threshold is 0\.2; expected one of them"):
        PolicyClassifier(GaussianNB(), "youden", threshold=0.2).fit(x, y)
    with pytest.raises(OptionError, match=r"fp.*the decision is stated: 0\.2"):
        PolicyClassifier(GaussianNB(), 0.2, fp=1).fit(x, y)
    with pytest.raises(OptionError, match=r"positive.*a policy names the class that it flags"):
        PolicyClassifier(GaussianNB(), CUT, positive=1).fit(x, y)
    with pytest.raises(UnknownLabelError, match="positive is 'ill', and the classes are 0 and 1"):
        PolicyClassifier(GaussianNB(), 0.2, positive="ill").fit(x, y)
    with pytest.raises(OptionError, match=r"equalized-odds needs the group of each row\. Give group= to fit"):
        PolicyClassifier(GaussianNB(), "equalized-odds").fit(x, y)
    with pytest.raises(OptionError, match="needs the costs of both errors"):
        PolicyClassifier(GaussianNB(), prevalence=0.1).fit(x, y)
    with pytest.raises(OptionError, match="made Curve of a curve; it must make a Policy"):
        PolicyClassifier(GaussianNB(), lambda result: result).fit(x, y)
    with pytest.raises(NotBinaryError, match="there are 3 classes"):
        PolicyClassifier(GaussianNB()).fit(x, np.arange(60) % 3)
    with pytest.raises(UnknownLabelError, match="this policy flags 'ill', and the classes are 0 and 1"):
        PolicyClassifier(GaussianNB(), Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", positive="ill")).fit(x, y)
    model = PolicyClassifier(GaussianNB(), DRAWN).fit(x, y)
    with pytest.raises(OptionError, match="by sex, and X has no column 'sex'; give group="):
        model.predict(x)
    with pytest.raises(OptionError, match="X has no column 'who'; give id="):
        model.predict(x, group=["f"] * 60)
    with pytest.raises(ShapeError, match="different lengths"):
        model.predict(x, group=["f"] * 59, id=range(60))
    with pytest.raises(
        MissingValuesError, match=r"2 of 3 rows have a score that is missing, NaN or infinite in .* \(rows 1, 3"
    ):
        fit_classifier(CUT).decide({"risk": [np.nan, 0.5, np.nan]})
    nameless = Policy(by_group={(): DRAWN.by_group["m",]}, otherwise="refuse")
    with pytest.raises(OptionError, match="the policy does not name their column; give id="):
        PolicyClassifier(GaussianNB(), nameless).fit(x, y).predict(pd.DataFrame(x))
