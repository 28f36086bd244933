"""Benchmarks of whole commands, from the start of the interpreter to the printed numbers."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from bench._benchmark import Outcome, Pair, median_seconds, time_pair
from bench._scores import positive_scores

_PEER = """
import json, sys
import pandas as pd
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, roc_auc_score
table = pd.{read}(sys.argv[1])
truth, score = table["truth"], table["score"]
print(json.dumps({{
    "auc": roc_auc_score(truth, score),
    "average_precision": average_precision_score(truth, score),
    "brier": brier_score_loss(truth, score),
    "f1": f1_score(truth, score >= 0.5),
}}))
"""
"""The same numbers without baserate."""


def measure_file(kind: str) -> Callable[[int, int], Outcome]:
    """Time `baserate measure` on a file of this format, beside four of its numbers with pandas and scikit-learn."""

    def run(n: int, repeats: int) -> Outcome:
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"predictions.{kind}"
            table = pd.DataFrame(positive_scores(n))
            table.to_parquet(path) if kind == "parquet" else table.to_csv(path, index=False)
            return time_pair(lambda _: _make_pair(path, kind))(n, repeats)

    return run


def measure_with_intervals(n: int, repeats: int) -> Outcome:
    """Time `baserate measure` on a Parquet file with intervals, beside `--no-interval`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        pd.DataFrame(positive_scores(n)).to_parquet(path)
        command = _measure_command(path)
        plain = [*command, "--no-interval"]
        pair = Pair(lambda: _read_values(_run_command(command)), lambda: _read_values(_run_command(plain)), _difference)
        return time_pair(lambda _: pair)(n, repeats)


def _measure_command(path: Path) -> list[str]:
    command = ["measure", str(path), "--truth", "truth", "--score", "score", "--json"]
    return [sys.executable, "-m", "baserate", *command]


def _make_pair(path: Path, kind: str) -> Pair:
    ours = [*_measure_command(path), "--no-interval"]  # the peer computes none
    peer = [sys.executable, "-c", _PEER.format(read=f"read_{kind}"), str(path)]
    return Pair(lambda: _read_values(_run_command(ours)), lambda: json.loads(_run_command(peer)), _difference)


def _run_command(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _read_values(output: str) -> dict[str, float]:
    return {row["measure"]: row["value"] for row in json.loads(output)["rows"]}


def _difference(ours: dict[str, float], peer: dict[str, float]) -> float:
    return max(abs(ours[name] - value) for name, value in peer.items())


def show_help(_n: int, repeats: int) -> Outcome:
    """Time `baserate --help` beside an interpreter that imports NumPy."""
    sides = [
        partial(_run_command, [sys.executable, *arguments])
        for arguments in (("-m", "baserate", "--help"), ("-c", "import numpy"))
    ]
    for side in sides:
        side()  # warm-up: the first run may have to compile modules to bytecode
    ours, peer = median_seconds(sides, repeats)
    return Outcome(ours, peer)
