"""Net benefit: what decisions are worth to those who would act at a given probability. Each takes `Counts`."""

from math import inf
from typing import Any

import numpy as np

from baserate._arrays import Floats, Value, ratio
from baserate._counts import Counts
from baserate._errors import BadOption
from baserate.measure._about import measure
from baserate.measure._counts import sensitivity

__all__ = [
    "net_benefit",
    "net_reduction",
    "standardized_net_benefit",
]


@measure(best="high", span=(-inf, 1), needs=("total",), dual="net_reduction")
def net_benefit(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    r"""True positives less what false ones outweigh, per case, :math:`\frac{TP}{n}-\frac{FP}{n}\frac{p_t}{1-p_t}`.

    Who would act from a probability `at` of :math:`p_t` on takes a false positive to be as bad as
    :math:`p_t/(1-p_t)` true ones are good. Flagging nobody is worth 0. Several tables may each have their own `at`.

    Also: NB.
    Reference: [@vickers2006].

    >>> from baserate import Counts
    >>> round(net_benefit(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.064
    """
    found: Value = ratio(c.tp - odds(at) * c.fp, c.total)
    return found


@measure(best="high", span=(-inf, 1), needs=("positives",))
def standardized_net_benefit(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    r"""Net benefit as a share of the greatest there is, :math:`TPR-\frac{1-π}{π}\frac{p_t}{1-p_t}FPR`.

    The greatest is the prevalence :math:`π`: all positives flagged, and nobody else.

    Also: sNB, standardised net benefit, relative net benefit.
    Reference: [@kerr2016].

    >>> from baserate import Counts
    >>> round(standardized_net_benefit(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.4571428571
    """
    found: Value = sensitivity(c) - ratio(odds(at) * c.fp, c.positives)
    return found


@measure(best="high", span=(-inf, 1), needs=("total",), dual="net_benefit")
def net_reduction(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    r"""Interventions spared without missing more, per case, :math:`\frac{TN}{n}-\frac{FN}{n}\frac{1-p_t}{p_t}`.

    It is what net benefit gains on flagging everybody, in units of true negatives; so flagging everybody is worth 0.
    Others give it per 100 cases.

    Also: net reduction in interventions, net interventions avoided.
    Reference: [@vickers2006].

    >>> from baserate import Counts
    >>> round(net_reduction(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.632
    """
    weight = odds(at)
    if weight == 0 if isinstance(weight, float) else np.any(np.equal(weight, 0)):
        raise BadOption(
            "at is 0: then nothing is worth a missed positive, and nothing can be spared; give more than 0."
        )
    found: Value = ratio(c.tn - c.fn / weight, c.total)
    return found


def odds(at: float | Floats) -> Any:  # noqa: ANN401  (a number, or one for each table)
    """How many true positives a false one outweighs, by the probability from which on one would act."""
    if not (0 <= at < 1 if isinstance(at, float) else np.all(np.greater_equal(at, 0) & np.less(at, 1))):
        raise BadOption(f"at is {at}; the probability from which on one would act lies from 0 to below 1.")
    return at / (1 - at)
