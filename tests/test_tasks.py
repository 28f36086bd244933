"""The page of common tasks: arrays, a table and the command line return equal numbers, and its output is right."""

import doctest
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import baserate
from tests.cli.shell import run

PAGE = Path(__file__).parents[1] / "docs" / "tasks.md"
Names = dict[str, Any]
Rows = list[dict[str, Any]]


class Section(NamedTuple):
    """A task of the page: its title, its two blocks of Python, and its command."""

    title: str
    arrays: str
    table: str
    command: str


def read_sections() -> tuple[str, list[Section]]:
    """Return the block that makes the data, and the tasks."""
    head, *parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    sections = []
    for part in parts:
        python = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
        commands = re.findall(r"```console\n\$ (.*?)\n```", part)
        assert (len(python), len(commands)) == (2, 1), part.partition("\n")[0]
        sections.append(Section(part.partition("\n")[0], *python, *commands))
    (data,) = re.findall(r"```python\n(.*?)```", head, re.DOTALL)
    return data, sections


DATA, SECTIONS = read_sections()


def execute(block: str, names: Names) -> None:
    for example in doctest.DocTestParser().get_examples(block):
        exec(compile(example.source, "tasks.md", "single"), names)  # noqa: S102  (a page of ours)


class Comparison(NamedTuple):
    """The numbers of a task, from what its Python assigned and from its command."""

    python: Callable[[Names], Any]
    shell: Callable[[str], Any]


def run_command(command: str, *more: str) -> str:
    result = run(*shlex.split(command)[1:], *more, "-q")
    assert result.exit_code == 0, result.stderr
    return result.stdout


def run_json(command: str) -> dict[str, Any]:
    output: dict[str, Any] = json.loads(run_command(command, "--json"))
    return output


def run_rows(command: str) -> Rows:
    rows: Rows = run_json(command)["rows"]
    return rows


def list_estimates(rows: Rows) -> list[tuple[Any, ...]]:
    return [(row["measure"], row["value"], row["low"], row["high"]) for row in rows]


def calibrate_file(command: str) -> list[float]:
    run_command(command)
    return apply_calibrator(baserate.load_calibrator("calibrator.json"))


def apply_calibrator(calibrator: Any) -> list[float]:  # noqa: ANN401  (of two classes)
    probabilities: list[float] = calibrator(np.linspace(0, 1, 101)).tolist()
    return probabilities


def read_actions(command: str) -> list[str]:
    run_command(command)
    header, *lines = Path("decisions.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",")[-1] == "action"
    return [line.split(",")[-1] for line in lines]


def draw_curve(command: str) -> list[Any]:
    run_command(command)
    assert Path("roc.png").read_bytes().startswith(b"\x89PNG")
    run_command(command.replace("roc.png", "roc.json"))
    rows = json.loads(Path("roc.json").read_text(encoding="utf-8"))["rows"]
    return [(row["fpr"], row["sensitivity"]) for row in rows if row["part"] == "curve"]


def list_points(figure: Any) -> list[Any]:  # noqa: ANN401  (a Drawing)
    curve = figure.parts["curve"].columns
    return list(zip(curve["fpr"].tolist(), curve["sensitivity"].tolist(), strict=True))


def list_vertices(command: str) -> list[Any]:
    return [(row["classifier"], row["fpr"], row["tpr"]) for row in run_rows(command) if row["tpr"] is not None]


def equalize_file(command: str) -> dict[Any, Any]:
    run_command(command, "-o", "fair.json")
    return dict(baserate.load_policy("fair.json").by_group)


def find_prevalence(command: str) -> tuple[Any, ...]:
    (row,) = (row for row in run_rows(command) if row["measure"] == "prevalence")
    return row["value"], row["low"], row["high"]


ALL_ROWS = Comparison(lambda names: json.loads(names["results"].to_json())["rows"], run_rows)
COMPARISONS = {
    "Evaluate a classifier at deployment": Comparison(
        lambda names: list_estimates(names["report"].rows()), lambda command: list_estimates(run_rows(command))
    ),
    "Compute one measure": Comparison(lambda names: names["auc"], lambda command: run_rows(command)[0]["value"]),
    "Compute measures with confidence intervals": ALL_ROWS,
    "Adjust measures to another prevalence": ALL_ROWS,
    "Compare models where they will be used": ALL_ROWS,
    "Choose a threshold": Comparison(
        lambda names: list(names["policy"].cut.thresholds),
        lambda command: run_json(command)["data"]["policies"]["risk"]["thresholds"],
    ),
    "Check requirements": ALL_ROWS,
    "Apply a policy to new rows": Comparison(lambda names: list(names["decisions"]), read_actions),
    "Calibrate scores": Comparison(lambda names: apply_calibrator(names["calibrator"]), calibrate_file),
    "Assess calibration": ALL_ROWS,
    "Draw a figure": Comparison(lambda names: list_points(names["figure"]), draw_curve),
    "Tabulate a curve": ALL_ROWS,
    "Compute net benefit (decision curve)": ALL_ROWS,
    "Combine models on the ROC convex hull": Comparison(
        lambda names: [(each.classifier, each.fpr, each.tpr) for each in names["hull"].vertices], list_vertices
    ),
    "Compare groups": Comparison(
        lambda names: list_estimates(names["results"].rows()),
        lambda command: list_estimates([row for row in run_rows(command) if row["table"] == "group"]),
    ),
    "Equalize groups": Comparison(lambda names: dict(names["fair"].by_group), equalize_file),
    "Estimate the prevalence of unlabelled data": Comparison(
        lambda names: (
            names["estimate"].estimate.value,
            names["estimate"].estimate.low,
            names["estimate"].estimate.high,
        ),
        find_prevalence,
    ),
    "Estimate performance without labels": ALL_ROWS,
    "Measure several classes": ALL_ROWS,
}


def test_every_task_has_its_comparison() -> None:
    assert [section.title for section in SECTIONS] == list(COMPARISONS)


def test_arrays_tables_and_commands_return_equal_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: Names = {}
    execute(DATA, names)
    data = set(names)
    for section in SECTIONS:
        python, shell = COMPARISONS[section.title]
        execute(section.arrays, names)
        from_arrays = python(names)
        # Results of the first block are removed, so that the second one cannot return them.
        names = {name: each for name, each in names.items() if name in {*data, "policy", "scores", "animal"}}
        execute(section.table, names)
        assert from_arrays == python(names), section.title
        assert from_arrays == shell(section.command), section.title


def test_the_page_shows_what_its_examples_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 40
    assert result.failed == 0
