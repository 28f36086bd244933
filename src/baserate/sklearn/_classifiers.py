"""Classifiers of scikit-learn: one that calibrates another classifier, and one that decides by a policy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, Cut
from baserate._errors import FitError, NotBinaryError, OptionError, UnknownLabelError, keyword
from baserate._policy import REFUSE, Policy, label_text, spellings
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.apply import actions
from baserate.calibration import fit as fit_calibrator
from baserate.sklearn._out_of_fold import ClassifierFit, FitRows, Response, copy_tags


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A classifier with probabilities that a method of :mod:`baserate.calibration` calibrates.

    If the classifier is already fitted, `fit` only fits the calibrator: give it rows that the classifier was not fitted
    on, since a classifier is overconfident on its own rows. Put it into scikit-learn's `FrozenEstimator` where it will
    be cloned, as in a search over parameters.

    Otherwise `fit` fits the classifier to all rows, and the calibrator to out-of-fold scores. The content of a row
    determines its fold, and equal rows are in one fold: the order of rows changes nothing, and a weight is equivalent
    to repetition, if the classifier treats it so.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba` or `decision_function`. Decisions need methods that take any score: logistic,
        isotonic, venn-abers and, for two classes, histogram.
    method
        Name or alias of a method of `baserate.calibration`, or "choose".
    cv
        For a classifier that is not fitted yet, the number of folds; or a splitter or pairs of positions of rows, as in
        scikit-learn, which then determine the folds.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    map_
        A `Calibrator` from the score of the second class, or a `MulticlassCalibrator` if there are more than two.
    classes_
        The classes, in the order of the columns of `predict_proba`.
    out_of_fold_
        Whether the calibrator was fitted to out-of-fold scores; unknown, so False, if the classifier came fitted.

    Notes
    -----
    Where the rows do not determine the calibrator, a warning and the notes of `map_` say why. Probabilities of the
    classifier then stay unchanged, and decisions are calibrated by isotonic regression.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate.sklearn import CalibratedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(GaussianNB(), method="beta").fit(X[::2], y[::2])
    >>> model.map_.method, model.predict_proba(X[1::2]).shape
    ('beta', (284, 2))
    """

    def __init__(self, estimator: Any, *, method: str = "logistic", cv: Any = 5) -> None:  # noqa: ANN401
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> CalibratedClassifier:  # noqa: ANN401, N803
        """Fit the classifier, unless it is fitted already, and the calibrator.

        Parameters
        ----------
        X
            Features of the rows.
        y
            Class of each row.
        sample_weight
            Weight of each row.
        """
        fit = ClassifierFit.of(self.estimator, FitRows.of(X, y, sample_weight), self.cv)
        # Names with a trailing underscore mark the estimator as fitted for scikit-learn.
        self.__dict__.update(fit.attributes)
        self.out_of_fold_ = fit.out_of_fold
        self.map_ = _fit_or_fall_back(fit.scores(), fit.rows, fit.response, self.method)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the probability of each class, in the order of `classes_`."""
        check_is_fitted(self, "map_")
        response = Response.of_classifier(self.estimator_, self.classes_)
        p: Floats = self.map_(response.scores(self.estimator_, X))
        return p if p.ndim > 1 else np.column_stack([1 - p, p])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Return the class with the highest probability; among equal ones, the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]  # an array of what y holds

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        return copy_tags(self.estimator, super().__sklearn_tags__())


def _fit_or_fall_back(
    scores: Floats, rows: FitRows, response: Response, method: str
) -> Calibrator | MulticlassCalibrator:
    """Fit the method, or the simplest one where the rows do not determine it."""
    try:
        return _fit_calibrator(scores, rows, response, method)
    except FitError as error:
        if response.probabilities:
            simplest, outcome = "identity", "unchanged"
        else:
            simplest, outcome = "isotonic", "those of isotonic regression"
        note = f"{method} cannot be fitted: {error} The probabilities are {outcome}."
        warnings.warn(note, UserWarning, stacklevel=3)
        calibrator = _fit_calibrator(scores, rows, response, simplest)
        return replace(calibrator, notes=(*calibrator.notes, note))


def _fit_calibrator(
    scores: Floats, rows: FitRows, response: Response, method: str
) -> Calibrator | MulticlassCalibrator:
    # Decisions that all happen to lie between 0 and 1 are not probabilities.
    if scores.ndim == 1:
        tally = Tally.of_rows(rows.y == 1, scores, weight=rows.weight)
        calibrator = fit_calibrator(tally, method, probabilities=response.probabilities)
        return replace(calibrator, positive=str(response.classes[1]))
    labels = tuple(response.classes.tolist())
    data = MulticlassRows(rows.y, scores, labels, weight=rows.weight)
    return fit_calibrator(data, method, probabilities=response.probabilities)


def _has_method(method: str) -> Callable[[Any], bool]:
    """Return a function that checks whether the inner classifier has a method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


def _has_probabilities(self: PolicyClassifier) -> bool:
    """Return whether the inner classifier has probabilities, or the policy has a calibrator."""
    policy = getattr(self, "policy_", self.policy)
    return _has_method("predict_proba")(self) or (isinstance(policy, Policy) and policy.calibrator is not None)


class PolicyClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A binary classifier that decides by a policy on the scores of another classifier.

    If the classifier is already fitted, it stays unchanged; put it into scikit-learn's `FrozenEstimator` where it will
    be cloned, as in a search over parameters. Otherwise `fit` fits it to all rows.

    A rule chooses from out-of-fold scores, as in `CalibratedClassifier`. If the classifier is already fitted, the rule
    chooses from its scores of the rows that are passed to `fit`: pass rows that it was not fitted on.

    Scores are probabilities, or else decisions, for the class that the policy names as `positive`, by default the
    second. Pass groups and ids to `predict` and `decide`; otherwise they are columns of a frame X, with the names that
    the policy uses. Put steps that would drop these columns inside, with the classifier:
    `PolicyClassifier(make_pipeline(…), policy)`.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba` or `decision_function`.
    policy
        A `Policy`; or a rule, a function from a `Curve` to a policy, such as `decide.youden` or
        `functools.partial(decide.cost, costs=Costs(fp=1, fn=20))`; or None, for a threshold of 0.5 for
        probabilities and 0 for decisions.
    cv
        For a rule and a classifier that is not fitted yet, the number of folds, or a splitter as in scikit-learn.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    policy_
        The policy that decides.
    classes_
        Both classes, in order.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate import Costs, decide
    >>> from baserate.sklearn import PolicyClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> careful = partial(decide.cost, costs=Costs(fp=20, fn=1))
    >>> model = PolicyClassifier(GaussianNB(), careful).fit(X[::2], y[::2])
    >>> model.policy_
    Policy(cost; flag ≥ 0.999945)
    >>> model.predict(X[17:24:2]).tolist(), model.decide(X[17:24:2]).tolist()
    ([0, 1, 1, 0], ['pass', 'flag', 'flag', 'pass'])
    """

    def __init__(self, estimator: Any, policy: Any = None, *, cv: Any = 5) -> None:  # noqa: ANN401
        self.estimator = estimator
        self.policy = policy
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> PolicyClassifier:  # noqa: ANN401, N803
        """Fit the classifier, unless it is fitted already, and choose the policy, if there is a rule.

        Parameters
        ----------
        X
            Features of the rows.
        y
            Class of each row.
        sample_weight
            Weight of each row.
        """
        fit = ClassifierFit.of(self.estimator, FitRows.of(X, y, sample_weight), self.cv)
        if len(fit.response.classes) > 2:
            # The estimator checks of scikit-learn require these first words.
            raise NotBinaryError(
                f"Only binary classification is supported: there are {len(fit.response.classes)} classes, and a policy "
                "is of two",
                remedy="set one against the rest first.",
            )
        policy = _choose_policy(self.policy, fit)
        # Raises an error if the policy flags neither class, before anything is stored.
        _positive_class(policy, fit.response.classes)
        self.__dict__.update(fit.attributes, policy_=policy)
        return self

    def decide(self, X: Any, *, group: Any = None, id: Any = None) -> npt.NDArray[np.str_]:  # noqa: A002, ANN401, N803
        """Return the action of the policy for each row.

        Parameters
        ----------
        X
            Features of the rows.
        group
            Group columns; by default columns of X.
        id
            Id column, for a randomized policy; by default a column of X.
        """
        check_is_fitted(self, "policy_")
        policy = self.policy_
        if policy.needs_group and group is None:
            group = _group_columns(X, policy)
        if policy.needs_id and id is None:
            id = _id_column(X, policy)  # noqa: A001
        return actions(policy, self._scores(X), group=group if policy.needs_group else None, id=id).text

    def predict(self, X: Any, *, group: Any = None, id: Any = None) -> npt.NDArray[Any]:  # noqa: A002, ANN401, N803
        """Return the class of each row: the positive class of the policy where it flags the row.

        Parameters
        ----------
        X
            Features of the rows.
        group
            Group columns; by default columns of X.
        id
            Id column, for a randomized policy; by default a column of X.
        """
        check_is_fitted(self, "policy_")
        more = [action for action in self.policy_.actions if action not in (PASS, FLAG)]
        if more:
            raise OptionError(
                f"this policy may also {' or '.join(more)}, but predict returns one of two classes, flagged or not",
                remedy="use decide, which returns the action for each row.",
            )
        flagged = self.decide(X, group=group, id=id) == FLAG
        # The policy may flag the first of the sorted classes.
        second = flagged == bool(_positive_class(self.policy_, self.classes_))
        return self.classes_[second.astype(np.intp)]  # type: ignore[no-any-return]  # an array of what y holds

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # of no known type
    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the probability of each class, in the order of `classes_`; calibrated if the policy does so."""
        check_is_fitted(self, "policy_")
        if self.policy_.calibrator is None:
            raw: Floats = self.estimator_.predict_proba(X)
            # The inner classifier may order its classes in another way; ours are sorted.
            return raw[:, np.argsort(self.estimator_.classes_)]
        p = self.policy_.calibrator(self._scores(X))
        both = [1 - p, p]
        return np.column_stack(both if _positive_class(self.policy_, self.classes_) else both[::-1])

    @available_if(_has_method("decision_function"))  # type: ignore[untyped-decorator]  # of no known type
    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the decisions of the inner classifier, which the policy does not change."""
        check_is_fitted(self, "policy_")
        decisions: Floats = self.estimator_.decision_function(X)
        return decisions

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = copy_tags(self.estimator, super().__sklearn_tags__())
        tags.classifier_tags.multi_class = False
        return tags

    def _scores(self, X: Any) -> Floats:  # noqa: ANN401, N803
        of = _positive_class(self.policy_, self.classes_)
        return Response.of_classifier(self.estimator_, self.classes_, of).scores(self.estimator_, X)


def _choose_policy(policy: Any, fit: ClassifierFit) -> Policy:  # noqa: ANN401
    """Return the given policy, the choice of a rule, or the default policy."""
    if isinstance(policy, Policy):
        return policy
    positive = label_text(fit.response.classes.tolist()[1])
    if policy is None:
        threshold = 0.5 if fit.response.probabilities else 0.0
        return Policy(
            by_group={(): Cut((threshold,))}, otherwise=REFUSE, settings={"threshold": threshold}, positive=positive
        )
    if not callable(policy):
        raise OptionError(
            f"policy is {policy!r}",
            remedy="give a Policy, a rule such as baserate.decide.youden, or None.",
            option="policy",
            value=policy,
        )
    choice = policy(Curve(Tally.of_rows(fit.rows.y == 1, fit.scores(), weight=fit.rows.weight)))
    if not isinstance(choice, Policy):
        raise OptionError(f"the rule {policy!r} made {type(choice).__name__} of a curve; it must make a Policy.")
    return replace(choice, positive=positive)


def _positive_class(policy: Policy, classes: npt.NDArray[Any]) -> int:
    """Return the position of the class that a policy flags: the one that it names, otherwise the second."""
    if policy.positive is None:
        return 1
    labels = classes.tolist()
    # The second class counts where both labels have the same text.
    for at in (1, 0):
        if policy.positive in spellings(labels[at]):
            return at
    raise UnknownLabelError(
        f"this policy flags {policy.positive!r}, and the classes are {labels[0]!r} and {labels[1]!r}",
        remedy="give rows of the class that it was chosen for, or a policy of these classes.",
    )


def _group_columns(X: Any, policy: Policy) -> Any:  # noqa: ANN401, N803
    """Return the group columns of a frame: one, or a mapping of several."""
    names = list(getattr(X, "columns", ()))
    missing = [name for name in policy.attributes if name not in names]
    if missing:
        raise OptionError(
            f"this policy requires the group of each row, by {', '.join(policy.attributes)}, and X has no column "
            f"{missing[0]!r}",
            remedy=f"give {keyword('group')}, or a frame that has it.",
        )
    columns = {name: X[name] for name in policy.attributes}
    return columns if len(columns) > 1 else next(iter(columns.values()))


def _id_column(X: Any, policy: Policy) -> Any:  # noqa: ANN401, N803
    """Return the id column of a frame."""
    name = policy.columns.get("id")
    if name is None or name not in list(getattr(X, "columns", ())):
        reason = "the policy does not name their column" if name is None else f"X has no column {name!r}"
        raise OptionError(
            f"this policy is randomized by the ids of rows, and {reason}", remedy=f"give {keyword('id')}."
        )
    return X[name]
