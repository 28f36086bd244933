"""A classifier of scikit-learn that decides by a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, Cut
from baserate._errors import NotBinaryError, OptionError, UnknownLabelError
from baserate._policy import REFUSE, Policy, label_text, spellings
from baserate._tally import Tally
from baserate.apply import actions
from baserate.sklearn._data import Data
from baserate.sklearn._fitting import Asked, Fitting, with_tags_of


def _has(method: str) -> Callable[[Any], bool]:
    """Whether the classifier within has a method."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


def _has_probabilities(self: PolicyClassifier) -> bool:
    """Whether the classifier within has probabilities, or the policy's map makes them."""
    policy = getattr(self, "policy_", self.policy)
    return _has("predict_proba")(self) or (isinstance(policy, Policy) and policy.map is not None)


class PolicyClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A classifier of two classes that decides by a policy what another one scores.

    A classifier that is already fitted stays as it is; put it into scikit-learn's `FrozenEstimator` where it will be
    cloned, as in a search over parameters. One that is not fitted yet is fitted by `fit`, to all rows.

    A rule chooses from scores of rows by what has not seen them, fold by fold, as in `CalibratedBy`; if the classifier
    came fitted, from its scores of the rows that are given to `fit`: give it others than it was fitted on.

    Scores are probabilities of the class that the policy names as `positive`, or else of the second; where there are no
    probabilities they are decisions. That class is what is flagged. Groups and ids are given to `predict` and `decide`;
    otherwise they are columns of a frame X, called as the policy calls them. Put steps that would lose these columns
    inside, with the classifier: `PolicyClassifier(make_pipeline(…), policy)`.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba` or `decision_function`.
    policy
        A `Policy`; or a rule, which makes one of a `Curve`, such as `decide.youden` or
        `functools.partial(decide.cost, costs=Costs(fp=1, fn=20))`; or None, to cut probabilities at 0.5 and decisions
        at 0.
    cv
        For a rule and a classifier that is not fitted yet, the number of folds, or what scikit-learn takes in its
        place.

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
    Policy(cost)
    >>> model.predict(X[17:24:2]).tolist(), model.decide(X[17:24:2]).tolist()
    ([0, 1, 1, 0], ['pass', 'flag', 'flag', 'pass'])
    """

    def __init__(self, estimator: Any, policy: Any = None, *, cv: Any = 5) -> None:  # noqa: ANN401
        self.estimator = estimator
        self.policy = policy
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> PolicyClassifier:  # noqa: ANN401, N803
        """Fit the classifier, unless it is, and let the rule choose, if there is one."""
        found = Fitting.of(self.estimator, Data.of(X, y, sample_weight), self.cv)
        if len(found.ask.classes) > 2:
            # So scikit-learn wants it to begin.
            raise NotBinaryError(
                f"Only binary classification is supported: there are {len(found.ask.classes)} classes, and a policy "
                "is of two; set one against the rest first."
            )
        policy = _policy_of(self.policy, found)
        _flagged_class(policy, found.ask.classes)
        self.__dict__.update(found.attributes, policy_=policy)
        return self

    def decide(self, X: Any, *, group: Any = None, id: Any = None) -> npt.NDArray[np.str_]:  # noqa: A002, ANN401, N803
        """What is done with each row, in the words of the policy."""
        check_is_fitted(self, "policy_")
        policy = self.policy_
        if policy.needs_group and group is None:
            group = _groups_in(X, policy)
        if policy.needs_id and id is None:
            id = _ids_in(X, policy)  # noqa: A001
        return actions(policy, self._scores(X), group=group if policy.needs_group else None, id=id).text

    def predict(self, X: Any, *, group: Any = None, id: Any = None) -> npt.NDArray[Any]:  # noqa: A002, ANN401, N803
        """Class of each row: what is flagged is of the class that the policy looks for."""
        check_is_fitted(self, "policy_")
        more = [action for action in self.policy_.actions if action not in (PASS, FLAG)]
        if more:
            raise OptionError(
                f"this policy may also {' or '.join(more)}, and there are two classes only, of what is passed and what "
                "is flagged; use decide, which tells what is done with each row."
            )
        flagged = self.decide(X, group=group, id=id) == FLAG
        second = flagged == bool(_flagged_class(self.policy_, self.classes_))
        return self.classes_[second.astype(np.intp)]  # type: ignore[no-any-return]  # an array of what y holds

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # of no known type
    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Probability of each class, in the order of `classes_`: what the policy's map makes of it, if there is one."""
        check_is_fitted(self, "policy_")
        if self.policy_.map is None:
            told: Floats = self.estimator_.predict_proba(X)
            return told[:, np.argsort(self.estimator_.classes_)]
        found = self.policy_.map(self._scores(X))
        both = [1 - found, found]
        return np.column_stack(both if _flagged_class(self.policy_, self.classes_) else both[::-1])

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]  # of no known type
    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Decisions of the classifier within, as they are: the policy is not in them."""
        check_is_fitted(self, "policy_")
        told: Floats = self.estimator_.decision_function(X)
        return told

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = with_tags_of(self.estimator, super().__sklearn_tags__())
        tags.classifier_tags.multi_class = False
        return tags

    def _scores(self, X: Any) -> Floats:  # noqa: ANN401, N803
        of = _flagged_class(self.policy_, self.classes_)
        return Asked.of_classifier(self.estimator_, self.classes_, of).scores(self.estimator_, X)


def _policy_of(given: Any, found: Fitting) -> Policy:  # noqa: ANN401
    """The policy that is given, or that a rule chooses, or the usual one."""
    if isinstance(given, Policy):
        return given
    positive = label_text(found.ask.classes.tolist()[1])
    if given is None:
        at = 0.5 if found.ask.probabilities else 0.0
        return Policy(by_group={(): Cut((at,))}, otherwise=REFUSE, settings={"threshold": at}, positive=positive)
    if not callable(given):
        raise OptionError(f"policy is {given!r}; give a Policy, a rule such as baserate.decide.youden, or None.")
    chosen = given(Curve(Tally.of_rows(found.data.y == 1, found.scores(), weight=found.data.weight)))
    if not isinstance(chosen, Policy):
        raise OptionError(f"the rule {given!r} made {type(chosen).__name__} of a curve; it must make a Policy.")
    return replace(chosen, positive=positive)


def _flagged_class(policy: Policy, classes: npt.NDArray[Any]) -> int:
    """Place of the class that a policy looks for: the one that it names, otherwise the second."""
    if policy.positive is None:
        return 1
    labels = classes.tolist()
    for at in (1, 0):
        if policy.positive in spellings(labels[at]):
            return at
    raise UnknownLabelError(
        f"this policy flags {policy.positive!r}, and the classes are {labels[0]!r} and {labels[1]!r}; give rows of the "
        "class that it was chosen for, or a policy of these classes."
    )


def _groups_in(X: Any, policy: Policy) -> Any:  # noqa: ANN401, N803
    """Columns of a frame that a policy groups by: one, or a mapping of several."""
    there = list(getattr(X, "columns", ()))
    missing = [name for name in policy.attributes if name not in there]
    if missing:
        raise OptionError(
            f"this policy asks for the group of each row, by {', '.join(policy.attributes)}, and X has no column "
            f"{missing[0]!r}; give group=, or a frame that has it."
        )
    found = {name: X[name] for name in policy.attributes}
    return found if len(found) > 1 else next(iter(found.values()))


def _ids_in(X: Any, policy: Policy) -> Any:  # noqa: ANN401, N803
    """Column of a frame that holds ids."""
    name = policy.columns.get("id")
    if name is None or name not in list(getattr(X, "columns", ())):
        told = "the policy does not know what their column is called" if name is None else f"X has no column {name!r}"
        raise OptionError(f"this policy draws lots, which the ids of rows decide, and {told}; give id=.")
    return X[name]
