"""How right sets of labels are, row by row. Each takes `LabelSets`; for all else there is `averaged`."""

import numpy as np

from baserate._arrays import mean_defined
from baserate._rows import LabelSets
from baserate.measure._about import measure

__all__ = ["exact_match"]


@measure(
    summary="Share of rows whose predicted label set equals the true one (subset accuracy).",
    formula=r"\frac1n\sum_i[Y_i=\hat Y_i]",
    also=("subset accuracy", "exact match ratio"),
    references=("tsoumakas2007",),
    best="high",
    span=(0, 1),
    needs=("total",),
)
def exact_match(s: LabelSets) -> float:
    """
    >>> from baserate import label_sets
    >>> exact_match(label_sets([{"sea", "sky"}, {"sky"}], decided=[{"sea"}, {"sky"}]))
    0.5
    """
    wrong = s.per_row()
    right = np.asarray((wrong.fp + wrong.fn) == 0, dtype=np.float64)
    return mean_defined(right, 1.0 if s.weight is None else s.weight)
