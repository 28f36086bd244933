"""A policy as a function of Python: a table of its cuts, and a few lines that look a row up in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from textwrap import wrap

from baserate._cut import DIGITS, Cut, Treatment
from baserate._policy import REFUSE, Policy, policy_content, spellings
from baserate._tally import Group

_WIDTH = 100
_LABELS = '''
def _text(label):
    """How files write a label of a group; None if it is missing."""
    label = label.item() if hasattr(label, "item") else label  # of NumPy
    if label is None or label != label:
        return None
    if isinstance(label, bool):
        return "true" if label else "false"
    return repr(label) if isinstance(label, float) else str(label)
'''
_IDS = '''
def _id(given):
    """An id as it is hashed."""
    given = given.item() if hasattr(given, "item") else given  # of NumPy
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise ValueError(f"the id is {given!r}; ids are whole numbers or text, and every row needs one")
    return str(given)
'''
_LOTS = f'''
def _lot(id):
    """A number that the key and the id decide: a record has the same lot always and everywhere."""
    return int(hashlib.sha256(f"{{_KEY}}:{{id}}".encode()).hexdigest()[:{DIGITS}], 16)
'''
_HOLDS = {
    False: "thresholds, and actions from the lowest scores to the highest.",
    True: "cuts, with the first lot that draws each, thresholds, and actions from the lowest scores to the highest.",
}
"""What the table holds, without lots and with them."""
TAKEN = frozenset(("bisect", "hashlib", "math", "float", "_CUTS", "_KEY", "_text", "_id", "_lot"))
"""Names that the source uses itself."""


def parts(policy: Policy, name: str) -> list[str]:
    """The table, what reads labels and ids, and the function itself; imports are left to those who ask."""
    key = [f'_KEY = "{policy.key}"'] * policy.needs_id
    helpers = [*[_LABELS] * policy.needs_group, *[_IDS, _LOTS] * policy.needs_id]
    return ["\n".join([*key, *_table(policy)]), *(each.strip() for each in helpers), _function(policy, name)]


def _table(policy: Policy) -> Iterator[str]:
    lots = policy.needs_id
    yield f"# {'Of each group' if policy.needs_group else 'In turn'}: {_HOLDS[lots]}"
    if not policy.needs_group:
        yield from _row("_CUTS = ", policy.by_group[()], "", lots=lots)
        return
    yield "_CUTS = {"
    for group, treatment in policy.by_group.items():
        yield from _row(f"    {_key(_spelled(group)[0])}: ", treatment, ",", lots=lots)
    yield "}"
    others = [(other, first) for first, *more in map(_spelled, policy.by_group) for other in more]
    if others:
        yield "# The same groups, written otherwise."
        yield "_CUTS |= {"
        yield from (f"    {_key(other)}: _CUTS[{_key(first)}]," for other, first in others)
        yield "}"


def _spelled(group: Group) -> list[tuple[str, ...]]:
    """Return the ways in which a group is written, the usual one first."""
    return list(product(*map(spellings, group)))


def _key(texts: tuple[str, ...]) -> str:
    """A group in the table: text alone, if there is one attribute."""
    return _written(texts if len(texts) > 1 else texts[0])


def _row(begin: str, treatment: Treatment, end: str, *, lots: bool) -> Iterator[str]:
    """What is done with a group."""
    if isinstance(treatment, Cut) and not lots:
        yield f"{begin}({_pair(treatment)}){end}"
        return
    drawn = [(1.0, treatment)] if isinstance(treatment, Cut) else zip(treatment.chances, treatment.cuts, strict=True)
    firsts = (0,) if isinstance(treatment, Cut) else (0, *treatment.edges)
    margin = begin[: len(begin) - len(begin.lstrip())]
    yield f"{begin}("
    for first, (chance, cut) in zip(firsts, drawn, strict=True):
        yield f"{margin}    ({first}, {_pair(cut)}),  # chance {chance!r}"
    yield f"{margin}){end}"


def _pair(cut: Cut) -> str:
    return f"{_written(cut.thresholds)}, {_written(cut.actions)}"


def _written(value: object) -> str:
    """A value as Python reads it; infinite numbers have no literal."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return "math.inf" if value > 0 else "-math.inf"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _function(policy: Policy, name: str) -> str:
    asked = [*["group=None"] * policy.needs_group, *["id=None"] * policy.needs_id]
    lines = [
        f"def {name}({', '.join(['score', *['*'] * bool(asked), *asked])}) -> str:",
        *(f"    {line}".rstrip() for line in [*_docstring(policy), *_body(policy)]),
    ]
    return "\n".join(lines)


def _body(policy: Policy) -> Iterator[str]:
    yield "score = math.nan if score is None else float(score)"
    yield "if not math.isfinite(score):"
    yield '    raise ValueError(f"{score} is no score")'
    if policy.needs_id:  # of every row, so that a call without one fails at once, and not some day
        yield "id = _id(id)"
    if policy.needs_group:
        yield from _found(policy)
    cuts = "cuts" if policy.needs_group else "_CUTS"
    if not policy.needs_id:
        yield f"thresholds, actions = {cuts}"
        yield "return actions[bisect.bisect_right(thresholds, score)]"
        return
    yield f"drawn = [actions[bisect.bisect_right(thresholds, score)] for _, thresholds, actions in {cuts}]"
    yield "if len(set(drawn)) == 1:"
    yield "    return drawn[0]"
    yield f"return drawn[bisect.bisect_right([first for first, _, _ in {cuts}], _lot(id)) - 1]"


def _found(policy: Policy) -> Iterator[str]:
    """Lines that find the cuts of a group."""
    many = len(policy.attributes)
    if many > 1:
        yield f"group = (None,) * {many} if group is None else tuple(group)"
        yield f"if len(group) != {many}:"
        yield f'    raise ValueError(f"the group has the length {{len(group)}}; give {many} values")'
        yield "cuts = _CUTS.get(tuple(map(_text, group)))"
    else:
        yield "cuts = _CUTS.get(_text(group))"
    yield "if cuts is None:"
    refused = 'raise ValueError(f"there is no cut for the group {group!r}")'
    yield f"    {refused if policy.otherwise == REFUSE else f'return {_written(policy.otherwise)}'}"


def _docstring(policy: Policy) -> Iterator[str]:
    first, *more = map(_escaped, _told(policy))
    yield f'"""{first}'
    yield from more
    yield '"""'


def _escaped(line: str) -> str:
    """A line between triple quotes."""
    written = json.dumps(line, ensure_ascii=False)[1:-1]
    return written if '""' in line or line.endswith('"') else written.replace('\\"', '"')


def _told(policy: Policy) -> Iterator[str]:
    """What the function is, for its docstring."""
    yield f"What to do with a score: {', '.join(policy.actions)}."
    yield ""
    settings = json.dumps(policy_content(policy)["settings"], ensure_ascii=False)
    told = {
        "rule": policy.rule + (f", {settings}" if policy.settings else ""),
        "chosen on": policy.chosen_on or "nothing: nobody looked at data",
        "score": policy.columns.get("score"),
        "map": policy.map and f"{policy.map.method}, behind which it was chosen; thresholds are of scores before it",
        "group": ", ".join(policy.attributes),
        "otherwise": policy.otherwise if policy.needs_group else None,
        "id": "whole numbers or text, which lots are drawn with" if policy.needs_id else None,
    }
    for what, known in told.items():
        if known:
            yield from wrap(f"{what}: {known}", _WIDTH, subsequent_indent="    ", break_long_words=False)
    yield ""
    yield "ValueError is raised for what cannot be decided. Written by baserate."
