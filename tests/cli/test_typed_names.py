"""Tables show measures by the names that were typed; JSON and CSV have their own names."""

import re
from pathlib import Path

import pytest

from tests.cli.shell import run, write_people
from tests.schemas import read_results

RISK = ("--truth", "sick", "--score", "risk", "--positive", "1", "-q")
COMMANDS: dict[str, tuple[str, ...]] = {
    "measure": ("measure", *RISK, "--measures", "ppv,roc_auc"),
    "measure-groups": ("measure", *RISK, "--group", "site", "--measures", "ppv,roc_auc"),
    "compare": ("compare", *RISK, "--score", "old", "--threshold", "0.5", "--measures", "ppv,roc_auc"),
    "groups": ("groups", *RISK, "--group", "sex", "--n-permutations", "20", "--measures", "ppv,roc_auc"),
    "check": ("check", *RISK, "--threshold", "0.5", "--require", "ppv >= 1%, roc_auc >= 0.1", "--on", "estimate"),
    "shift": ("shift", *RISK, "--prevalence", "5%", "--measures", "ppv,roc_auc"),
}
"""Commands that compute the precision and the AUC, by other names."""


@pytest.mark.parametrize("form", ["table", "md"])
@pytest.mark.parametrize("command", COMMANDS)
def test_tables_show_typed_names(tmp_path: Path, command: str, form: str) -> None:
    name, *options = COMMANDS[command]
    result = run(name, write_people(tmp_path), *options, "--format", form)
    assert result.exit_code == 0, result.stderr
    page = result.stdout.partition("note: ")[0].replace("\\_", "_")  # Markdown escapes underscores; notes are data
    assert {"ppv", "roc_auc"} <= {*re.findall(r"^[ |]*(\w+)", page, re.MULTILINE)}, page
    # Meanings of measures are sentences, which begin after the numbers.
    assert not re.search(r"^[ |]*(precision|auc)\b", page, re.MULTILINE), page
    assert not re.search(r"for (precision|auc)\b|\b(precision|auc):", page), page


@pytest.mark.parametrize("command", COMMANDS)
def test_files_have_own_names(tmp_path: Path, command: str) -> None:
    name, *options = COMMANDS[command]
    form = read_results(run(name, write_people(tmp_path), *options, "--json").stdout)
    assert form["data"]["names"] == {"precision": "ppv", "auc": "roc_auc"}
    assert {"precision", "auc"} <= {row["measure"] for row in form["rows"]}
    csv = run(name, write_people(tmp_path), *options, "--format", "csv").stdout
    assert {"precision", "auc"} <= {*re.split(r"[,\n]", csv)}
    # `check` also has the text of its requirements.
    assert bool(re.search(r"ppv|roc_auc", csv)) == (command == "check")


def test_own_names_are_shown_in_words(tmp_path: Path) -> None:
    options = (*RISK, "--measures", "average_precision,Accuracy,f1")
    assert re.search(r"^ +average precision  ", run("measure", write_people(tmp_path), *options).stdout, re.MULTILINE)
    form = read_results(run("measure", write_people(tmp_path), *options, "--json").stdout)
    assert form["data"]["names"] == {"accuracy": "Accuracy"}


def test_several_classes_have_typed_names(tmp_path: Path) -> None:
    path = tmp_path / "pets.csv"
    path.write_text("is,called\ncat,cat\ncat,dog\ndog,dog\nfox,dog\nfox,fox\n")
    options = ("--truth", "is", "--predicted", "called", "-q")
    page = run("measure", path, *options, "--measures", "ppv,matthews correlation coefficient").stdout
    assert re.search(r"^each class against the rest +ppv", page, re.MULTILINE), page
    assert "matthews correlation coefficient" in page
    form = read_results(run("measure", path, *options, "--measures", "ppv,mcc", "--json").stdout)
    assert form["data"]["names"] == {"precision": "ppv"}
    assert "precision" in {row["measure"] for row in form["rows"]}
