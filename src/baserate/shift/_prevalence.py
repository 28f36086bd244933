"""`prevalence`: the shares of the classes where nobody knows the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from baserate._errors import UnknownName
from baserate._numeric.logistic import NEAREST
from baserate._rows import Rows
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate._target import Target
from baserate.calibrate._data import tally_of
from baserate.shift._two._given import Given
from baserate.shift._two._methods import METHODS, estimated
from baserate.shift._two._result import Prevalence

ALIASES = {
    **dict.fromkeys(("em", "emq", "sld", "saerens"), "mlls"),
    **dict.fromkeys(("cm", "bbse-hard", "gacc"), "acc"),
    **dict.fromkeys(("scm", "bbse", "bbse-soft", "gpacc", "smm"), "pacc"),
    **dict.fromkeys(("cm-m", "cm-m-map"), "cm-map"),
    **dict.fromkeys(("scm-m", "scm-m-map"), "scm-map"),
    "rlls-soft": "rlls",
}
"""Names that others give to the same method."""

DEFAULT = "mlls"


def prevalence(
    target: Target,
    validation: Tally | Tallies | Rows,
    *,
    method: str = DEFAULT,
    level: float = 0.95,
    **options: Any,  # noqa: ANN401  (each method has its own)
) -> Prevalence:
    """Estimate the share of the positive class among scores without truth.

    It assumes label shift: the scores of each class are distributed as in the validation set, and only the shares of
    the classes differ; `label_shift` tests that. The interval includes how few rows validation has. `METHODS` names the
    methods, and `ALIASES` what others call them; without one it is maximum likelihood after recalibration, "mlls".
    Options are those of the method: `recalibrate` and `at` of mlls, `threshold` of those with hard decisions, `alpha`
    of those with a prior or a penalty, `bins` of binned.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> target = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.0))
    >>> shift.prevalence(target, validation)
    Prevalence(0.10344, 0.0638134 to 0.145034, by mlls)
    """
    name = named(method)
    given = Given(target, tally_of(validation), level)
    found = estimated(given, name, options)
    labelled = 0 if target.labelled is None else int(target.labelled.rows.sum(dtype=np.int64))
    notes = (*found.notes, *_certain(given, found), *given.notes())
    return replace(found, rows=len(target), labelled=labelled, notes=notes)


def named(method: str) -> str:
    """Find the method of that name, or of another name for it."""
    wanted = method.lower().replace("_", "-").replace(" ", "-")
    name = ALIASES.get(wanted, wanted)
    if name not in METHODS:
        raise UnknownName(f"no method is called {method!r}; known are: {', '.join([*METHODS, *ALIASES])}.")
    return name


def _certain(given: Given, found: Prevalence) -> tuple[str, ...]:
    """Tell how many rows of the target have no finite log-odds."""
    if found.map is None or not found.map.form.of_probabilities:
        return ()
    score, rows = given.score, given.target.rows
    there = (score < NEAREST) | (score > 1 - NEAREST)
    many = int(there.sum() if rows is None else rows[there].sum())
    return (f"{many} rows of the target have a probability of 0 or 1, or next to it.",) if many else ()
