"""`PolicyClassifier`: a classifier of scikit-learn that decides by a threshold or a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from baserate._arrays import Floats
from baserate._costs import CostsLike
from baserate._cut import FLAG, PASS
from baserate._domains import ShareLike
from baserate._errors import NotBinaryError, OptionError, keyword
from baserate._policy import Policy
from baserate.apply import actions
from baserate.sklearn._out_of_fold import ClassifierFit, FitRows, Response, copy_tags, is_fitted
from baserate.sklearn._policy_choice import PolicyChoice, find_columns, positive_class

_FROM_FIT = ("estimator_", "policy_", "classes_", "n_features_in_", "feature_names_in_")
"""Attributes that `fit` sets; a fitted classifier and a stated threshold determine them without it."""


def _has_method(method: str) -> Callable[[Any], bool]:
    """Return a function that checks whether the inner classifier has a method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


def _has_probabilities(self: PolicyClassifier) -> bool:
    """Return whether the inner classifier has probabilities, or the policy has a calibrator."""
    policy = getattr(self, "policy_", self.policy)
    return _has_method("predict_proba")(self) or (isinstance(policy, Policy) and policy.calibrator is not None)


class PolicyClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A binary classifier that decides by a threshold or a policy on the scores of another classifier.

    The decision is stated (a threshold or a policy), or `fit` chooses it: from costs, by a rule, or by a parity between
    groups. It chooses from out-of-fold scores, as in `CalibratedClassifier`. If the classifier is already fitted, it
    chooses from its scores of the rows that are passed to `fit`: pass rows that it was not fitted on.

    A fitted classifier stays unchanged. With a stated decision it needs no `fit` at all:
    ``PolicyClassifier(forest, 0.2).predict(X)``. Put it into scikit-learn's `FrozenEstimator` where it will be cloned,
    as in a search over parameters. Otherwise `fit` fits it to all rows.

    Scores are probabilities, or else decisions. Pass groups and ids to `predict` and `decide`; otherwise they are
    columns of a frame X, with the names that the policy uses. Put steps that would drop these columns inside, with the
    classifier: `PolicyClassifier(make_pipeline(…), policy)`.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba` or `decision_function`.
    policy
        A threshold; a `Policy`; the name of a rule, such as "youden" (`baserate list rules`), or of a parity, such as
        "equalized-odds" (`baserate list parities`); or a function from a `Curve` to a policy. By default, the rule of
        least expected cost if there are costs, and otherwise a threshold of 0.5 for probabilities and 0 for decisions.
    threshold
        A threshold, in place of a policy.
    costs
        Costs of outcomes, a mapping or :class:`baserate.Costs`; or `fp` and `fn`.
    fp, fn
        Costs of a false positive and of a false negative.
    prevalence
        Deployment prevalence, such as 0.02 or "2%", for the choice; by default that of the rows.
    options
        Further options of the rule or of the parity by name, such as ``{"measure": "f1"}`` or ``{"within": 0.02}``.
    positive
        Class that is flagged; by default that of the policy, otherwise the second.
    group
        Columns of X that hold the groups; by default those that the policy names.
    id
        Column of X that holds the ids for randomized decisions; by default the one that the policy names.
    cv
        For a choice and a classifier that is not fitted yet, the number of folds, or a splitter as in scikit-learn.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    policy_
        The policy that decides.
    threshold_
        Its threshold; None if groups have their own, or decisions are randomized.
    classes_
        Both classes, in order.

    Notes
    -----
    `fit`, `predict` and `score` take `group`; `predict` and `score` also `id`. With metadata routing, request them by
    ``set_fit_request(group=True)`` and so on.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate.sklearn import PolicyClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> PolicyClassifier(GaussianNB().fit(X[::2], y[::2]), 0.2).predict(X[17:24:2]).tolist()
    [0, 1, 1, 0]
    >>> model = PolicyClassifier(GaussianNB(), fp=20, fn=1, prevalence="10%").fit(X[::2], y[::2])
    >>> model.policy_.rule, model.decide(X[17:24:2]).tolist()
    ('cost', ['pass', 'flag', 'flag', 'pass'])
    """

    def __init__(  # noqa: PLR0913  (scikit-learn's parameters are plain)
        self,
        estimator: Any,  # noqa: ANN401
        policy: float | str | Policy | Callable[..., Policy] | None = None,
        *,
        threshold: float | None = None,
        costs: CostsLike | None = None,
        fp: float | None = None,
        fn: float | None = None,
        prevalence: ShareLike | Mapping[Any, ShareLike] | None = None,
        options: Mapping[str, Any] | None = None,
        positive: object = None,
        group: str | Sequence[str] | None = None,
        id: str | None = None,  # noqa: A002
        cv: Any = 5,  # noqa: ANN401
    ) -> None:
        self.estimator = estimator
        self.policy = policy
        self.threshold = threshold
        self.costs = costs
        self.fp = fp
        self.fn = fn
        self.prevalence = prevalence
        self.options = options
        self.positive = positive
        self.group = group
        self.id = id
        self.cv = cv

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return what `fit` would set, where a fitted classifier and a stated decision determine it."""
        if name in _FROM_FIT and "estimator" in vars(self):
            choice = PolicyChoice.of(self)
            if choice.is_stated and is_fitted(self.estimator):
                fit = ClassifierFit.of_fitted(self.estimator)
                determined = {**fit.attributes, "policy_": choice.state(_check_binary(fit).response)}
                if name in determined:
                    return determined[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "policy_")

    def fit(
        self,
        X: Any,  # noqa: ANN401, N803
        y: Any,  # noqa: ANN401
        sample_weight: npt.ArrayLike | None = None,
        *,
        group: Any = None,  # noqa: ANN401
    ) -> PolicyClassifier:
        """Fit the classifier, unless it is fitted already, and choose the policy, unless it is stated.

        Parameters
        ----------
        X
            Features of the rows.
        y
            Class of each row.
        sample_weight
            Weight of each row.
        group
            Groups for a parity: an array, or several by name; by default columns of X.
        """
        rows = FitRows.of(X, y, sample_weight)
        choice = PolicyChoice.of(self)
        groups = choice.groups(X, group, rows.weight)
        fit = _check_binary(ClassifierFit.of(self.estimator, rows, self.cv))
        # Raises an error if the policy flags neither class, before anything is stored.
        policy = choice.choose(fit, groups)
        self.__dict__.update(fit.attributes, policy_=policy)
        return self

    @property
    def threshold_(self) -> float | None:
        """The threshold of the policy; None if groups have their own, or decisions are randomized."""
        check_is_fitted(self, "policy_")
        single: float | None = self.policy_.flags_from
        return single

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
            group = _group_columns(X, policy, PolicyChoice.of(self).group)
        if policy.needs_id and id is None:
            id = _id_column(X, policy.columns.get("id") if self.id is None else self.id)  # noqa: A001
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
        second = flagged == bool(positive_class(self.policy_, self.classes_))
        return self.classes_[second.astype(np.intp)]  # type: ignore[no-any-return]  # an array of what y holds

    def score(
        self,
        X: Any,  # noqa: ANN401, N803
        y: Any,  # noqa: ANN401
        sample_weight: npt.ArrayLike | None = None,
        *,
        group: Any = None,  # noqa: ANN401
        id: Any = None,  # noqa: A002, ANN401
    ) -> float:
        """Return the accuracy of the predicted classes.

        Parameters
        ----------
        X
            Features of the rows.
        y
            Class of each row.
        sample_weight
            Weight of each row.
        group, id
            As in `predict`.
        """
        return float(accuracy_score(y, self.predict(X, group=group, id=id), sample_weight=sample_weight))

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
        return np.column_stack(both if positive_class(self.policy_, self.classes_) else both[::-1])

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
        of = positive_class(self.policy_, self.classes_)
        return Response.of_classifier(self.estimator_, self.classes_, of).scores(self.estimator_, X)


def _check_binary(fit: ClassifierFit) -> ClassifierFit:
    """Refuse classifiers of several classes."""
    if len(fit.response.classes) > 2:
        # The estimator checks of scikit-learn require these first words.
        raise NotBinaryError(
            f"Only binary classification is supported: there are {len(fit.response.classes)} classes, and a policy "
            "is of two",
            remedy="set one against the rest first.",
        )
    return fit


def _group_columns(X: Any, policy: Policy, names: Sequence[str]) -> Any:  # noqa: ANN401, N803
    """Return the group columns of a frame: one, or a mapping of several."""
    names = names or policy.attributes
    columns = find_columns(X, names)
    if len(columns) < len(policy.attributes):
        missing = next((name for name in names if name not in columns), policy.attributes[-1])
        raise OptionError(
            f"this policy requires the group of each row, by {', '.join(policy.attributes)}, and X has no column "
            f"{missing!r}",
            remedy=f"give {keyword('group')}, or a frame that has it.",
        )
    by_attribute = dict(zip(policy.attributes, columns.values(), strict=True))
    return by_attribute if len(columns) > 1 else next(iter(columns.values()))


def _id_column(X: Any, name: str | None) -> Any:  # noqa: ANN401, N803
    """Return the id column of a frame."""
    columns = {} if name is None else find_columns(X, (name,))
    if name not in columns:
        reason = "the policy does not name their column" if name is None else f"X has no column {name!r}"
        raise OptionError(
            f"this policy is randomized by the ids of rows, and {reason}", remedy=f"give {keyword('id')}."
        )
    return columns[name]
