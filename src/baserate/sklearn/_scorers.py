"""Scorers of scikit-learn for the measures of baserate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from baserate._arrays import refuse_differing_indexes
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import OptionError, UnknownNameError, keyword
from baserate._policy import REFUSE, Policy, spellings
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.measure import (
    DEFAULT_MEASURES,
    Measure,
    as_measure,
    describe,
    multiclass,
    unwrap_options,
)
from baserate.read import (
    check_options,
    class_scores,
    confusion,
    label_sets,
    own_options,
    read_worded_options,
    tally,
)
from baserate.shift import PrevalenceLike, reweigh

_SCORES = ("predict_proba", "decision_function")
_RESPONSE: dict[type, str | tuple[str, ...]] = {
    Counts: "predict",
    Curve: _SCORES,
    Tally: "predict_proba",
    Confusion: "predict",
    MulticlassRows: "predict_proba",
    LabelSets: "predict",
}
"""Method of a model that supplies the input of a measure, by the type of input."""
_BINARY = (Counts, Curve, Tally)
_DEFAULT_POSITIVE = tuple(text for label in (1, True) for text in spellings(label))
_EXAMPLES = {"costs": "fp=1, fn=20", "at": "at=0.1"}
"""Examples of options that are no rates."""
_HALF = Policy(by_group={(): Cut((0.5,))}, otherwise=REFUSE)
"""Threshold between 0 and 1, which stand for predicted classes."""


def scorer(
    measure: str | Measure,
    *,
    threshold: float | None = None,
    policy: Policy | None = None,
    prevalence: PrevalenceLike | None = None,
    positive: object = None,
    labels: Iterable[object] | None = None,
    **options: Any,  # noqa: ANN401  (of the measure)
) -> Any:  # noqa: ANN401  (a scorer of scikit-learn)
    """Make a scorer of a measure, for `scoring=` of scikit-learn.

    Measures of a confusion matrix evaluate predicted classes, or scores at a `threshold` or by a `policy`. Rank
    measures evaluate probabilities if the model has them, otherwise decisions; measures of probabilities take nothing
    else. A name means the binary measure, if there is one; multiclass measures are functions of
    `baserate.measure.multiclass`, and evaluate predicted classes, or the probabilities of all classes.

    Measures for which lower is better, such as costs and losses, are negated, since scikit-learn maximizes; the
    scorer's representation shows this (``greater_is_better=False``), and `scorers` names them ``neg_…``. For some
    measures neither direction is better: report these, but do not select models by them.

    Parameters
    ----------
    measure
        Its name, an alias, or the function.
    threshold
        Score from which rows are flagged.
    policy
        A policy without groups. For a randomized policy, the result is an expectation.
    prevalence
        Deployment prevalence to reweight to, such as 0.05 or "5%"; for several classes, a share for each.
    positive
        Label of the positive class; may be left out for booleans and for 0 and 1.
    labels
        For multiclass measures, all classes in order, where rows may lack some.
    **options
        Options of the measure, such as `beta=2`; costs also as `fp` and `fn`.

    Returns
    -------
    callable
        A scorer.

    Raises
    ------
    OptionError
        If options contradict each other, or a measure such as expected cost lacks the number that it depends on.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate.sklearn import scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=scorer("mcc"), cv=3).round(3).tolist()
    [0.819, 0.889, 0.887]
    >>> scorer("expected_cost", prevalence="5%", fp=1, fn=20)
    make_scorer(expected_cost(prevalence=0.05, costs=Costs(tp=0.0, fp=1, fn=20, tn=0.0)), greater_is_better=False,
    response_method='predict')
    """
    function, cut = _find_measure(measure), _make_policy(threshold, policy)
    stated = _read_options(function, {"prevalence": prevalence, **options})
    score = _MeasureScore(
        function, cut, stated.pop("prevalence", None), None if labels is None else tuple(labels), stated
    )
    score.check(positive)
    ranks_labels = unwrap_options(function) in multiclass.ROW_MEASURES
    response = _SCORES if cut is not None or ranks_labels else _RESPONSE[describe(function).of]
    label = {} if positive is None else {"pos_label": positive}
    return make_scorer(score, greater_is_better=describe(function).best != "low", response_method=response, **label)


def scorers(*measures: str | Iterable[str], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Make several scorers by name, for `scoring=` with several measures.

    Parameters
    ----------
    *measures
        Names of measures, or a list of them; by default the usual binary ones.
    **options
        Options of `scorer`; each measure gets those that it depends on.

    Returns
    -------
    dict
        Scorers by name; negated ones begin with ``neg_``.

    Examples
    --------
    >>> list(scorers(["auc", "brier", "expected_cost"], fp=1, fn=20))
    ['auc', 'neg_brier', 'neg_expected_cost']
    """
    names = [name for each in measures for name in ([each] if isinstance(each, str) else each)]
    names = names or [name for several in DEFAULT_MEASURES.values() for name in several]
    functions = {name: _find_measure(name) for name in names}
    accepted = {name: _accepted_options(function) for name, function in functions.items()}
    check_options("scorers", options, {"prevalence", *(each for several in accepted.values() for each in several)})
    made = {}
    for name, function in functions.items():
        own = {each: value for each, value in options.items() if each in accepted[name]}
        made[f"{'neg_' if describe(function).best == 'low' else ''}{name}"] = scorer(name, **own)
    return made


def _accepted_options(function: Measure) -> frozenset[str]:
    """Return the options of a scorer that a measure has a use for."""
    of = describe(function).of
    ways = {"positive"} if of in _BINARY else {"labels"}
    ways |= {"threshold", "policy"} if of is Counts else set()
    ways |= set() if of in (MulticlassRows, LabelSets) else {"prevalence"}
    return _measure_options(function) | ways


def _measure_options(function: Measure) -> frozenset[str]:
    """Return the options of a measure; costs of outcomes are also those of both errors."""
    if isinstance(function, partial):
        return _measure_options(unwrap_options(function)) - function.keywords.keys()
    own = own_options(function)
    return own | {"fp", "fn"} if "costs" in own and describe(function).of is Counts else own


def _read_options(function: Measure, options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options of a measure, and read costs and prevalence, before there are rows."""
    name = describe(function).name
    stated = {each: value for each, value in options.items() if value is not None}
    known = _measure_options(function)
    check_options(name, stated, {*known, "prevalence"})
    is_open = describe(function).option_required and not isinstance(function, partial)
    needed = describe(function).option if is_open else None
    read = read_worded_options(stated, has_costs="fp" in known)
    if needed is not None and needed not in read:
        example = _EXAMPLES.get(needed) or keyword(needed, 0.9)
        raise OptionError(f"{name} depends on {needed}, which is not stated", remedy=f"give {example}.", option=needed)
    return read


@dataclass(frozen=True, slots=True)
class _MeasureScore:
    """A measure as a function of labels and predictions; a class, since scikit-learn must be able to pickle it."""

    measure: Measure
    cut: Policy | None
    """Policy on scores; None where the model predicts classes, or the measure uses scores."""
    prevalence: Any
    labels: tuple[object, ...] | None
    options: dict[str, Any]

    @property
    def __name__(self) -> str:
        """Name of the measure with what was stated, which scorers of `make_scorer` show."""
        cut = None if self.cut is None else self.cut.flags_from
        decision = {} if self.cut is None else {"policy": self.cut} if cut is None else {"threshold": cut}
        stated = {**decision, "prevalence": self.prevalence, "labels": self.labels, **self.options}
        shown = ", ".join(f"{name}={value!r}" for name, value in stated.items() if value is not None)
        return f"{describe(self.measure).name}({shown})" if shown else describe(self.measure).name

    def check(self, positive: object) -> None:
        """Refuse options that contradict each other, before there are rows."""
        of, name = describe(self.measure).of, describe(self.measure).name
        if self.cut is not None:
            if of is not Counts:
                raise OptionError(
                    f"{name} is not a measure of a confusion matrix, so it takes no threshold and no policy",
                    remedy="leave them out.",
                )
            _check_policy(self.cut, positive)
        if of in _BINARY and self.labels is not None:
            raise OptionError(
                f"{name} is of two classes, so labels are not needed", remedy=f"name the {keyword('positive')} one."
            )
        if of not in _BINARY and positive is not None:
            raise OptionError(
                f"{name} is of all classes, none of which is positive", remedy=f"leave {keyword('positive')} out."
            )
        if of in (MulticlassRows, LabelSets) and self.prevalence is not None:
            raise OptionError(
                f"{name} is of rows, which are not reweighed", remedy=f"leave {keyword('prevalence')} out."
            )

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        pos_label: object = None,
    ) -> float:
        refuse_differing_indexes({"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight})
        of, predicted = describe(self.measure).of, np.asarray(y_pred)
        data: Any
        if of in _BINARY:
            if of is Counts and self.cut is None:
                # Predicted classes become scores of 0 and 1, which `_HALF` separates.
                predicted = (predicted == (1 if pos_label is None else pos_label)).astype(np.float64)
            # `make_scorer` passes no `pos_label` unless one was given: `tally` then accepts booleans, and 0 and 1.
            data = tally(y_true, predicted, weight=sample_weight, positive=pos_label)
        else:
            make = _scored_labels if unwrap_options(self.measure) in multiclass.ROW_MEASURES else _MAKERS[of]
            data = make(y_true, predicted, labels=self.labels, weight=sample_weight)
        if self.prevalence is not None:
            data = reweigh(data, prevalence=self.prevalence)
        return float(self.measure(self._measure_input(data) if of in _BINARY else data, **self.options))

    def _measure_input(self, data: Tally) -> Any:  # noqa: ANN401  (a tally, curve or counts)
        """Convert a tally to the input of the measure."""
        if describe(self.measure).of is Tally:
            return data
        if describe(self.measure).of is Curve:
            return Curve(data)
        cut = _HALF if self.cut is None else self.cut
        return cut.by_group[()].counts(Curve(data))


def _find_measure(measure: str | Measure) -> Measure:
    """Return the binary measure of a name, or else the multiclass one."""
    try:
        return as_measure(measure)
    except UnknownNameError as error:
        try:
            return multiclass.find_measure(str(measure))
        except UnknownNameError:
            raise error from None


def _make_policy(threshold: float | None, policy: Policy | None) -> Policy | None:
    """Return the policy of a threshold, or the policy itself."""
    if threshold is None:
        return policy
    if policy is not None:
        raise OptionError(
            f"threshold is {threshold}, and there is a policy, too",
            remedy="give one of them.",
            option="threshold",
            value=threshold,
        )
    return Policy(by_group={(): Cut((threshold,))}, otherwise=REFUSE)


def _check_policy(policy: Policy, positive: object) -> None:
    """Refuse a policy that a scorer cannot apply."""
    if policy.needs_group:
        raise OptionError(
            f"this policy requires groups by {', '.join(policy.attributes)}, which a scorer does not receive",
            remedy=f"put the model into a PolicyClassifier, which finds them in X, and leave {keyword('policy')} out.",
        )
    if not policy.by_group[()].has_table:
        raise OptionError(
            f"this policy may {', '.join(policy.actions)}, so it has no confusion matrix", remedy="give one that flags."
        )
    names = spellings(positive) if positive is not None else _DEFAULT_POSITIVE
    if policy.positive not in (None, *names):
        raise OptionError(
            f"this policy flags {policy.positive!r}", remedy=f"say which label that is, with {keyword('positive')}."
        )


def _multiclass_rows(truth: npt.ArrayLike, predicted: npt.NDArray[Any], **options: Any) -> MulticlassRows:  # noqa: ANN401
    # For two classes scikit-learn passes only the probability of the second.
    both = np.column_stack([1 - predicted, predicted]) if predicted.ndim == 1 else predicted
    return class_scores(truth, both, **options)


def _label_sets(truth: npt.ArrayLike, predicted: npt.NDArray[Any], **options: Any) -> LabelSets:  # noqa: ANN401
    return label_sets(truth, predicted=predicted, **options)


def _scored_labels(truth: npt.ArrayLike, score: npt.NDArray[Any], **options: Any) -> LabelSets:  # noqa: ANN401
    return label_sets(truth, score=score, **options)


_MAKERS: dict[type, Callable[..., Any]] = {
    Confusion: confusion,
    MulticlassRows: _multiclass_rows,
    LabelSets: _label_sets,
}
"""Functions from labels and predictions to the input of a multiclass measure, by its type."""
