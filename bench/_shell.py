"""Rows about the shell: whole commands, from the start of the interpreter to the last number."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from bench._row import Duel, Outcome, duel, medians
from bench._scores import positive_scores

_RIVAL = """
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
"""What one types without us."""


def measured(kind: str) -> Callable[[int, int], Outcome]:
    """Time `baserate measure` on a file of that kind, beside pandas and scikit-learn for four of its numbers."""

    def run(n: int, repeats: int) -> Outcome:
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"predictions.{kind}"
            table = pd.DataFrame(positive_scores(n))
            table.to_parquet(path) if kind == "parquet" else table.to_csv(path, index=False)
            return duel(lambda _: _sides(path, kind))(n, repeats)

    return run


def with_intervals(n: int, repeats: int) -> Outcome:
    """Time `baserate measure` on a Parquet file with intervals, beside the same without."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        pd.DataFrame(positive_scores(n)).to_parquet(path)
        asked = _asked(path)
        sides = Duel(lambda: _tidy(_printed(asked)), lambda: _tidy(_printed([*asked, "--no-interval"])), _gap)
        return duel(lambda _: sides)(n, repeats)


def _asked(path: Path) -> list[str]:
    command = ["measure", str(path), "--truth", "truth", "--score", "score", "--json"]
    return [sys.executable, "-m", "baserate", *command]


def _sides(path: Path, kind: str) -> Duel:
    ours = [*_asked(path), "--no-interval"]  # as the rival does
    rival = [sys.executable, "-c", _RIVAL.format(read=f"read_{kind}"), str(path)]
    return Duel(lambda: _tidy(_printed(ours)), lambda: json.loads(_printed(rival)), _gap)


def _printed(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _tidy(printed: str) -> dict[str, float]:
    return {row["measure"]: row["value"] for row in json.loads(printed)["rows"]}


def _gap(ours: dict[str, float], rival: dict[str, float]) -> float:
    return max(abs(ours[name] - value) for name, value in rival.items())


def helped(_n: int, repeats: int) -> Outcome:
    """Time `baserate --help` beside an interpreter that imports NumPy."""
    sides = [
        partial(_printed, [sys.executable, *line]) for line in (("-m", "baserate", "--help"), ("-c", "import numpy"))
    ]
    for side in sides:
        side()  # the first run may still have to compile
    ours, rival = medians(sides, repeats)
    return Outcome(ours, rival)
