"""A biomarker of patients with subarachnoid haemorrhage (aSAH): most of its values lie below 1, and not all."""

from pathlib import Path

import numpy as np
import pytest

from baserate import Calibrator, calibration, read
from tests.cli.shell import run

NAMES = {"truth": "outcome", "score": "s100b", "positive": "Poor"}
ANY_SCORE = ("logistic", "histogram", "isotonic", "strict-isotonic", "venn-abers", "choose")


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", ANY_SCORE)
def test_s100b_is_calibrated(reference: Path, method: str) -> None:
    data = read.tallies(reference / "aSAH.csv", **NAMES)  # type: ignore[arg-type]  # names of columns
    after = calibration.cross_fit(data, method).pooled("s100b")
    assert after.probable
    assert after.rows.sum() == 113


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", ANY_SCORE)
def test_s100b_is_calibrated_and_the_calibrator_applied_in_the_shell(
    reference: Path, method: str, tmp_path: Path
) -> None:
    file, out, mapped = reference / "aSAH.csv", tmp_path / "map.json", tmp_path / "mapped.csv"
    columns = [part for name, value in NAMES.items() for part in (f"--{name}", value)]
    result = run("calibrate", file, *columns, "--with", method, "--n-simulations", "0", "-o", out)
    assert result.exit_code == 0, result.stderr
    result = run("apply", out, file, "-o", mapped)
    assert result.exit_code == 0, result.stderr
    header, *lines = (line.split(",") for line in mapped.read_text(encoding="utf-8").splitlines())
    score = np.array([float(line[header.index("s100b")]) for line in lines])
    assert score.max() > 1
    np.testing.assert_allclose([float(line[-1]) for line in lines], Calibrator.load(out)(score), rtol=1e-12)
