"""`label_shift`: whether it is another prevalence, or something else."""

from __future__ import annotations

from collections.abc import Sequence

from baserate._rows import Rows
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate._target import Target
from baserate.calibrate._data import tally_of
from baserate.shift._two._assumption import Assumption, assumption
from baserate.shift._two._bins import BINS
from baserate.shift._two._given import Given


def label_shift(
    target: Target, validation: Tally | Tallies | Rows, *, bins: int | Sequence[float] = BINS
) -> Assumption:
    """Test whether only the shares of the classes differ, as far as scores can tell.

    A goodness of fit, whether the target's histogram is a mixture of those of the classes; and whether two estimates
    agree that label shift would make agree. The result says in words what was and what was not tested.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> noisier = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.5))
    >>> shift.label_shift(noisier, validation).doubtful
    True
    """
    return assumption(Given(target, tally_of(validation)), bins=bins)
