"""Benchmarks of applying calibrators: arrays beside np.interp, a large Parquet file beside a plain copy."""

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
from bench._benchmark import Outcome, Pair, median_seconds

Floats = npt.NDArray[np.float64]

KNOTS = 200
CLOSED_KNOTS = 1000
"""Knots of the peer where ours is a closed form."""
_CHECKED = 100_000
"""Rows that are checked at each end of the file."""
_GENERATE = """
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
_PEER = """
import json, resource, sys
import duckdb
duckdb.execute("SET enable_progress_bar = false")
[(rows,)] = duckdb.execute(f"COPY (SELECT * FROM '{sys.argv[2]}') TO '{sys.argv[3]}' (FORMAT parquet)").fetchall()
print(json.dumps({"rows": rows, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def _sorted_values(n: int) -> Floats:
    values: Floats = np.sort(np.random.default_rng(n).random(n))
    return values


def _make_steps(n: int, low: float, high: float) -> Steps:
    # One value more than thresholds: scores below the first threshold have one, too.
    return Steps(_sorted_values(n), low + (high - low) * _sorted_values(n + 1))


FORMS: dict[str, tuple[Form, int]] = {
    "logistic": (LogOdds(1.3, 1.3, -0.4, nearest=1e-12), CLOSED_KNOTS),
    "beta": (LogOdds(1.4, 0.6, 0.2, nearest=1e-12), CLOSED_KNOTS),
    "isotonic": (Knots(_sorted_values(KNOTS), _sorted_values(KNOTS)), KNOTS),
    "bins": (_make_steps(KNOTS, 0.0, 1.0), KNOTS),
    "venn-abers": (Between(_make_steps(KNOTS, 0.0, 0.8), _make_steps(KNOTS, 0.2, 1.0)), KNOTS),
}
"""Form of the calibrator, and number of knots of the peer."""


def calibrate_scores(name: str, n: int) -> Pair:
    """Apply a calibrator to scores, beside np.interp with as many knots.

    The peer interpolates another curve and is only the reference for speed, so only the shapes are compared.
    """
    form, knots = FORMS[name]
    calibrator, scores = Calibrator(form, method=name), np.random.default_rng(0).random(n)
    x, y = _sorted_values(knots), _sorted_values(knots + 1)[:knots]

    def gap(ours: Floats, peer: Floats) -> float:
        return float(ours.shape != peer.shape or not np.array_equal(ours[:100], form(scores[:100])))

    return Pair(partial(calibrator, scores), partial(np.interp, scores, x, y), gap)


def calibrate_file(n: int, repeats: int) -> Outcome:
    """Apply a calibrator to a Parquet file, beside a plain copy of the file."""
    calibrator = Calibrator(FORMS["isotonic"][0], method="isotonic")
    return time_beside_copy(_OURS, calibrator, partial(_check_file, calibrator), n, repeats)


def time_beside_copy(
    code: str, applied: Calibrator | Policy, check: Callable[[int, int, Path], None], n: int, repeats: int
) -> Outcome:
    """Apply a calibrator or policy to a generated Parquet file, beside a plain copy, each in its own process.

    The peak of memory that the operating system reports is that of a whole process.
    """
    with TemporaryDirectory() as folder:
        saved, source, target = (Path(folder) / name for name in ("saved.json", "in.parquet", "out.parquet"))
        applied.save(saved)
        duckdb.execute(_GENERATE.format(n=n, path=source))
        ours, peer = (partial(_run_script, script, saved, source, target) for script in (code, _PEER))
        peer()  # warm-up: the first reader of the file waits for the disk
        output = ours()
        check(output["rows"], n, target)
        seconds, peer_seconds = median_seconds([ours, peer], repeats)
    # Linux reports ru_maxrss in KiB (macOS: in bytes).
    return Outcome(seconds, peer_seconds, note=f"our peak is {output['peak'] / 1024:.0f} MB")


def _run_script(code: str, *paths: Path) -> dict[str, int]:
    process = subprocess.run([sys.executable, "-c", code, *map(str, paths)], check=True, capture_output=True, text=True)
    output: dict[str, int] = json.loads(process.stdout)
    return output


def _check_file(calibrator: Calibrator, rows: int, n: int, target: Path) -> None:
    """Check that the first and last rows of the output are complete, ordered and correct."""
    for columns in read_both_ends(rows, n, target):
        if not np.array_equal(columns["risk_calibrated"], calibrator(columns["risk"])):
            raise ArithmeticError("The file differs from the calibrated scores of its rows.")


def read_both_ends(rows: int, n: int, target: Path) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """Yield the columns of the first and of the last rows; raise if rows are missing or not in order."""
    for part in (f"LIMIT {_CHECKED}", f"OFFSET {max(n - _CHECKED, 0)}"):
        columns = duckdb.execute(f"SELECT * FROM '{target}' {part}").fetchnumpy()  # noqa: S608
        if rows != n or not (np.diff(columns["id"]) == 1).all():
            raise ArithmeticError("Rows of the file are missing, or not in order.")
        yield columns
