"""`label_shift`: whether it is another prevalence, or something else."""

from __future__ import annotations

from collections.abc import Sequence

from baserate._errors import OptionError
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies, Tally
from baserate._target import MulticlassTarget, Target
from baserate.calibrate import tally_of
from baserate.shift._several._goodness import label_shift as of_classes
from baserate.shift._two._assumption import Assumption, assumption
from baserate.shift._two._given import Given


def label_shift(
    target: Target | MulticlassTarget,
    validation: Tally | Tallies | Rows | MulticlassRows,
    *,
    bins: int | Sequence[float] | None = None,
) -> Assumption:
    """Test whether only the shares of the classes differ, as far as scores can tell.

    A goodness of fit, whether the target's histogram is a mixture of those of the classes; and whether two estimates
    agree that label shift would make agree. The result says in words what was and what was not tested. Of several
    classes it is a single test, whether some shares explain the means of all features (Hansen's).

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> noisier = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.5))
    >>> shift.label_shift(noisier, validation).doubtful
    True
    """
    if isinstance(target, MulticlassTarget) and isinstance(validation, MulticlassRows):
        return of_classes(target, validation)
    if isinstance(target, MulticlassTarget) or isinstance(validation, MulticlassRows):
        raise OptionError("of several classes, give a ClassTarget and ClassRows.")
    given = Given(target, tally_of(validation))
    given.check_information()
    return assumption(given, bins=bins)
