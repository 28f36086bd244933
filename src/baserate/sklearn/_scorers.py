"""Scorers of scikit-learn, made of measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from baserate._arrays import refuse_differing_indexes
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import OptionError, UnknownNameError
from baserate._policy import REFUSE, Policy, spellings
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.measure import USUAL, Measure, about, known, multiclass
from baserate.read import confusion, label_sets, scored, tally
from baserate.shift import reweigh

_SCORES = ("predict_proba", "decision_function")
_RESPONSE: dict[type, str | tuple[str, ...]] = {
    Counts: "predict",
    Curve: _SCORES,
    Tally: "predict_proba",
    Confusion: "predict",
    MulticlassRows: "predict_proba",
    LabelSets: "predict",
}
"""What a model is asked for, by what a measure takes."""
_OF_TWO = (Counts, Curve, Tally)
_USUALLY_POSITIVE = tuple(text for label in (1, True) for text in spellings(label))
_HALF = Policy(by_group={(): Cut((0.5,))}, otherwise=REFUSE)
"""What cuts 0 and 1, which decisions are counted as."""


def scorer(
    measure: str | Measure,
    *,
    threshold: float | None = None,
    policy: Policy | None = None,
    prevalence: Any = None,  # noqa: ANN401  (what `reweigh` takes)
    positive: object = None,
    labels: Iterable[object] | None = None,
    **options: Any,  # noqa: ANN401  (of the measure)
) -> Any:  # noqa: ANN401  (a scorer of scikit-learn)
    """Make a scorer of a measure, for `scoring=` of scikit-learn.

    Measures of a 2×2 table judge what the model predicts, or its scores as `threshold` or `policy` cuts them. Rank
    measures judge scores: probabilities if there are any, otherwise decisions; measures of probabilities take nothing
    else. A name means the measure of two classes, if there is one; those of several classes are functions of
    `baserate.measure.multiclass`, and judge what is predicted, or the probabilities of all classes.

    What is best when low is negated, since scikit-learn takes the greater for the better; what the scorer is called
    tells. Of some measures neither end is the better: look at these, but do not search by them.

    Parameters
    ----------
    measure
        Its name, any other name of it, or the function.
    threshold
        What flags, from this score on.
    policy
        What decides: one without groups. Of a lottery, this is what can be expected.
    prevalence
        Judge as if the positive class were so frequent; of several classes, a share for each.
    positive
        Label of the positive class; may be left out for booleans and for 0 and 1.
    labels
        Of several classes, all of them in order, where rows may lack some.
    options
        Of the measure, such as `beta=2`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate.sklearn import scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer("mcc"), cv=3).round(3).tolist()
    [0.819, 0.889, 0.887]
    >>> scorer("brier")
    make_scorer(brier, greater_is_better=False, response_method='predict_proba')
    """
    found, cut = _found(measure), _cut(threshold, policy)
    score = _Score(found, cut, prevalence, None if labels is None else tuple(labels), options)
    score.check(positive)
    response = _SCORES if cut is not None else _RESPONSE[about(found).of]
    named = {} if positive is None else {"pos_label": positive}
    return make_scorer(score, greater_is_better=about(found).best != "low", response_method=response, **named)


def scorers(*measures: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Make several scorers, by what they tell: the usual measures of two classes, if none is named.

    >>> list(scorers("auc", "brier"))
    ['auc', 'neg_brier']
    """
    names = measures or [name for several in USUAL.values() for name in several]
    signs = {name: "neg_" if about(_found(name)).best == "low" else "" for name in names}
    return {f"{sign}{name}": scorer(name, **options) for name, sign in signs.items()}


@dataclass(frozen=True, slots=True)
class _Score:
    """A measure of what is true and what a model tells, as scikit-learn calls it; a value that can be pickled."""

    measure: Measure
    cut: Policy | None
    """What cuts scores; None where the model decides, or nothing does."""
    prevalence: Any
    labels: tuple[object, ...] | None
    options: dict[str, Any]

    @property
    def __name__(self) -> str:
        return about(self.measure).name

    def check(self, positive: object) -> None:
        """Refuse what does not go together, before there are rows."""
        of, name = about(self.measure).of, about(self.measure).name
        if self.cut is not None:
            if of is not Counts:
                raise OptionError(f"{name} is no measure of a 2×2 table, so nothing is to be cut; leave that out.")
            _check_cut(self.cut, positive)
        if of in _OF_TWO and self.labels is not None:
            raise OptionError(f"{name} is of two classes, so labels are not needed; name the positive= one.")
        if of not in _OF_TWO and positive is not None:
            raise OptionError(f"{name} is of all classes alike, so none is positive; leave positive= out.")
        if of in (MulticlassRows, LabelSets) and self.prevalence is not None:
            raise OptionError(f"{name} is of rows, which are not reweighed; leave prevalence= out.")

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        pos_label: object = None,
    ) -> float:
        refuse_differing_indexes({"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight})
        of, told = about(self.measure).of, np.asarray(y_pred)
        found: Any
        if of in _OF_TWO:
            if of is Counts and self.cut is None:
                told = (told == (1 if pos_label is None else pos_label)).astype(np.float64)
            found = tally(y_true, told, weight=sample_weight, positive=pos_label)
        else:
            found = _MAKERS[of](y_true, told, labels=self.labels, weight=sample_weight)
        if self.prevalence is not None:
            found = reweigh(found, to=self.prevalence)
        return float(self.measure(self._seen(found) if of in _OF_TWO else found, **self.options))

    def _seen(self, found: Tally) -> Any:  # noqa: ANN401  (what the measure takes)
        """A tally as the measure takes it."""
        if about(self.measure).of is Tally:
            return found
        if about(self.measure).of is Curve:
            return Curve(found)
        cut = _HALF if self.cut is None else self.cut
        return cut.by_group[()].counts(Curve(found))


def _found(measure: str | Measure) -> Measure:
    """The measure of two classes of that name, or else of several."""
    try:
        return known(measure)
    except UnknownNameError as error:
        try:
            return multiclass.named(str(measure))
        except UnknownNameError:
            raise error from None


def _cut(threshold: float | None, policy: Policy | None) -> Policy | None:
    """What cuts scores, if anything."""
    if threshold is None:
        return policy
    if policy is not None:
        raise OptionError(f"threshold is {threshold}, and there is a policy, too; give one of them.")
    return Policy(by_group={(): Cut((threshold,))}, otherwise=REFUSE)


def _check_cut(policy: Policy, positive: object) -> None:
    """Refuse a policy that a scorer cannot follow."""
    if policy.needs_group:
        raise OptionError(
            f"this policy asks for groups by {', '.join(policy.attributes)}, which a scorer does not see; put the "
            "model into a PolicyClassifier, which finds them in X, and leave policy= out."
        )
    if not policy.by_group[()].has_table:
        raise OptionError(f"this policy may {', '.join(policy.actions)}, so it has no 2×2 table; take one that flags.")
    known_as = spellings(positive) if positive is not None else _USUALLY_POSITIVE
    if policy.positive not in (None, *known_as):
        raise OptionError(f"this policy flags {policy.positive!r}; say which label that is, with positive=.")


def _class_rows(truth: npt.ArrayLike, told: npt.NDArray[Any], **options: Any) -> MulticlassRows:  # noqa: ANN401
    # Of two classes scikit-learn hands on the probability of the second alone.
    return scored(truth, np.column_stack([1 - told, told]) if told.ndim == 1 else told, **options)


def _label_sets(truth: npt.ArrayLike, told: npt.NDArray[Any], **options: Any) -> LabelSets:  # noqa: ANN401
    return label_sets(truth, decided=told, **options)


_MAKERS: dict[type, Callable[..., Any]] = {Confusion: confusion, MulticlassRows: _class_rows, LabelSets: _label_sets}
"""What a measure of several classes takes, from what is true and what a model tells."""
