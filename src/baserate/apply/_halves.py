"""Maps as expressions of SQL for any engine: pieces are nested cases, halved at each."""

from __future__ import annotations

from functools import partial

import numpy as np

from baserate._calibrator_forms import Form, Knots, Line, LogOdds, Steps
from baserate.apply._cases import Case, When, in_line
from baserate.apply._dialects import Dialect
from baserate.apply._formulas import formula, number
from baserate.apply._pieces import Pieces, pieces

_TINY = "1e-300"
"""Scores that are nearer to 0 count as 0 where products of them would be errors."""


def probability(form: Form, score: str, say: Dialect) -> str | Case:
    """Probability of a score that fits."""
    found = halves(form, score) if isinstance(form, (Knots, Steps)) else formula(form, score, partial(cases, say))
    if not (say.underflows and _multiplies(form)):
        return found
    at_zero = number(float(form(np.zeros(1))[0]))
    return Case((When((f"{score} BETWEEN -{_TINY} AND {_TINY}",), at_zero),), found)


def _multiplies(form: Form) -> bool:
    """Whether a score is multiplied by what may be less than 1."""
    if isinstance(form, LogOdds):
        return form.a == form.b == 1 and form.c <= 0
    return isinstance(form, (Knots, Line))


def cases(say: Dialect, form: Knots | Steps, score: str) -> str:
    """Pieces as nested cases in one line; bare numbers are decimals in PostgreSQL, and reckoned with as such."""
    return f"CAST({in_line(halves(form, score))} AS {say.double})"


def halves(form: Knots | Steps, score: str) -> str | Case:
    """Pieces as nested cases: the deepest lies as deep as a binary search goes."""
    return _halved(pieces(form), score, 0, len(form.x))


def _halved(of: Pieces, score: str, first: int, last: int) -> str | Case:
    """Pieces from the first to the last."""
    if first == last:
        value = number(of.value[first])
        if not of.slope[first]:
            return value
        return f"{value} + {number(of.slope[first])} * ({score} - {number(of.start[first])})"
    middle = (first + last + 1) // 2
    low, high = _halved(of, score, first, middle - 1), _halved(of, score, middle, last)
    return Case((When((f"{score} < {number(of.at[middle - 1])}",), low),), high)
