"""Command line of the benchmarks: the table goes to stdout, progress and notes to stderr."""

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
from bench._benchmark import Benchmark, MissingToolError, Outcome
from bench._registry import BENCHMARKS

_SCHEMA_VERSION = 1
_NAME_WIDTH = max(map(len, BENCHMARKS))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all of them, and print their results; return 0 whatever the timings."""
    options = _parse_arguments(argv)
    if options.list:
        for name, benchmark in BENCHMARKS.items():
            target = f"{benchmark.sense} {benchmark.target:<4g}"
            print(f"{name:{_NAME_WIDTH}}   {target}   {benchmark.work}, beside {benchmark.peer}")
        return 0
    results = [_run_benchmark(name, options) for name in options.names or BENCHMARKS]
    if options.json:
        form = {"kind": "baserate/bench", "schema_version": _SCHEMA_VERSION, "quick": options.quick}
        text = json.dumps(form | {"machine": _describe_machine(), "rows": results}, indent=2, ensure_ascii=False)
        write_text(options.json, text + "\n")
    return 0


def _parse_arguments(argv: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench", description="Benchmarks of baserate and its peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run [default: all]")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, and run none")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the results to a file")
    parser.add_argument("--repeats", metavar="N", type=_positive_integer, help="number of timings of each side")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, without judging the targets")
    options = parser.parse_args(argv)
    options.names = list(dict.fromkeys(options.names))
    for name in options.names:
        if name not in BENCHMARKS:
            near = get_close_matches(name, BENCHMARKS, n=3, cutoff=0.4)
            hint = f"Did you mean {' or '.join(near)}? " if near else ""
            parser.error(f"there is no benchmark {name!r}. {hint}Known are: {', '.join(BENCHMARKS)}.")
    return options


def _positive_integer(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"Value is {text!r}; expected a whole number of at least 1.")
    return int(text)


def _run_benchmark(name: str, options: Namespace) -> dict[str, object]:
    """Run a benchmark, print its line, and return its entry of the JSON file."""
    benchmark = BENCHMARKS[name]
    n = max(benchmark.n // 100, 1) if options.quick else benchmark.n
    repeats = options.repeats or benchmark.repeats
    print(f"{name}: {benchmark.work}, beside {benchmark.peer} …", file=sys.stderr, flush=True)
    entry = {"name": name, "work": benchmark.work, "beside": benchmark.peer, "n": n, "repeats": repeats}
    entry |= {"sense": benchmark.sense, "target": benchmark.target}
    try:
        outcome = benchmark.run(n, repeats)
    except MissingToolError as error:
        print(f"{name}: {error}", file=sys.stderr)
        print(f"{name:{_NAME_WIDTH}}   skipped", flush=True)
        return entry | dict.fromkeys(("unit", "ours", "peer", "ratio", "reached")) | {"note": str(error)}
    ratio = benchmark.ratio(outcome)
    # With a hundredth of the data, fixed costs dominate, and the ratio says nothing about the target.
    is_met = None if options.quick else benchmark.meets_target(ratio)
    if outcome.note:
        print(f"{name}: {outcome.note}", file=sys.stderr)
    print(_format_line(name, benchmark, outcome, is_met=is_met), flush=True)
    entry |= {"unit": outcome.unit, "ours": outcome.ours, "peer": outcome.peer, "ratio": ratio}
    return entry | {"reached": is_met, "note": outcome.note}


def _format_line(name: str, benchmark: Benchmark, outcome: Outcome, *, is_met: bool | None) -> str:
    ours, peer = (_format_quantity(value, outcome.unit) for value in (outcome.ours, outcome.peer))
    ratio = f"{benchmark.ratio(outcome):>8.3g}x   {benchmark.sense} {benchmark.target:<4g}"
    verdict = {None: "quick", True: "reached", False: "missed"}[is_met]
    return f"{name:{_NAME_WIDTH}}   ours {ours:>7}   peer {peer:>7}   {ratio}   {verdict}"


def _format_quantity(value: float, unit: str) -> str:
    """Format with three digits and a suitable unit."""
    if unit == "bytes":
        return f"{value / 1e6:.3g} MB"
    scale, name = (1, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{value * scale:.3g} {name}"


def _describe_machine() -> dict[str, object]:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "sklearn": sklearn.__version__}
    return {"cpu": _processor_name(), "cores": os.cpu_count()} | versions


def _processor_name() -> str:
    # platform.processor() is empty on many Linux systems.
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


if __name__ == "__main__":
    sys.exit(main())
