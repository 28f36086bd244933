"""Rows about applied maps: arrays beside np.interp, and a large Parquet file beside a bare copy of it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Between, Form, Knots, LogOdds, Steps
from baserate._policy import Policy
from bench._row import Duel, Outcome, medians

Floats = npt.NDArray[np.float64]

KNOTS = 200
CLOSED_KNOTS = 1000
"""Of a table that stands in for a closed form."""
_SEEN = 100_000
"""Rows of a file that are looked at."""
_GENERATED = """
SET enable_progress_bar = false;
COPY (
  SELECT i AS id, hash(i) % 10 = 0 AS truth, (hash(i + 7) % 1000003) / 1000003::DOUBLE AS risk,
    'site ' || hash(i + 3) % 20 AS site
  FROM range({n}) AS t(i)
) TO '{path}' (FORMAT parquet)
"""
_OURS = """
import json, resource, sys
from baserate import apply, load_calibrator
rows = apply.file(load_calibrator(sys.argv[1]), sys.argv[2], sys.argv[3], score="risk").rows
print(json.dumps({"rows": rows, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""
_RIVAL = """
import json, resource, sys
import duckdb
duckdb.execute("SET enable_progress_bar = false")
[(rows,)] = duckdb.execute(f"COPY (SELECT * FROM '{sys.argv[2]}') TO '{sys.argv[3]}' (FORMAT parquet)").fetchall()
print(json.dumps({"rows": rows, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def _rising(many: int) -> Floats:
    found: Floats = np.sort(np.random.default_rng(many).random(many))
    return found


def _steps(many: int, low: float, high: float) -> Steps:
    return Steps(_rising(many), low + (high - low) * _rising(many + 1))


FORMS: dict[str, tuple[Form, int]] = {
    "logistic": (LogOdds(1.3, 1.3, -0.4, nearest=1e-12), CLOSED_KNOTS),
    "beta": (LogOdds(1.4, 0.6, 0.2, nearest=1e-12), CLOSED_KNOTS),
    "isotonic": (Knots(_rising(KNOTS), _rising(KNOTS)), KNOTS),
    "bins": (_steps(KNOTS, 0.0, 1.0), KNOTS),
    "venn-abers": (Between(_steps(KNOTS, 0.0, 0.8), _steps(KNOTS, 0.2, 1.0)), KNOTS),
}
"""What is applied, and how many knots the rival has."""


def mapped(name: str, n: int) -> Duel:
    """Map scores beside a table of as many knots; which is no rival in meaning, so only shapes are compared."""
    form, many = FORMS[name]
    map_, scores = Calibrator(form, method=name), np.random.default_rng(0).random(n)
    x, y = _rising(many), _rising(many + 1)[:many]

    def gap(ours: Floats, rival: Floats) -> float:
        return float(ours.shape != rival.shape or not np.array_equal(ours[:100], form(scores[:100])))

    return Duel(partial(map_, scores), partial(np.interp, scores, x, y), gap)


def filed(n: int, repeats: int) -> Outcome:
    """Apply a map to a Parquet file beside a bare copy of it."""
    map_ = Calibrator(FORMS["isotonic"][0], method="isotonic")
    return beside_a_copy(_OURS, map_, partial(_check, map_), n, repeats)


def beside_a_copy(
    code: str, what: Calibrator | Policy, check: Callable[[int, int, Path], None], n: int, repeats: int
) -> Outcome:
    """Apply something to a generated Parquet file beside a bare copy of it, each in a process of its own."""
    with TemporaryDirectory() as folder:
        kept, source, target = (Path(folder) / name for name in ("kept.json", "in.parquet", "out.parquet"))
        what.save(kept)
        duckdb.execute(_GENERATED.format(n=n, path=source))
        ours, rival = (partial(_ran, each, kept, source, target) for each in (code, _RIVAL))
        rival()  # the first to read the file would wait for the disk
        told = ours()
        check(told["rows"], n, target)
        seconds, beside = medians([ours, rival], repeats)
    return Outcome(seconds, beside, note=f"our peak is {told['peak'] / 1024:.0f} MB")


def _ran(code: str, *paths: Path) -> dict[str, int]:
    done = subprocess.run([sys.executable, "-c", code, *map(str, paths)], check=True, capture_output=True, text=True)
    told: dict[str, int] = json.loads(done.stdout)
    return told


def _check(map_: Calibrator, rows: int, n: int, target: Path) -> None:
    """See that the first rows and the last are there, in order and right."""
    for found in both_ends(rows, n, target):
        if not np.array_equal(found["risk_calibrated"], map_(found["risk"])):
            raise ArithmeticError("what was written is not what the map makes of the rows.")


def both_ends(rows: int, n: int, target: Path) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """Read the first rows and the last, which must all be there and in order."""
    for part in (f"LIMIT {_SEEN}", f"OFFSET {max(n - _SEEN, 0)}"):
        found = duckdb.execute(f"SELECT * FROM '{target}' {part}").fetchnumpy()  # noqa: S608
        if rows != n or not (np.diff(found["id"]) == 1).all():
            raise ArithmeticError("rows are missing, or not in order.")
        yield found
