"""Run benchmarks from the shell: the table on stdout, progress and notes on stderr."""

import json
import os
import platform
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import sklearn

from baserate._files import write_text
from bench._row import AbsentError, Outcome, Row
from bench._rows import ROWS

_SCHEMA_VERSION = 1
_NAME_WIDTH = max(map(len, ROWS))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the rows that are named, or all, and say how they went; 0 whatever the timings."""
    asked = _asked(argv)
    if asked.list:
        for name, row in ROWS.items():
            print(f"{name:{_NAME_WIDTH}}   {row.sense} {row.target:<4g}   {row.work}, beside {row.rival}")
        return 0
    results = [_ran(name, asked) for name in asked.names or ROWS]
    if asked.json:
        form = {"kind": "baserate/bench", "schema_version": _SCHEMA_VERSION, "quick": asked.quick}
        text = json.dumps(form | {"machine": _machine(), "rows": results}, indent=2, ensure_ascii=False)
        write_text(asked.json, text + "\n")
    return 0


def _asked(argv: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench", description="Benchmarks, each beside its rival.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to run; all if none is named")
    parser.add_argument("--list", action="store_true", help="say what rows there are, and run none")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the results to a file, too")
    parser.add_argument("--repeats", metavar="N", type=_positive, help="how often to time each side")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data; targets are not judged")
    asked = parser.parse_args(argv)
    asked.names = list(dict.fromkeys(asked.names))
    for name in asked.names:
        if name not in ROWS:
            near = get_close_matches(name, ROWS, n=3, cutoff=0.4)
            hint = f"Did you mean {' or '.join(near)}? " if near else ""
            parser.error(f"there is no row {name!r}. {hint}Known are: {', '.join(ROWS)}.")
    return asked


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def _ran(name: str, asked: Namespace) -> dict[str, object]:
    """Run a row, print its line, and return it for the file."""
    row = ROWS[name]
    n = max(row.n // 100, 1) if asked.quick else row.n
    repeats = asked.repeats or row.repeats
    print(f"{name}: {row.work}, beside {row.rival} …", file=sys.stderr, flush=True)
    told = {"name": name, "work": row.work, "beside": row.rival, "n": n, "repeats": repeats}
    told |= {"sense": row.sense, "target": row.target}
    try:
        outcome = row.run(n, repeats)
    except AbsentError as why:
        print(f"{name}: {why}", file=sys.stderr)
        print(f"{name:{_NAME_WIDTH}}   skipped", flush=True)
        return told | dict.fromkeys(("unit", "ours", "rival", "ratio", "reached")) | {"note": str(why)}
    ratio = row.ratio(outcome)
    reached = None if asked.quick else row.reached(ratio)
    if outcome.note:
        print(f"{name}: {outcome.note}", file=sys.stderr)
    print(_line(name, row, outcome, reached=reached), flush=True)
    told |= {"unit": outcome.unit, "ours": outcome.ours, "rival": outcome.rival, "ratio": ratio}
    return told | {"reached": reached, "note": outcome.note}


def _line(name: str, row: Row, outcome: Outcome, *, reached: bool | None) -> str:
    ours, rival = _shown(outcome.ours, outcome.unit), _shown(outcome.rival, outcome.unit)
    judged = f"{row.ratio(outcome):>8.3g}x   {row.sense} {row.target:<4g}"
    verdict = {None: "quick", True: "reached", False: "missed"}[reached]
    return f"{name:{_NAME_WIDTH}}   ours {ours:>7}   rival {rival:>7}   {judged}   {verdict}"


def _shown(value: float, unit: str) -> str:
    """Three digits and a unit that suits them."""
    if unit == "bytes":
        return f"{value / 1e6:.3g} MB"
    scale, name = (1, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{value * scale:.3g} {name}"


def _machine() -> dict[str, object]:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "sklearn": sklearn.__version__}
    return {"cpu": _cpu(), "cores": os.cpu_count()} | versions


def _cpu() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


if __name__ == "__main__":
    sys.exit(main())
