"""Forms as expressions of SQL; how pieces are found is left to those who ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import float_info

from baserate._calibrator_forms import Between, ClassForm, Form, Knots, Line, LogOdds, OneVsRest, Softmax, Steps

Pieced = Callable[[Knots | Steps, str], str]
"""From pieces and a score, both as they stand, to an expression."""

_ONE = "1e0"
_FAR = "7e2"
"""Log-odds beyond which e is too large for some engines; there probabilities are within 1e-304 of 0 or 1."""


def number(value: float) -> str:
    """A number that is a double in SQL, to the last bit: without an exponent, engines take it for a decimal.

    >>> number(0.1), number(-2.0), number(1e-300)
    ('0.1e0', '(-2.0e0)', '1e-300')
    """
    written = repr(float(value))
    written = written if "e" in written else f"{written}e0"
    return f"({written})" if written.startswith("-") else written


def finite(score: str) -> str:
    """Whether a score is a finite number, in SQL; engines take NaN for greater than all numbers, or for none."""
    return f"{score} BETWEEN {number(-float_info.max)} AND {number(float_info.max)}"


def fits(form: Form | ClassForm, scores: Sequence[str]) -> str:
    """Whether scores can be mapped, in SQL."""
    one = (lambda score: f"{score} BETWEEN 0e0 AND {_ONE}") if form.of_probabilities else finite
    found = " AND ".join(map(one, scores))
    if form.of_probabilities and len(scores) > 1:
        found += f" AND {' + '.join(scores)} > 0e0"
    return found


def formula(form: Form, score: str, pieced: Pieced) -> str:
    """Probability of a score that fits."""
    if isinstance(form, LogOdds):
        return _log_odds(form, score)
    if isinstance(form, Line):
        return _share(f"{number(-form.slope)} * {score} - {number(form.intercept)}")
    if isinstance(form, Between):
        low, high = bounds(form, score, pieced)
        return f"{high} / ({_ONE} - {low} + {high})"
    return pieced(form, score)


def bounds(form: Between, score: str, pieced: Pieced) -> tuple[str, str]:
    """p₀ and p₁ of a score that fits."""
    return pieced(form.low, score), pieced(form.high, score)


def class_formulas(form: ClassForm, scores: Sequence[str], pieced: Pieced) -> list[str]:
    """Probability of each class, of scores that fit."""
    if isinstance(form, Softmax):
        return _softmax(form, scores)
    each = [f"({formula(one, score, pieced)})" for one, score in zip(form.forms, scores, strict=True)]
    return _shares(form, each)


def _log_odds(form: LogOdds, score: str) -> str:
    p = score
    if form.nearest:
        p = f"least(greatest({score}, {number(form.nearest)}), {number(1 - form.nearest)})"
    rest = f"({_ONE} - {p})"
    if form.a == form.b == 1:
        if form.c > 0:
            return f"{p} / ({p} + {rest} * {number(form.factor)})"
        times = f"{p} * {number(form.factor)}"
        return f"{times} / ({times} + {rest})"
    if form.a == form.b:
        moved = f"(ln({p}) - ln({rest})) * {number(-form.a)} - {number(form.c)}"
    else:
        moved = f"ln({p}) * {number(-form.a)} + ln({rest}) * {number(form.b)} - {number(form.c)}"
    if form.nearest:
        return _share(moved)
    return f"CASE WHEN {p} <= 0e0 THEN 0e0 WHEN {p} >= {_ONE} THEN {_ONE} ELSE {_share(moved)} END"


def _share(x: str) -> str:
    return f"{_ONE} / ({_ONE} + exp(least(greatest({x}, -{_FAR}), {_FAR})))"


def _softmax(form: Softmax, scores: Sequence[str]) -> list[str]:
    """1/Σⱼ exp(xⱼ − xₖ), which needs no greatest x to be safe."""
    near = number(form.nearest)
    given = [f"greatest({score}, {near})" if form.nearest else score for score in scores]
    moved = [f"({number(w)} * ln({p}) + {number(b)})" for w, p, b in zip(form.weight, given, form.bias, strict=True)]

    def term(of: int, other: int) -> str:
        if of == other:
            return _ONE
        ratio = f"exp(least(greatest({moved[other]} - {moved[of]}, -{_FAR}), {_FAR}))"
        return ratio if form.nearest else f"CASE WHEN {given[other]} > 0e0 THEN {ratio} ELSE 0e0 END"

    def share(of: int) -> str:
        found = f"{_ONE} / ({' + '.join(term(of, other) for other in range(len(given)))})"
        return found if form.nearest else f"CASE WHEN {given[of]} > 0e0 THEN {found} ELSE 0e0 END"

    return [share(of) for of in range(len(given))]


def _shares(form: OneVsRest, each: Sequence[str]) -> list[str]:
    total = f"({' + '.join(each)})"
    equal = number(1 / len(form.forms))
    return [f"CASE WHEN {total} < {number(float_info.min)} THEN {equal} ELSE {one} / {total} END" for one in each]
