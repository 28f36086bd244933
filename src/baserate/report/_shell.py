"""Plan -> what one types: words of a shell, and keywords of Python."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from math import isfinite, isinf
from typing import Any

import numpy as np

from baserate._costs import Costs
from baserate.read import Spelled
from baserate.report._plan import Plan

READ = ("truth", "score", "predicted", "positive", "negative", "group", "weight", "count", "missing")
_LABELS = ("positive", "negative")
_FLAGS: dict[str, str] = {"method": "--interval", "output": "-o"}
"""What a field or an option is called in a shell, where that is not its own name."""
_USUAL: dict[str, Any] = {each.name: each.default for each in fields(Plan)}


def flags(plan: Plan, *more: str) -> list[str]:
    """Return files and flags that make this plan in a shell, quoted.

    >>> from baserate import Costs
    >>> plan = Plan(files="my people.csv", truth="sick", score="risk", costs=Costs(fp=1, fn=20))
    >>> " ".join(flags(plan))
    "'my people.csv' --truth sick --score risk --fp 1 --fn 20"
    """
    names = (*READ, "id", "apart", "prevalence", "costs", "threshold", "rule", "policy", "level", "method", "seed")
    return spell_words(plan, names, more)


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
        "shell": spell_words(replace(plan, files=files), (*READ, *more), ()),
        "id": spell_words(replace(plan, files=()), ("id",), ()),
        "file": bool(plan.files),
        "files": literal(plan.files),
        "plan": ", ".join(keywords(plan, (*READ, "id", *more))),
        "read": ", ".join(keywords(plan, READ, spelled=True)),
        "policy": plan.policy_file and shlex.quote(plan.policy_file),
        "policy_file": plan.policy_file and literal(plan.policy_file),
    }


def keywords(plan: Plan, names: Iterable[str], *, spelled: bool = False) -> Iterator[str]:
    """Return fields as keywords of Python, where they are not as usual; labels that are text perhaps as `Spelled`."""
    for name in names:
        value = getattr(plan, name)
        if (name == "truth" and value) or value != _USUAL[name]:
            typed = literal(value)
            label = spelled and name in _LABELS and isinstance(value, str)
            yield f"{name}={f'baserate.read.{Spelled.__name__}({typed})' if label else typed}"


def literal(value: Any) -> str:  # noqa: ANN401  (any field)
    """Return a value as Python writes it, text in double quotes.

    >>> print(literal(("a", 1)), literal(Costs(fp=1, fn=20)), literal(float("-inf")))
    ["a", 1] baserate.Costs(fp=1, fn=20) float("-inf")
    """
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, tuple):
        return f"[{', '.join(map(literal, plain))}]"
    if isinstance(plain, Mapping):
        return f"{{{', '.join(f'{literal(name)}: {literal(each)}' for name, each in plain.items())}}}"
    if isinstance(plain, Costs):
        return f"baserate.Costs({', '.join(f'{cell}={_text(cost)}' for cell, cost in _priced(plain))})"
    if isinstance(plain, float) and not isfinite(plain):
        return f'float("{plain}")'
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, str) else repr(plain)


def spell_words(plan: Plan, names: Iterable[str], more: Iterable[str]) -> list[str]:
    """Return files, and flags of these fields where they are not as usual, each quoted; `more` are flags already."""
    words: list[str] = []
    for name in names:
        value: Any = plan.policy_file if name == "policy" else getattr(plan, name)
        if value is None or (value == _USUAL[name] and name != "truth"):
            continue
        if name == "costs":
            words += (word for cell, cost in _priced(value) for word in option(cell, cost))
        elif name == "apart":
            words.append("--apart")
        else:
            words += option(name, value)
    # A name like an option is told from one by what stands before it.
    odd = any(file.startswith("-") and file != "-" for file in plan.files)
    files = list(map(shlex.quote, plan.files))
    return [*words, *more, "--", *files] if odd else [*files, *words, *more]


def _priced(costs: Costs) -> Iterator[tuple[str, float]]:
    """Costs of errors, and of the rest where it is not free."""
    each = ((cell, getattr(costs, cell)) for cell in ("fp", "fn", "tp", "tn"))
    return ((cell, cost) for cell, cost in each if cost or cell in {"fp", "fn"})


def option(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401  (any field)
    """Return an option with its value, quoted; several values repeat it, and None stands for an option without one.

    >>> [*option("half_width", 0.05), *option("score", ("a b", "-c")), *option("held_out", None)]
    ['--half-width', '0.05', '--score', "'a b'", '--score=-c', '--held-out']
    """
    flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
    if value is None:
        yield flag
        return
    for each in value if isinstance(value, tuple) else (value,):
        text = _text(each)
        joined = text.startswith("-") and flag.startswith("--")
        yield from [shlex.quote(f"{flag}={text}")] if joined else [flag, shlex.quote(text)]


def _text(value: Any) -> str:  # noqa: ANN401  (any value of a field)
    """A value as it is typed; numbers in full."""
    if isinstance(value, float):
        return "inf" if isinf(value) and value > 0 else repr(value).removesuffix(".0")
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_text(each)}" for name, each in value.items())
    return str(value)
