"""A map or a policy as a function of Python that needs nothing but the standard library."""

from __future__ import annotations

import json
import keyword
from collections.abc import Sequence
from sys import float_info

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._calibrator_forms import Between, ClassForm, Form, Knots, Line, LogOdds, Softmax, Steps
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate._policy import Policy
from baserate.apply._pieces import pieces
from baserate.apply._policy_python import TAKEN, parts

_WIDTH = 110
_SHARE = '''
def _share(x):
    """1/(1 + eˣ), also where that overflows."""
    return 1.0 / (1.0 + math.exp(x)) if x < 709.0 else 0.0
'''


def as_python(of: Calibrator | MulticlassCalibrator | Policy, /, *, name: str | None = None) -> str:
    """Write a map or a policy as the source of a function that needs nothing but the standard library.

    Of a map it is called ``calibrated``, and makes a probability of one score; of several classes, probabilities of a
    sequence with a score for each. Of a policy it is ``decide(score, *, group=None, id=None)``, without those that the
    policy does not ask for, and tells the action; of several attributes, a group is a tuple with a value for each. It
    raises ValueError for what `apply` would refuse.

    >>> from math import log
    >>> from baserate._calibrator import shift_log_odds
    >>> made = {}
    >>> exec(as_python(shift_log_odds(log(4))), made)
    >>> round(made["calibrated"](0.2), 9)
    0.5
    >>> from baserate import Cut
    >>> exec(as_python(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")), made)
    >>> made["decide"](0.5)
    'flag'
    """
    called = _checked(name, usual="decide" if isinstance(of, Policy) else "calibrated")
    if isinstance(of, Policy):
        return _module(parts(of, called))
    if not isinstance(of, (Calibrator, MulticlassCalibrator)):
        raise OptionError(f"{type(of).__name__} is neither a map nor a policy; read one with load_map or Policy.load.")
    return _module([_function(of, called)])


def _checked(name: str | None, *, usual: str) -> str:
    """Name of the function, if it can be one."""
    if name is None:
        return usual
    if not name.isidentifier() or keyword.iskeyword(name):
        raise OptionError(f"name is {name!r}; a function needs a name that Python can read, such as {usual!r}.")
    if name in TAKEN or name == "_share":
        raise OptionError(f"name is {name!r}, which the source uses itself; give another, such as {usual!r}.")
    return name


def _module(texts: Sequence[str]) -> str:
    """Put what they need before several texts."""
    text = "\n\n\n".join([*[_SHARE.strip()] * any("_share(" in each for each in texts), *texts])
    needed = [f"import {module}" for module in ("bisect", "hashlib", "math") if f"{module}." in text]
    return "\n\n\n".join([*["\n".join(needed)] * bool(needed), text]) + "\n"


def _function(map_: Calibrator | MulticlassCalibrator, name: str) -> str:
    body = _class_body(map_) if isinstance(map_, MulticlassCalibrator) else _body(map_)
    lines = [
        f"def {name}({'scores' if isinstance(map_, MulticlassCalibrator) else 'score'}):",
        f"    {json.dumps(_told(map_), ensure_ascii=False)}",
        *body,
    ]
    return "\n".join(lines)


def _told(map_: Calibrator | MulticlassCalibrator) -> str:
    """What the function is, for its docstring."""
    what = f"Probability of {map_.positive}" if isinstance(map_, Calibrator) and map_.positive else "Probability"
    if isinstance(map_, MulticlassCalibrator):
        what = f"Probabilities of {', '.join(map_.labels)}, in this order"
    fitted = "" if map_.fitted is None else f", fitted on {count_of(map_.fitted.rows, 'row')} ({map_.fitted.digest})"
    columns = f"; scores: {', '.join(_columns(map_))}" if _columns(map_) else ""
    return f"{what}, by {map_.method}{fitted}{columns}. Written by baserate."


def _columns(map_: Calibrator | MulticlassCalibrator) -> list[str]:
    return [name for key, name in map_.columns.items() if isinstance(map_, MulticlassCalibrator) or key == "score"]


def _body(map_: Calibrator) -> list[str]:
    lines = ["score = float(score)", *_check("score", map_.form), *_lines(map_.form, "score", "found"), "return found"]
    return [f"    {line}" for line in lines]


def _class_body(map_: MulticlassCalibrator) -> list[str]:
    form, many = map_.form, len(map_.labels)
    lines = [
        "scores = [float(score) for score in scores]",
        f"if len(scores) != {many}:",
        f'    raise ValueError(f"there are {{len(scores)}} scores; give {many}")',
        "for score in scores:",
        *(f"    {line}" for line in _check("score", form)),
    ]
    if form.of_probabilities:
        lines += ["if not sum(scores) > 0:", '    raise ValueError("every class has probability 0")']
    return [f"    {line}" for line in [*lines, *_class_lines(form)]]


def _check(score: str, form: Form | ClassForm) -> list[str]:
    if form.of_probabilities:
        return [f"if not 0 <= {score} <= 1:", f'    raise ValueError(f"{{{score}}} is no probability")']
    return [f"if not math.isfinite({score}):", f'    raise ValueError(f"{{{score}}} is no score")']


def _lines(form: Form, score: str, to: str) -> list[str]:
    """Lines that put the probability of a score into a variable."""
    if isinstance(form, LogOdds):
        return _log_odds(form, score, to)
    if isinstance(form, Line):
        return [f"{to} = _share({-form.slope!r} * {score} {_less(form.intercept)})"]
    if isinstance(form, Between):
        low, high = _pieced(form.low, score, "low"), _pieced(form.high, score, "high")
        return [*low, *high, f"{to} = high / (1.0 - low + high)"]
    return _pieced(form, score, to)


def _log_odds(form: LogOdds, score: str, to: str) -> list[str]:
    lines = [f"p = {score}"]
    if form.nearest:
        lines = [f"p = min(max({score}, {form.nearest!r}), {1 - form.nearest!r})"]
    if form.a == form.b == 1:
        if form.c > 0:
            return [*lines, f"{to} = p / (p + (1.0 - p) * {form.factor!r})"]
        return [*lines, f"p_times = p * {form.factor!r}", f"{to} = p_times / (p_times + (1.0 - p))"]
    moved = f"{-form.a!r} * math.log(p) + {form.b!r} * math.log1p(-p) {_less(form.c)}"
    if form.a == form.b:
        moved = f"{-form.a!r} * (math.log(p) - math.log1p(-p)) {_less(form.c)}"
    certain = "" if form.nearest else " if 0.0 < p < 1.0 else p"
    return [*lines, f"{to} = _share({moved}){certain}"]


def _less(number: float) -> str:
    """A number taken away."""
    return f"- {number!r}" if number >= 0 else f"+ {-number!r}"


def _pieced(form: Knots | Steps, score: str, to: str) -> list[str]:
    of = pieces(form)
    lines = [*_listed("at", of.at), f"i = bisect.bisect_right(at, {score})", *_listed("value", of.value)]
    if of.flat:
        return [*lines, f"{to} = value[i]"]
    lines += [*_listed("slope", of.slope), *_listed("start", of.start)]
    return [*lines, f"{to} = slope[i] * ({score} - start[i]) + value[i]"]


def _class_lines(form: ClassForm) -> list[str]:
    """Lines that return a probability for each class."""
    if isinstance(form, Softmax):
        return _softmax(form)
    lines = ["found = []"]
    for at, one in enumerate(form.forms):
        lines += [*_lines(one, f"scores[{at}]", "each"), "found.append(each)"]
    lines += ["total = sum(found)", f"if total < {float_info.min!r}:"]
    return [*lines, f"    return [1.0 / {form.classes}] * {form.classes}", "return [each / total for each in found]"]


def _softmax(form: Softmax) -> list[str]:
    nearest = f"max(p, {form.nearest!r})" if form.nearest else "p"
    moved = f"w * math.log({nearest}) + b" + ("" if form.nearest else " if p > 0 else -math.inf")
    return [
        *_listed("weight", form.weight),
        *_listed("bias", form.bias),
        f"moved = [{moved} for w, b, p in zip(weight, bias, scores)]",
        "top = max(moved)",
        "found = [math.exp(x - top) for x in moved]",
        "total = sum(found)",
        "return [each / total for each in found]",
    ]


def _listed(name: str, numbers: Floats) -> list[str]:
    """A tuple of numbers, in lines that people can read; constants, so that they are made once."""
    lines, line = [f"{name} = ("], "   "
    for number in map(repr, numbers.tolist()):
        if len(line) + len(number) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return [*lines, *([line] if line.strip() else []), ")"]
