"""Python: export a calibrator or a policy as a function that needs nothing but the standard library.

The source of policies comes first (a table of cuts, and a lookup in it), then that of calibrators, then `as_python`.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator, Sequence
from itertools import product
from sys import float_info
from textwrap import wrap

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._calibrator_forms import Between, ClassForm, Form, Knots, Line, LogOdds, Softmax, Steps
from baserate._cut import DIGITS, Cut, Treatment
from baserate._domains import wrong_option
from baserate._formatting import count_of
from baserate._policy import REFUSE, Policy, policy_content, spellings
from baserate._tally import Group
from baserate.apply._sql import to_piecewise
from baserate.apply._task import AnyCalibrator, unsupported_artifact_error

_DOCSTRING_WIDTH = 100
_LABEL_HELPER = '''
def _text(label):
    """Spelling of a label of a group in files; None if it is missing."""
    label = label.item() if hasattr(label, "item") else label  # of NumPy
    if label is None or label != label:
        return None
    if isinstance(label, bool):
        return "true" if label else "false"
    return repr(label) if isinstance(label, float) else str(label)
'''
_ID_HELPER = '''
def _id(value):
    """Text of an id, which is hashed."""
    value = value.item() if hasattr(value, "item") else value  # of NumPy
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"the id is {value!r}; ids are whole numbers or text, and every row needs one")
    return str(value)
'''
_RANDOM_HELPER = f'''
def _random_number(id):
    """Random number of a record: the same for the same key and id, always and everywhere."""
    return int(hashlib.sha256(f"{{_KEY}}:{{id}}".encode()).hexdigest()[:{DIGITS}], 16)
'''
_TABLE_COMMENTS = {
    False: "thresholds, and actions from the lowest scores to the highest.",
    True: "cuts: first random number that selects it, thresholds, and actions from the lowest scores to the highest.",
}
"""Comment above the table of a deterministic and of a randomized policy."""
_RESERVED_NAMES = frozenset(("bisect", "hashlib", "math", "float", "_CUTS", "_KEY", "_text", "_id", "_random_number"))
"""Names that the generated source defines or uses itself."""


def _policy_parts(policy: Policy, name: str) -> list[str]:
    """Return the source of the table, of helpers for labels and ids, and of the function; without imports."""
    key = [f'_KEY = "{policy.key}"'] * policy.needs_id
    helpers = [*[_LABEL_HELPER] * policy.needs_group, *[_ID_HELPER, _RANDOM_HELPER] * policy.needs_id]
    return [
        "\n".join([*key, *_policy_table(policy)]),
        *(each.strip() for each in helpers),
        _policy_function(policy, name),
    ]


def _policy_table(policy: Policy) -> Iterator[str]:
    randomized = policy.needs_id
    yield f"# {'Of each group' if policy.needs_group else 'In turn'}: {_TABLE_COMMENTS[randomized]}"
    if not policy.needs_group:
        yield from _table_row("_CUTS = ", policy.by_group[()], "", randomized=randomized)
        return
    yield "_CUTS = {"
    for group, treatment in policy.by_group.items():
        yield from _table_row(f"    {_group_key(_group_spellings(group)[0])}: ", treatment, ",", randomized=randomized)
    yield "}"
    others = [(other, first) for first, *more in map(_group_spellings, policy.by_group) for other in more]
    if others:
        yield "# The same groups, written otherwise."
        yield "_CUTS |= {"
        yield from (f"    {_group_key(other)}: _CUTS[{_group_key(first)}]," for other, first in others)
        yield "}"


def _group_spellings(group: Group) -> list[tuple[str, ...]]:
    """Return the ways in which a group can be written, the usual one first."""
    return list(product(*map(spellings, group)))


def _group_key(texts: tuple[str, ...]) -> str:
    """Return the key of a group in the table: text if there is one attribute, otherwise a tuple."""
    return _python_literal(texts if len(texts) > 1 else texts[0])


def _table_row(begin: str, treatment: Treatment, end: str, *, randomized: bool) -> Iterator[str]:
    """Return the lines of one treatment in the table."""
    if isinstance(treatment, Cut) and not randomized:
        yield f"{begin}({_cut_literal(treatment)}){end}"
        return
    cuts = [(1.0, treatment)] if isinstance(treatment, Cut) else zip(treatment.chances, treatment.cuts, strict=True)
    firsts = (0,) if isinstance(treatment, Cut) else (0, *treatment.edges)
    margin = begin[: len(begin) - len(begin.lstrip())]
    yield f"{begin}("
    for first, (chance, cut) in zip(firsts, cuts, strict=True):
        yield f"{margin}    ({first}, {_cut_literal(cut)}),  # chance {chance!r}"
    yield f"{margin}){end}"


def _cut_literal(cut: Cut) -> str:
    return f"{_python_literal(cut.thresholds)}, {_python_literal(cut.actions)}"


def _python_literal(value: object) -> str:
    """Return a value as Python source; infinite numbers have no literal of their own."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_python_literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return "math.inf" if value > 0 else "-math.inf"
    # Every JSON string is a Python string, always in double quotes. `repr` of a float reads back as the same double.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _policy_function(policy: Policy, name: str) -> str:
    options = [*["group=None"] * policy.needs_group, *["id=None"] * policy.needs_id]
    lines = [
        f"def {name}({', '.join(['score', *['*'] * bool(options), *options])}) -> str:",
        *(f"    {line}".rstrip() for line in [*_docstring(policy), *_policy_body(policy)]),
    ]
    return "\n".join(lines)


def _policy_body(policy: Policy) -> Iterator[str]:
    yield "score = math.nan if score is None else float(score)"
    yield "if not math.isfinite(score):"
    yield '    raise ValueError(f"{score} is not a score")'
    if policy.needs_id:  # checked in every call, so that a missing id fails at once, and not only in some score range
        yield "id = _id(id)"
    if policy.needs_group:
        yield from _group_lines(policy)
    cuts = "cuts" if policy.needs_group else "_CUTS"
    if not policy.needs_id:
        yield f"thresholds, actions = {cuts}"
        yield "return actions[bisect.bisect_right(thresholds, score)]"
        return
    yield f"choices = [actions[bisect.bisect_right(thresholds, score)] for _, thresholds, actions in {cuts}]"
    yield "if len(set(choices)) == 1:"
    yield "    return choices[0]"
    yield f"return choices[bisect.bisect_right([first for first, _, _ in {cuts}], _random_number(id)) - 1]"


def _group_lines(policy: Policy) -> Iterator[str]:
    """Return the lines that look up the cuts of a group."""
    n_attributes = len(policy.attributes)
    if n_attributes > 1:
        yield f"group = (None,) * {n_attributes} if group is None else tuple(group)"
        yield f"if len(group) != {n_attributes}:"
        yield f'    raise ValueError(f"the group has the length {{len(group)}}; give {n_attributes} values")'
        yield "cuts = _CUTS.get(tuple(map(_text, group)))"
    else:
        yield "cuts = _CUTS.get(_text(group))"
    yield "if cuts is None:"
    refused = 'raise ValueError(f"there is no cut for the group {group!r}")'
    yield f"    {refused if policy.otherwise == REFUSE else f'return {_python_literal(policy.otherwise)}'}"


def _docstring(policy: Policy) -> Iterator[str]:
    first, *more = map(_escape, _describe_policy(policy))
    yield f'"""{first}'
    yield from more
    yield '"""'


def _escape(line: str) -> str:
    """Escape a line for use between triple quotes."""
    written = json.dumps(line, ensure_ascii=False)[1:-1]
    return written if '""' in line or line.endswith('"') else written.replace('\\"', '"')


def _describe_policy(policy: Policy) -> Iterator[str]:
    """Describe a policy in lines for the docstring of its function."""
    yield f"Return the action for a score: {', '.join(policy.actions)}."
    yield ""
    settings = json.dumps(policy_content(policy)["settings"], ensure_ascii=False)
    facts = {
        "rule": policy.rule + (f", {settings}" if policy.settings else ""),
        "chosen on": policy.chosen_on or "no data",
        "score": policy.columns.get("score"),
        "calibrator": policy.calibrator and f"{policy.calibrator.method}; thresholds are of scores before calibration",
        "group": ", ".join(policy.attributes),
        "otherwise": policy.otherwise if policy.needs_group else None,
        "id": "whole numbers or text, which randomize the decision" if policy.needs_id else None,
    }
    for topic, fact in facts.items():
        if fact:
            yield from wrap(f"{topic}: {fact}", _DOCSTRING_WIDTH, subsequent_indent="    ", break_long_words=False)
    yield ""
    yield "Raises ValueError for rows that cannot be decided. Written by baserate."


_TUPLE_WIDTH = 110
_SIGMOID_HELPER = '''
def _share(x):
    """1/(1 + eˣ), also where that overflows."""
    return 1.0 / (1.0 + math.exp(x)) if x < 709.0 else 0.0
'''


def as_python(artifact: AnyCalibrator | Policy, /, *, name: str | None = None) -> str:
    """Export a calibrator or a policy as the source of a function that needs nothing but the standard library.

    For a calibrator the function is called ``calibrated``, and computes the probability of one score; for several
    classes, the probabilities of a sequence with a score for each. For a policy it is
    ``decide(score, *, group=None, id=None)``, without the parameters that the policy does not need, and returns the
    action; with several attributes, a group is a tuple with a value for each. The function raises ValueError where
    `apply` would raise an error.

    Parameters
    ----------
    artifact
        A binary or multiclass calibrator, or a policy.
    name
        Name of the function.

    Returns
    -------
    str
        The source of a module.

    Raises
    ------
    OptionError
        If the name is not an identifier, or is used by the source itself.

    Examples
    --------
    >>> from math import log
    >>> from baserate._calibrator import shift_log_odds
    >>> module = {}
    >>> exec(as_python(shift_log_odds(log(4))), module)
    >>> round(module["calibrated"](0.2), 9)
    0.5
    >>> from baserate import Cut
    >>> exec(as_python(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")), module)
    >>> module["decide"](0.5)
    'flag'
    """
    function = _check_name(name, default="decide" if isinstance(artifact, Policy) else "calibrated")
    if isinstance(artifact, Policy):
        return _join_module(_policy_parts(artifact, function))
    if not isinstance(artifact, (Calibrator, MulticlassCalibrator)):
        raise unsupported_artifact_error(artifact)
    return _join_module([_calibrator_function(artifact, function)])


def _check_name(name: str | None, *, default: str) -> str:
    """Check the name of the function, and return it or the default."""
    if name is None:
        return default
    if not name.isidentifier() or keyword.iskeyword(name):
        raise wrong_option("name", name, f"an identifier of Python, such as {default!r}")
    if name in _RESERVED_NAMES or name == "_share":
        raise wrong_option("name", name, f"a name that the source does not use itself, such as {default!r}")
    return name


def _join_module(texts: Sequence[str]) -> str:
    """Join parts of a module, after the imports and helpers that they need."""
    text = "\n\n\n".join([*[_SIGMOID_HELPER.strip()] * any("_share(" in each for each in texts), *texts])
    # Imports and helpers are added where the text uses them; a mention in a docstring only adds an unused import.
    needed = [f"import {module}" for module in ("bisect", "hashlib", "math") if f"{module}." in text]
    return "\n\n\n".join([*["\n".join(needed)] * bool(needed), text]) + "\n"


def _calibrator_function(calibrator: AnyCalibrator, name: str) -> str:
    body = _multiclass_body(calibrator) if isinstance(calibrator, MulticlassCalibrator) else _binary_body(calibrator)
    lines = [
        f"def {name}({'scores' if isinstance(calibrator, MulticlassCalibrator) else 'score'}):",
        f"    {json.dumps(_describe_calibrator(calibrator), ensure_ascii=False)}",
        *body,
    ]
    return "\n".join(lines)


def _describe_calibrator(calibrator: AnyCalibrator) -> str:
    """Describe a calibrator in a line for the docstring of its function."""
    if isinstance(calibrator, MulticlassCalibrator):
        subject = f"Probabilities of {', '.join(calibrator.labels)}, in this order"
    else:
        subject = f"Probability of {calibrator.positive}" if calibrator.positive else "Probability"
    sample, names = calibrator.fitted, _score_columns(calibrator)
    fit = "" if sample is None else f", fitted on {count_of(sample.rows, 'row')} ({sample.digest})"
    columns = f"; scores: {', '.join(names)}" if names else ""
    return f"{subject}, by {calibrator.method}{fit}{columns}. Written by baserate."


def _score_columns(calibrator: AnyCalibrator) -> list[str]:
    if isinstance(calibrator, MulticlassCalibrator):
        return [*calibrator.columns.values()]
    return [name for key, name in calibrator.columns.items() if key == "score"]


def _binary_body(calibrator: Calibrator) -> list[str]:
    lines = [
        "score = float(score)",
        *_check_lines("score", calibrator.form),
        *_binary_lines(calibrator.form, "score", "probability"),
        "return probability",
    ]
    return [f"    {line}" for line in lines]


def _multiclass_body(calibrator: MulticlassCalibrator) -> list[str]:
    form, n_classes = calibrator.form, len(calibrator.labels)
    lines = [
        "scores = [float(score) for score in scores]",
        f"if len(scores) != {n_classes}:",
        f'    raise ValueError(f"there are {{len(scores)}} scores; give {n_classes}")',
        "for score in scores:",
        *(f"    {line}" for line in _check_lines("score", form)),
    ]
    if form.of_probabilities:
        lines += ["if not sum(scores) > 0:", '    raise ValueError("every class has probability 0")']
    return [f"    {line}" for line in [*lines, *_multiclass_lines(form)]]


def _check_lines(score: str, form: Form | ClassForm) -> list[str]:
    if form.of_probabilities:
        return [f"if not 0 <= {score} <= 1:", f'    raise ValueError(f"{{{score}}} is not a probability")']
    return [f"if not math.isfinite({score}):", f'    raise ValueError(f"{{{score}}} is not a score")']


def _binary_lines(form: Form, score: str, to: str) -> list[str]:
    """Return lines that assign the probability of a score to a variable."""
    if isinstance(form, LogOdds):
        return _log_odds_lines(form, score, to)
    if isinstance(form, Line):
        return [f"{to} = _share({-form.slope!r} * {score} {_subtraction(form.intercept)})"]
    if isinstance(form, Between):
        low, high = _piecewise_lines(form.low, score, "low"), _piecewise_lines(form.high, score, "high")
        return [*low, *high, f"{to} = high / (1.0 - low + high)"]
    return _piecewise_lines(form, score, to)


def _log_odds_lines(form: LogOdds, score: str, to: str) -> list[str]:
    lines = [f"p = {score}"]
    if form.nearest:
        lines = [f"p = min(max({score}, {form.nearest!r}), {1 - form.nearest!r})"]
    if form.a == form.b == 1:
        # The factor is exp(−|c|), at most 1: with c < 0 it multiplies p instead, and nothing overflows.
        if form.c > 0:
            return [*lines, f"{to} = p / (p + (1.0 - p) * {form.factor!r})"]
        return [*lines, f"p_times = p * {form.factor!r}", f"{to} = p_times / (p_times + (1.0 - p))"]
    negative = f"{-form.a!r} * math.log(p) + {form.b!r} * math.log1p(-p) {_subtraction(form.c)}"
    if form.a == form.b:
        negative = f"{-form.a!r} * (math.log(p) - math.log1p(-p)) {_subtraction(form.c)}"
    certain = "" if form.nearest else " if 0.0 < p < 1.0 else p"
    return [*lines, f"{to} = _share({negative}){certain}"]


def _subtraction(number: float) -> str:
    """Return the subtraction of a number, without a double sign."""
    return f"- {number!r}" if number >= 0 else f"+ {-number!r}"


def _piecewise_lines(form: Knots | Steps, score: str, to: str) -> list[str]:
    pieces = to_piecewise(form)
    # `bisect_right`: a score equal to a threshold belongs to the piece that begins there.
    lines = [
        *_tuple_lines("at", pieces.at),
        f"i = bisect.bisect_right(at, {score})",
        *_tuple_lines("value", pieces.value),
    ]
    if pieces.flat:
        return [*lines, f"{to} = value[i]"]
    lines += [*_tuple_lines("slope", pieces.slope), *_tuple_lines("start", pieces.start)]
    return [*lines, f"{to} = slope[i] * ({score} - start[i]) + value[i]"]


def _multiclass_lines(form: ClassForm) -> list[str]:
    """Return lines that return a probability for each class."""
    if isinstance(form, Softmax):
        return _softmax_lines(form)
    lines = ["shares = []"]
    for at, one in enumerate(form.forms):
        lines += [*_binary_lines(one, f"scores[{at}]", "each"), "shares.append(each)"]
    lines += ["total = sum(shares)", f"if total < {float_info.min!r}:"]
    return [*lines, f"    return [1.0 / {form.classes}] * {form.classes}", "return [each / total for each in shares]"]


def _softmax_lines(form: Softmax) -> list[str]:
    nearest = f"max(p, {form.nearest!r})" if form.nearest else "p"
    logit = f"w * math.log({nearest}) + b" + ("" if form.nearest else " if p > 0 else -math.inf")
    return [
        *_tuple_lines("weight", form.weight),
        *_tuple_lines("bias", form.bias),
        f"logits = [{logit} for w, b, p in zip(weight, bias, scores)]",
        "top = max(logits)",
        "shares = [math.exp(x - top) for x in logits]",
        "total = sum(shares)",
        "return [each / total for each in shares]",
    ]


def _tuple_lines(name: str, numbers: Floats) -> list[str]:
    """Return lines that assign a tuple of numbers; tuples of constants are built once, lists in every call."""
    lines, line = [f"{name} = ("], "   "
    for number in map(repr, numbers.tolist()):
        if len(line) + len(number) + 2 > _TUPLE_WIDTH:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return [*lines, *([line] if line.strip() else []), ")"]
