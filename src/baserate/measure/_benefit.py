"""Net benefit: what decisions are worth to those who would act at a given probability. Each takes `Counts`."""

from math import inf
from typing import Any

import numpy as np

from baserate._arrays import Floats, Value, ratio
from baserate._counts import Counts
from baserate._domains import SHARE
from baserate._errors import OptionError
from baserate.measure._about import measure
from baserate.measure._counts import sensitivity

__all__ = [
    "net_benefit",
    "net_reduction",
    "standardized_net_benefit",
]


@measure(
    summary="Net benefit per row: true positives minus false positives times the odds of the threshold probability.",
    formula=r"\frac{TP}{n}-\frac{FP}{n}\frac{p_t}{1-p_t}",
    also=("NB",),
    references=("vickers2006",),
    best="high",
    span=(-inf, 1),
    needs=("total",),
    dual="net_reduction",
)
def net_benefit(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    """A threshold probability `at` of :math:`p_t` implies that one false positive is as bad as :math:`p_t/(1-p_t)` true
    positives are good. Flagging nobody has net benefit 0. Several tables may each have their own `at`.

    >>> from baserate import Counts
    >>> round(net_benefit(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.064
    """
    found: Value = ratio(c.tp - odds(at) * c.fp, c.total)
    return found


@measure(
    summary="Net benefit divided by its maximum, the prevalence.",
    formula=r"TPR-\frac{1-π}{π}\frac{p_t}{1-p_t}FPR",
    also=("sNB", "standardised net benefit", "relative net benefit"),
    references=("kerr2016",),
    best="high",
    span=(-inf, 1),
    needs=("positives",),
)
def standardized_net_benefit(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    """The maximum, the prevalence :math:`π`, is reached by flagging all positives and nobody else.

    >>> from baserate import Counts
    >>> round(standardized_net_benefit(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.4571428571
    """
    found: Value = sensitivity(c) - ratio(odds(at) * c.fp, c.positives)
    return found


@measure(
    summary="Net reduction in interventions per row, compared with flagging everybody.",
    formula=r"\frac{TN}{n}-\frac{FN}{n}\frac{1-p_t}{p_t}",
    also=("net reduction in interventions", "net interventions avoided"),
    references=("vickers2006",),
    best="high",
    span=(-inf, 1),
    needs=("total",),
    dual="net_benefit",
)
def net_reduction(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    """The gain in net benefit over flagging everybody, in units of true negatives. Some programs report it per 100.

    >>> from baserate import Counts
    >>> round(net_reduction(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.632
    """
    weight = odds(at)
    if weight == 0 if isinstance(weight, float) else np.any(np.equal(weight, 0)):
        raise OptionError(
            "at is 0: then nothing is worth a missed positive, and nothing can be spared; give more than 0."
        )
    found: Value = ratio(c.tn - c.fn / weight, c.total)
    return found


def odds(at: float | Floats) -> Any:  # noqa: ANN401  (a number, or one for each table)
    """How many true positives a false one outweighs, by the probability from which on one would act."""
    each = np.asarray(at, dtype=np.float64)
    if not ((each == 0) | ((each >= SHARE.low) & (each <= SHARE.high))).all():
        raise OptionError(f"at is {at}; expected 0 or {SHARE.words}. Give a probability to act from, for example 0.1.")
    return at / (1 - at)
