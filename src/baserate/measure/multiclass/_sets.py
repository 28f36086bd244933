"""How right sets of labels are, row by row. Each takes `LabelSets`; for all else there is `averaged`."""

import numpy as np

from baserate._arrays import mean_defined
from baserate._label_sets import LabelSets
from baserate.measure._about import measure

__all__ = ["exact_match"]


@measure(best="high", span=(0, 1), needs=("total",))
def exact_match(s: LabelSets) -> float:
    r"""Share of rows that were given all of their labels and no other, :math:`\frac1n\sum_i[Y_i=\hat Y_i]`.

    Also: subset accuracy, exact match ratio.
    Reference: [@tsoumakas2007].

    >>> from baserate import label_sets
    >>> exact_match(label_sets([{"sea", "sky"}, {"sky"}], decided=[{"sea"}, {"sky"}]))
    0.5
    """
    wrong = s.per_row()
    right = np.asarray((wrong.fp + wrong.fn) == 0, dtype=np.float64)
    return mean_defined(right, 1.0 if s.weight is None else s.weight)
