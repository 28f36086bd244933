"""`baserate report` of several classes: every format, the written files, and refused options."""

import json
from pathlib import Path

import polars as pl
import pytest

import baserate
from baserate import MulticlassReport
from baserate.report._multiclass_text import multiclass_page
from tests.cli.shell import matches_snapshot, run
from tests.report.class_reports import class_report, labels_report, sklearn_data
from tests.schemas import check_schema


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """A file with predicted labels, and a score for each class."""
    data = sklearn_data("wine")
    names = sorted({str(each) for each in data.truth})
    columns = {f"p_{name}": data.matrix[:, at] for at, name in enumerate(names)}
    path = tmp_path / "wine.csv"
    table = {"is": data.truth, "called": data.predicted, "site": ["n", "s"] * 89, **columns}
    pl.DataFrame(table).write_csv(path)
    return path


def test_snapshot(pets: Path) -> None:
    result = run("report", pets, "--truth", "is", "--scores", "p_", env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert matches_snapshot(result.stdout.replace(f"baserate {baserate.__version__}", "baserate X"), "report-classes")


@pytest.mark.parametrize(
    "options", [("--scores", "p_"), ("--scores", "class_0=p_class_0,class_1=p_class_1,class_2=p_class_2")]
)
def test_json_has_the_numbers_of_python(pets: Path, options: tuple[str, ...]) -> None:
    form = json.loads(run("report", pets, "--truth", "is", *options, "--format", "json").stdout)
    check_schema(form, "class-report")
    assert form["rows"] == json.loads(class_report("wine").to_json())["rows"]
    assert form["options"]["files"] == [str(pets)]


def test_predicted_labels_of_several_classes_need_no_option(pets: Path) -> None:
    for more in ((), ("--labels", "class_0,class_1,class_2")):
        result = run("report", pets, "--truth", "is", "--predicted", "called", "--format", "json", *more)
        assert json.loads(result.stdout)["rows"] == json.loads(labels_report().to_json())["rows"]
    piped = run(
        *("report", "-", "--truth", "is", "--predicted", "called", "--labels", "class_0,class_1,class_2", "-q"),
        given=pets.read_text(),
    )
    assert piped.exit_code == 0
    assert "correctly" in piped.stdout


def test_predicted_labels_of_two_classes_are_a_report_on_two(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("is,called\n1,1\n0,0\n1,0\n0,0\n", encoding="utf-8")
    result = run("report", path, "--truth", "is", "--predicted", "called", "--format", "json")
    assert json.loads(result.stdout)["kind"] == "baserate/report"


def test_files_are_written_and_shown(pets: Path, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    page = tmp_path / "report.html"
    result = run(
        "report", pets, "--truth", "is", "--scores", "p_", "-o", page, "--save-json", saved, "--title", "Wines"
    )
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"wrote {page}" in result.stderr
    report = MulticlassReport.load(saved)
    assert page.read_text(encoding="utf-8") == report.html()
    assert "<title>Wines: classifier report</title>" in report.html()
    shown = run("show", saved, "-q", "--explain", env={"COLUMNS": "90"}).stdout
    assert shown.splitlines() == multiclass_page(report).plain_text(90, explain=True).splitlines()
    assert run("show", saved, "--format", "json").stdout.strip() == report.to_json()
    csv = run("report", pets, "--truth", "is", "--scores", "p_", "--format", "csv").stdout
    assert csv == class_report("wine").numbers.to_csv()
    markdown = run("report", pets, "--truth", "is", "--scores", "p_", "--format", "md").stdout
    assert "| each class against the rest |" in markdown


def test_ignored_findings_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("is,called\n" + "a,a\nb,b\nc,b\n" * 5, encoding="utf-8")
    typed = ("report", path, "--truth", "is", "--predicted", "called", "-q")
    assert {"BR101", "BR102"} <= set(run(*typed).stdout.split())
    assert "BR102" not in run(*typed, "--ignore", "BR102").stdout
    assert "BR101" in run(*typed, "--ignore", "BR102").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scores", "p_", "--prevalence", "2%"), "--prevalence is for two classes"),
        (("--scores", "p_", "--fp", "1", "--fn", "5"), "--fp is for two classes"),
        (("--predicted", "called", "--threshold", "0.5"), "--threshold is for two classes"),
        (("--scores", "p_", "--group", "site"), "--group is for two classes"),
        (("--scores", "p_", "--figures", "out"), "--figures is for two classes"),
        (("--scores", "p_", "--score", "p_class_0"), "either --scores or --predicted, and no --score"),
        (("--scores", "p_", "--predicted", "called"), "either --scores or --predicted"),
        (("--labels", "a,b,c"), "many classes need --predicted, --scores"),
        (("--scores", "p_", "--positive", "class_0"), "of many classes none is positive"),
        (("--scores", "p_", "--ignore", "BR999"), "no finding 'BR999'"),
    ],
)
def test_options_of_two_classes_are_refused(pets: Path, options: tuple[str, ...], message: str) -> None:
    result = run("report", pets, "--truth", "is", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
