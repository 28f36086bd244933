"""Forms of calibrators: formulas from scores to probabilities that can be called, compared and written to a file.

Each takes an array of checked scores and returns an array of probabilities. `apply` writes the same formulas in SQL and
in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from baserate._arrays import Floats, keep_read_only, read_only_copy
from baserate._errors import ShapeError
from baserate._formatting import count_of

_FARTHEST = 700.0
"""Largest offset: beyond it exp() is 0 or infinite, and probabilities of 0 and 1 become NaN."""
_TOTAL = np.finfo(np.float64).tiny
"""Smallest sum of probabilities that can be normalized: below it, subnormal numbers have lost digits."""


@dataclass(frozen=True, slots=True)
class LogOdds:
    r"""Probabilities transformed linearly on the scale of log-odds, :math:`σ(c+a\ln p-b\ln(1-p))`.

    Every closed form is one of these: an offset has a = b = 1, a temperature a = b and c = 0, a logistic curve a = b,
    and beta calibration has all three [@kull2017]. Probabilities nearer to 0 or 1 than `nearest` are taken as `nearest`
    to them; with 0, probabilities of 0 and 1 do not change.

    >>> LogOdds(1.0, 1.0, np.log(0.25))(np.array([0.0, 0.5, 0.8, 1.0])).round(9).tolist()
    [0.0, 0.2, 0.5, 1.0]
    """

    a: float
    b: float
    c: float
    nearest: float = 0.0

    kind: ClassVar[str] = "log-odds"
    of_probabilities: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.a < 0 or self.b < 0:
            raise ShapeError(f"a is {self.a} and b is {self.b}; expected 0 or more, so that the order is preserved.")
        # With a or b of 0 a score of 0 or 1 would give 0·∞, unless scores are clipped.
        if not (0 < self.nearest < 0.5 or (self.nearest == 0 and self.a > 0 and self.b > 0)):
            raise ShapeError(f"nearest is {self.nearest}; expected a number in (0, ½), or 0 if a and b are above 0.")

    def __call__(self, p: Floats) -> Floats:
        """Return the calibrated probabilities."""
        if self.nearest:
            p = np.clip(p, self.nearest, 1 - self.nearest)
        if self.a == self.b == 1:
            return self._scale_odds(p)
        # ln 0 = −∞ and an overflow of exp give the right limits, 0 and 1. log1p(−p) keeps the digits of a small p that
        # 1 − p would round away.
        with np.errstate(divide="ignore", over="ignore"):
            x = np.log(p)
            if self.a == self.b:
                x -= np.log1p(-p)
                x *= -self.a
            else:
                x *= -self.a
                x += self.b * np.log1p(-p)
            x -= self.c
            return _share(x)

    def _scale_odds(self, p: Floats) -> Floats:
        """Multiply the odds by one factor; without logarithms, so that 0 and 1 need no special case."""
        if self.c > 0:
            shares: Floats = p / (p + (1 - p) * self.factor)
            return shares
        times: Floats = p * self.factor
        times /= times + (1 - p)
        return times

    @property
    def factor(self) -> float:
        """Factor at most 1, by which the odds against (c > 0) or the odds for are multiplied."""
        # A large factor times the odds would overflow; its reciprocal times the opposite odds does not.
        return float(np.exp(-min(abs(self.c), _FARTHEST)))

    @property
    def rises(self) -> bool:
        """Whether the probability increases strictly with the score."""
        return self.a > 0 or self.b > 0

    @property
    def never_falls(self) -> bool:
        """Whether the probability never decreases with the score."""
        return True


@dataclass(frozen=True, slots=True)
class Line:
    r"""Scores of any kind as log-odds, :math:`σ(a+bx)`.

    >>> Line(0.0, np.log(3))(np.array([-1.0, 0.0, 1.0])).round(4).tolist()
    [0.25, 0.5, 0.75]
    """

    intercept: float
    slope: float

    kind: ClassVar[str] = "line"
    of_probabilities: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.slope < 0:
            raise ShapeError(f"slope is {self.slope}; expected 0 or more, so that the order is preserved.")

    def __call__(self, x: Floats) -> Floats:
        """Return the probabilities of scores."""
        with np.errstate(over="ignore"):  # exp may overflow to infinity, and the probability is 0
            return _share(-self.slope * x - self.intercept)

    @property
    def rises(self) -> bool:
        """Whether the probability increases strictly with the score."""
        return self.slope > 0

    @property
    def never_falls(self) -> bool:
        """Whether the probability never decreases with the score."""
        return True


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Knots:
    """Straight between knots (x, y), constant outside them.

    >>> Knots(np.array([0.2, 0.6]), np.array([0.1, 0.5]))(np.array([0.0, 0.4, 1.0])).round(9).tolist()
    [0.1, 0.3, 0.5]
    """

    x: Floats
    y: Floats
    of_probabilities: bool = False
    """Whether it takes probabilities: then a score outside [0, 1] is an error."""

    kind: ClassVar[str] = "knots"

    def __post_init__(self) -> None:
        _check_pieces(self, "knots", len(self.x))
        if not len(self.x):
            raise ShapeError("there are no knots", remedy="give at least one.")

    def __call__(self, x: Floats) -> Floats:
        """Return the probabilities of scores."""
        probabilities: Floats = np.interp(x, self.x, self.y)
        return probabilities

    @property
    def rises(self) -> bool:
        """Whether a higher score always means a higher probability, between the first and the last knot."""
        return bool((np.diff(self.y) > 0).all())

    @property
    def never_falls(self) -> bool:
        """Whether the probability never decreases with the score."""
        return bool((np.diff(self.y) >= 0).all())


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Constant between thresholds: y[0] below the first, then y[i] from x[i − 1] on.

    >>> Steps(np.array([0.5]), np.array([0.1, 0.7]))(np.array([0.4, 0.5, 0.6])).tolist()
    [0.1, 0.7, 0.7]
    """

    x: Floats
    y: Floats
    of_probabilities: bool = False
    """Whether it takes probabilities: then a score outside [0, 1] is an error."""

    kind: ClassVar[str] = "steps"

    def __post_init__(self) -> None:
        _check_pieces(self, "thresholds", len(self.x) + 1)

    def __call__(self, x: Floats) -> Floats:
        """Return the probabilities of scores."""
        # "right", so that a score at a threshold belongs to the step above it, as flagging does.
        return self.y[np.searchsorted(self.x, x, side="right")]

    @property
    def rises(self) -> bool:
        """Whether the probability increases strictly with the score."""
        return False

    @property
    def never_falls(self) -> bool:
        """Whether the probability never decreases with the score."""
        return bool((np.diff(self.y) >= 0).all())


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """Two probabilities p₀ ≤ p₁, one of which is right, merged as p₁/(1 − p₀ + p₁) [@vovk2015].

    >>> fifth, two_fifths = (Steps(np.array([]), np.array([share])) for share in (0.2, 0.4))
    >>> Between(fifth, two_fifths)(np.array([0.7])).round(4).tolist()
    [0.3333]
    """

    low: Steps
    high: Steps

    kind: ClassVar[str] = "between"

    def __call__(self, x: Floats) -> Floats:
        """Return the merged probabilities of scores."""
        low, high = self.bounds(x)
        # p₁ ≥ p₀, so the divisor is 1 at least.
        low = 1 - low
        low += high
        return np.divide(high, low, out=low)

    def bounds(self, x: Floats) -> tuple[Floats, Floats]:
        """Return p₀ and p₁ of scores."""
        return self.low(x), self.high(x)

    @property
    def of_probabilities(self) -> bool:
        """Whether it takes probabilities only."""
        return self.low.of_probabilities

    @property
    def rises(self) -> bool:
        """Whether the probability increases strictly with the score."""
        return False

    @property
    def never_falls(self) -> bool:
        """Whether the probability never decreases with the score."""
        return self.low.never_falls and self.high.never_falls


Form = LogOdds | Line | Knots | Steps | Between


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Softmax:
    r"""Probabilities of several classes, transformed linearly as logarithms, :math:`\mathrm{softmax}(w_k\ln p_k+b_k)`.

    A temperature has equal weights and no bias, a change of priors weights of 1. Probabilities nearer to 0 than
    `nearest` are taken as `nearest`; with 0, probabilities of 0 do not change.

    >>> Softmax(np.ones(2), np.log([0.25, 1.0]))(np.array([[0.5, 0.5], [0.8, 0.2]])).round(9).tolist()
    [[0.2, 0.8], [0.5, 0.5]]
    """

    weight: Floats
    bias: Floats
    nearest: float = 0.0

    kind: ClassVar[str] = "softmax"
    of_probabilities: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.weight.ndim != 1 or self.weight.shape != self.bias.shape or len(self.weight) < 2:
            raise ShapeError("weight and bias need one number for each of two or more classes.")
        if not (0 < self.nearest < 0.5 or (self.nearest == 0 and (self.weight > 0).all())):
            raise ShapeError(
                f"nearest is {self.nearest}; expected a number in (0, ½), or 0 if all weights are above 0."
            )

    def __call__(self, p: Floats) -> Floats:
        """Return the calibrated probabilities of each row."""
        with np.errstate(divide="ignore"):
            x = np.log(np.maximum(p, self.nearest))
        x *= self.weight
        x += self.bias
        # Shares do not change, and exp cannot overflow. The maximum is finite: a row of zeros was refused.
        x -= x.max(axis=1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(axis=1, keepdims=True)
        return x

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class OneVsRest:
    """Each class by a form of its own, then divided by their sum; where that is 0, all are equally likely.

    >>> half, tenth = Knots(np.array([0.5]), np.array([0.5])), Knots(np.array([0.5]), np.array([0.1]))
    >>> OneVsRest((half, tenth))(np.array([[0.3, 0.7]])).round(4).tolist()
    [[0.8333, 0.1667]]
    """

    forms: tuple[Form, ...]

    kind: ClassVar[str] = "one-vs-rest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", tuple(self.forms))
        if len(self.forms) < 2:
            raise ShapeError(
                f"there are forms for {count_of(len(self.forms), 'class', 'classes')}",
                remedy="give one for each of two or more.",
            )

    def __call__(self, p: Floats) -> Floats:
        """Return the calibrated probabilities of each row."""
        shares = np.empty(p.shape)
        for at, form in enumerate(self.forms):
            shares[:, at] = form(np.ascontiguousarray(p[:, at]))
        total = shares.sum(axis=1, keepdims=True)
        unknown = total[:, 0] < _TOTAL
        if unknown.any():
            shares[unknown], total[unknown] = 1.0, float(len(self.forms))
        shares /= total
        return shares

    @property
    def of_probabilities(self) -> bool:
        """Whether it takes probabilities only."""
        return any(form.of_probabilities for form in self.forms)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.forms)


ClassForm = Softmax | OneVsRest


def _share(x: Floats) -> Floats:
    """Return 1/(1 + eˣ), computed in place."""
    np.exp(x, out=x)
    x += 1
    return np.reciprocal(x, out=x)


def _check_numbers(form: Any) -> None:  # noqa: ANN401  (a form whose fields are numbers)
    for field in fields(form):
        value = getattr(form, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(form, field.name, read_only_copy(value))
        if not np.isfinite(value).all():
            raise ShapeError(f"{field.name} is {value}", remedy="give finite numbers.")


def _check_pieces(form: Any, what: str, values: int) -> None:  # noqa: ANN401  (a form of pieces)
    _check_numbers(form)
    if form.x.ndim != 1 or form.y.shape != (values,):
        pieces = count_of(len(form.x), what.removesuffix("s"))
        raise ShapeError(f"x has shape {form.x.shape} and y {form.y.shape}", remedy=f"give {values} of y for {pieces}.")
    if not (form.x[1:] > form.x[:-1]).all():
        raise ShapeError(f"the {what} do not rise", remedy="put them in order, each once.")
    if len(form.y) and not (form.y.min() >= 0 and form.y.max() <= 1):
        raise ShapeError("y holds numbers outside [0, 1]", remedy="give probabilities.")


FORMS: dict[str, type[Form | ClassForm]] = {
    form.kind: form for form in (LogOdds, Line, Knots, Steps, Between, Softmax, OneVsRest)
}


def form_to_json(form: Form | ClassForm) -> dict[str, Any]:
    """Convert a form to values of JSON, with every number exact.

    >>> form_to_json(Line(0.5, 2.0))
    {'form': 'line', 'intercept': 0.5, 'slope': 2.0}
    """
    return {"form": form.kind} | {field.name: _value_to_json(getattr(form, field.name)) for field in fields(form)}


def form_from_json(content: Any) -> Any:  # noqa: ANN401  (a form of either kind)
    """Convert the values of `form_to_json` back, checking them.

    >>> form_from_json({"form": "line", "intercept": 0.5, "slope": 2.0})
    Line(intercept=0.5, slope=2.0)
    """
    if not isinstance(content, dict) or content.get("form") not in FORMS:
        raise ShapeError(f"there is no form {content.get('form') if isinstance(content, dict) else content!r}.")
    kind = FORMS[content["form"]]
    wanted = {field.name for field in fields(kind)}
    if set(content) != wanted | {"form"}:
        raise ShapeError(f"{kind.kind} with the fields {sorted(content)}; expected {sorted(wanted | {'form'})}.")
    values = {name: _value_from_json(content[name]) for name in wanted}
    for name, value in values.items():
        if isinstance(value, bool) != (name == "of_probabilities"):
            raise ShapeError(f"{name} is {value!r}, a value of the wrong type.")
    return kind(**values)


def _value_to_json(value: Any) -> Any:  # noqa: ANN401  (a number, an array, or forms)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, bool):  # before numbers: True is an int in Python
        return value
    if isinstance(value, tuple):
        return [form_to_json(each) for each in value]
    return float(value) if isinstance(value, (int, float)) else form_to_json(value)


def _value_from_json(value: Any) -> Any:  # noqa: ANN401  (a number, an array, or forms)
    if isinstance(value, dict):
        return form_from_json(value)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return tuple(form_from_json(each) for each in value)
    if not isinstance(value, (int, float, list)):
        raise ShapeError(f"{value!r} is not a number.")
    if isinstance(value, bool):
        return value
    return np.array(value, dtype=np.float64) if isinstance(value, list) else float(value)
