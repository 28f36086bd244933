"""Choice of the policy of a `PolicyClassifier`: a stated one, or one that a rule, costs or a parity determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._domains import unused_option
from baserate._errors import OptionError, UnknownLabelError, UnknownNameError, keyword, unknown_name
from baserate._jobs import choose_threshold, equalize
from baserate._policy import REFUSE, Policy, label_text, spellings
from baserate._tally import Tally
from baserate.decide import RULES, find_rule
from baserate.fairness import PARITIES, find_parity
from baserate.read import name_arrays
from baserate.sklearn._out_of_fold import ClassifierFit, Response

_SETTINGS = ("costs", "fp", "fn", "prevalence")
"""Parameters of a choice, which a stated decision has no use for."""


class PolicyChoice(NamedTuple):
    """How the policy is chosen: the parameters of a `PolicyClassifier`."""

    decision: Any
    """A threshold, a policy, a name, a function, or None."""
    settings: Mapping[str, Any]
    """Costs, prevalence and options that are stated."""
    positive: object
    group: tuple[str, ...]
    """Columns of X that hold the groups."""
    id: str | None

    @staticmethod
    def of(classifier: Any) -> PolicyChoice:  # noqa: ANN401  (a PolicyClassifier)
        """Read the parameters, which scikit-learn checks when `fit` is called, not before."""
        decision = classifier.policy
        if classifier.threshold is not None:
            if decision is not None:
                raise OptionError(
                    f"policy is {decision!r}, and threshold is {classifier.threshold!r}; expected one of them.",
                    option="threshold",
                )
            decision = classifier.threshold
        settings = {name: getattr(classifier, name) for name in _SETTINGS} | dict(classifier.options or {})
        stated = {name: each for name, each in settings.items() if each is not None}
        group = classifier.group
        columns = () if group is None else (group,) if isinstance(group, str) else tuple(group)
        return PolicyChoice(decision, stated, classifier.positive, columns, classifier.id)

    @property
    def is_stated(self) -> bool:
        """Whether the decision depends on no rows."""
        return isinstance(self.decision, (Policy, Real)) or (self.decision is None and not self.settings)

    @property
    def parity(self) -> str | None:
        """Name of the parity between groups, if the decision is one."""
        if not isinstance(self.decision, str):
            return None
        try:
            find_rule(self.decision)
        except UnknownNameError:
            try:
                return find_parity(self.decision).name
            except UnknownNameError:
                raise unknown_name("rule or parity", self.decision, [*RULES, *PARITIES]) from None
        return None

    def groups(self, X: Any, group: Any, weight: Floats | None) -> dict[str, npt.NDArray[Any]]:  # noqa: ANN401, N803
        """Return the groups of the rows with weight by name, if there is a parity."""
        parity = self.parity
        if parity is None:
            return {}
        if group is None:
            columns = find_columns(X, self.group)
        elif isinstance(group, (np.ndarray, list, tuple)):
            columns = {self.group[0] if self.group else "group": group}
        else:
            name = getattr(group, "name", None)
            columns = {str(name): group} if isinstance(name, str) else name_arrays("group", group)
        if not columns or len(columns) < len(self.group):
            raise OptionError(
                f"{parity} needs the group of each row.",
                remedy=f"Give {keyword('group')} to fit; or to PolicyClassifier, the names of columns of a frame X.",
                option="group",
            )
        arrays = {name: np.asarray(each) for name, each in columns.items()}
        return arrays if weight is None else {name: each[weight > 0] for name, each in arrays.items()}

    def state(self, response: Response) -> Policy:
        """Return a decision that is stated."""
        if self.settings:
            name = next(iter(self.settings))
            raise unused_option(name, self.settings[name], f"the decision is stated: {self.decision!r}")
        if isinstance(self.decision, Policy):
            # It stays as it is: its content is the key of random assignment.
            if self.positive is not None:
                raise unused_option("positive", self.positive, "a policy names the class that it flags")
            positive_class(self.decision, response.classes)
            return self.decision
        default = 0.5 if response.probabilities else 0.0
        threshold = default if self.decision is None else float(self.decision)
        policy = Policy(by_group={(): Cut((threshold,))}, otherwise=REFUSE, settings={"threshold": threshold})
        return self._name(policy, response.classes)

    def choose(self, fit: ClassifierFit, groups: Mapping[str, npt.NDArray[Any]]) -> Policy:
        """Return the stated decision, or the one that the out-of-fold scores of a fit lead to."""
        if self.is_stated:
            return self.state(fit.response)
        of = self._flagged_class(fit.response.classes)
        fit = fit._replace(response=fit.response._replace(of=of))
        truth, scores, weight = fit.rows.y == of, fit.scores(), fit.rows.weight
        if self.parity is not None:
            policy = equalize(truth, scores, self.parity, group=groups, weight=weight, **self.settings)
        else:
            policy = self._apply_rule(Tally.of_rows(truth, scores, weight=weight))
        return self._name(policy, fit.response.classes)

    def _apply_rule(self, tally: Any) -> Policy:  # noqa: ANN401  (a tally, which type checkers know as Tallies)
        """Choose by the rule, or by costs."""
        if self.decision is not None and not isinstance(self.decision, str) and not callable(self.decision):
            raise OptionError(
                f"policy is {self.decision!r}",
                remedy="give a threshold, a Policy, the name of a rule, or a function from a curve to a policy.",
                option="policy",
                value=self.decision,
            )
        if callable(self.decision) and not self.settings:
            policy = self.decision(Curve(tally))
        else:
            policy = choose_threshold(tally, self.decision, **self.settings)
        if not isinstance(policy, Policy):
            raise OptionError(
                f"the rule {self.decision!r} made {type(policy).__name__} of a curve; it must make a Policy."
            )
        return policy

    def _name(self, policy: Policy, classes: npt.NDArray[Any]) -> Policy:
        """Name the class that is flagged, and the column of ids; scores have no column."""
        named = {"id": self.id} if self.id is not None else {}
        columns = {role: name for role, name in policy.columns.items() if role not in ("truth", "score")} | named
        return replace(policy, positive=label_text(classes.tolist()[self._flagged_class(classes)]), columns=columns)

    def _flagged_class(self, classes: npt.NDArray[Any]) -> int:
        """Return the position of the class that is flagged."""
        if self.positive is None:
            return 1
        labels = classes.tolist()
        if self.positive not in labels:
            raise UnknownLabelError(
                f"positive is {self.positive!r}, and the classes are {labels[0]!r} and {labels[1]!r}",
                remedy="name one of them.",
            )
        return int(labels.index(self.positive))


def find_columns(X: Any, names: Sequence[str]) -> dict[str, Any]:  # noqa: ANN401, N803
    """Return those columns of a frame that it has."""
    there = list(getattr(X, "columns", ()))
    return {name: X[name] for name in names if name in there}


def positive_class(policy: Policy, classes: npt.NDArray[Any]) -> int:
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
