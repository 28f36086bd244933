"""Plan -> what one types: the flags of a shell, and commands or lines of Python to go on with."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from math import isinf
from typing import TYPE_CHECKING, Any

from baserate._costs import Costs
from baserate._passages import Command, Commands
from baserate.read import Spelled
from baserate.report._plan import Plan

if TYPE_CHECKING:
    from baserate.report._report import Report

_MOST = 3
"""Commands that one may try next."""
_POLICY = "policy.json"
_READ = ("truth", "score", "predicted", "positive", "negative", "group", "weight", "count", "missing")
_LABELS = ("positive", "negative")
_FLAGS: dict[str, str] = {"method": "interval"}
"""What a field is called in a shell, where that is not its own name."""
_USUAL: dict[str, Any] = {each.name: each.default for each in fields(Plan)}


def flags(plan: Plan, *more: str, policy: str = _POLICY) -> list[str]:
    """Return files and flags that make this plan in a shell, quoted; `policy` is where its policy was written.

    >>> from baserate import Costs
    >>> plan = Plan(files="my people.csv", truth="sick", score="risk", costs=Costs(fp=1, fn=20))
    >>> " ".join(flags(plan))
    "'my people.csv' --truth sick --score risk --fp 1 --fn 20"
    """
    names = (*_READ, "id", "apart", "prevalence", "costs", "threshold", "rule", "policy", "level", "method", "seed")
    return _spelled(plan, names, more, policy=policy)


def spelled(plan: Plan) -> dict[str, Any]:
    """Return what names the rows, in a shell and in Python, to which somebody adds where and how it will be used.

    >>> told = spelled(Plan(files="people.csv", truth="sick", score="risk", group="site", prevalence=0.02))
    >>> told["shell"]
    ['people.csv', '--truth', 'sick', '--score', 'risk', '--group', 'site']
    >>> told["files"], told["plan"]
    ('["people.csv"]', 'truth="sick", score=["risk"], group=["site"]')
    """
    more = ("level", "method", "seed")
    # Nothing could be added behind the mark that tells a name like an option from one.
    files = tuple(f"./{file}" if file.startswith("-") and file != "-" else file for file in plan.files)
    return {
        "shell": _spelled(replace(plan, files=files), (*_READ, *more), ()),
        "id": _spelled(replace(plan, files=()), ("id",), ()),
        "file": bool(plan.files),
        "files": _literal(plan.files),
        "plan": ", ".join(_keywords(plan, (*_READ, "id", *more))),
        "read": ", ".join(_keywords(plan, _READ, label=f"baserate.read.{Spelled.__name__}({{}})")),
    }


def _keywords(plan: Plan, names: Iterable[str], *, label: str = "{}") -> Iterator[str]:
    """Fields as keywords of Python, where they are not as usual; how a label that is text is written."""
    for name in names:
        value = getattr(plan, name)
        if name == "truth" or value != _USUAL[name]:
            told = _literal(value)
            yield f"{name}={label.format(told) if name in _LABELS and isinstance(value, str) else told}"


def _literal(value: Any) -> str:  # noqa: ANN401  (any field)
    """A value as Python writes it, text in double quotes."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def ahead(report: Report) -> Commands:
    """Return what one may do next: commands for a shell, or Python where rows were handed over."""
    if not report.plan.files:
        return Commands("Next, in Python", "python", tuple(_python(report)))
    return Commands("Next", "sh", tuple(_commands(report))[:_MOST])


def _commands(report: Report) -> Iterator[Command]:
    """Commands that fit the plan, of the first model; samples that are judged apart are not put together by others."""
    plan = report.plan
    if plan.score and not plan.apart:
        yield from (_command(why, verb, _of_one(plan, verb, *more)) for why, verb, *more in _fitting(report))
    yield _command("keep all of it", "report", flags(plan, "--save-json", "report.json"))


def _fitting(report: Report) -> Iterator[tuple[str, ...]]:
    """What for, a verb, and its own flags."""
    if report.plan.policy is None:
        yield "choose the cut-off, and keep it as a policy", "decide", "-o", _POLICY
    if report.plan.group:
        parity = ("--parity", "equal-opportunity", "-o", "by-group.json")
        yield "find the positives of all groups as often", "equalize", *parity
    if _is_off(report):
        yield "see where probabilities are off", "reliability"
    yield "draw it", "draw roc", "-o", "roc.svg"


_TAKES: dict[str, tuple[str, ...]] = {
    "decide": ("prevalence", "costs", "threshold", "rule"),
    "equalize": ("group", "prevalence", "costs"),
}
"""What a command takes of a plan, beside columns."""


def _of_one(plan: Plan, verb: str, *more: str) -> list[str]:
    """Spell the plan for a command that is of one model."""
    read = [name for name in _READ if name not in {"predicted", "group"}]
    return _spelled(replace(plan, score=plan.score[:1]), (*read, *_TAKES.get(verb, ())), more)


def _is_off(report: Report) -> bool:
    """Whether probabilities of some model are further off than a perfect model of this size would be."""
    rows = report.pick(measure="ece", where="here")
    return any(row["value"] > row["floor_high"] for row in rows if row["value"] is not None)


def _command(why: str, verb: str, words: Iterable[str]) -> Command:
    return Command(why, ("baserate", *verb.split(), *words))


def _python(report: Report) -> Iterator[Command]:
    first = report.models[0]
    of, policy = ("", "policy") if len(report.models) == 1 else (f".of({first!r})", f"policies[{first!r}]")
    yield Command("a number with its interval", (f"report{of}.there.precision",))
    yield Command("all numbers", ("report.frame()",))
    yield Command("decide new rows by it", (f'report.{policy}.save("{_POLICY}")',))
    yield Command("keep all of it", ('report.save("report.json")',))


def _spelled(plan: Plan, names: Iterable[str], more: Iterable[str], *, policy: str = _POLICY) -> list[str]:
    """Files, and flags of these fields where they are not as usual."""
    words: list[str] = []
    for name in names:
        value = getattr(plan, name)
        if value == _USUAL[name] and name != "truth":
            continue
        if name == "costs":
            words += (word for cell, cost in _priced(value) for word in _flag(cell, cost))
        elif name == "apart":
            words.append("--apart")
        else:
            words += _flag(name, policy if name == "policy" else value)
    # A name like an option is told from one by what stands before it.
    odd = any(file.startswith("-") and file != "-" for file in plan.files)
    files = list(map(shlex.quote, plan.files))
    return [*words, *more, "--", *files] if odd else [*files, *words, *more]


def _priced(costs: Costs) -> Iterator[tuple[str, float]]:
    """Costs of errors, and of the rest where it is not free."""
    each = ((cell, getattr(costs, cell)) for cell in ("fp", "fn", "tp", "tn"))
    return ((cell, cost) for cell, cost in each if cost or cell in {"fp", "fn"})


def _flag(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401  (any field)
    for each in value if isinstance(value, tuple) else (value,):
        text = _text(each)
        flag = f"--{_FLAGS.get(name, name)}"
        yield from [shlex.quote(f"{flag}={text}")] if text.startswith("-") else [flag, shlex.quote(text)]


def _text(value: Any) -> str:  # noqa: ANN401  (any value of a field)
    """A value as it is typed; numbers in full."""
    if isinstance(value, float):
        return "inf" if isinf(value) and value > 0 else repr(value).removesuffix(".0")
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_text(each)}" for name, each in value.items())
    return str(value)
