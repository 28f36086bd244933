"""Generated pages are fresh, references resolve, links have targets, and programs run."""

import json
import re
import runpy
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import baserate
from baserate import decide, draw
from baserate.measure import MEASURES, describe, multiclass
from baserate.report import CHECKS, MULTICLASS_CHECKS
from tests.cli.shell import run, write_people

ROOT = Path(__file__).parents[1]


def list_tracked() -> set[Path]:
    """Return the tracked files and their folders; without git, all but what Sphinx makes."""
    ignored = (ROOT / "docs" / "made", ROOT / "docs" / "_build")
    process = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)  # noqa: S607
    if process.returncode == 0:
        files = [ROOT / name for name in process.stdout.decode().split("\0") if name]
    else:
        files = [path for path in ROOT.rglob("*") if not any(path.is_relative_to(folder) for folder in ignored)]
    return {path.resolve() for file in files for path in (file, *file.parents) if path.is_relative_to(ROOT)}


PROGRAMS = sorted([*(ROOT / "docs" / "figures").glob("*.py"), *(ROOT / "docs" / "tutorials").glob("*.py")])
GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"))
TRACKED = list_tracked()
"""Files of the repository and their folders, without generated files."""
PAGES = sorted(
    [
        *(ROOT.glob("*.md")),
        *(
            page
            for folder in ("", "decisions", "findings", "migration")
            for page in (ROOT / "docs" / folder).glob("*.md")
        ),
    ]
)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_generated_pages_are_fresh() -> None:
    assert GENERATE["main"](check=True) == 0, "run make pages"


def test_every_measure_has_its_entry() -> None:
    page = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    for prefix, measures in {"": MEASURES, "multiclass.": multiclass.MEASURES}.items():
        for name, function in measures.items():
            info = describe(function)
            assert f"### {prefix}{name}\n\n{info.summary}\n\n" in page
            assert all(alias in page for alias in info.aliases)


BINARY_DATA = ("people.csv", "--truth", "sick", "--score", "risk")
COMMANDS = {
    "measure": ("measure", *BINARY_DATA),
    "reliability": ("reliability", *BINARY_DATA),
    "reliability --curve": ("reliability", *BINARY_DATA, "--curve", "isotonic"),
    "shift": ("shift", *BINARY_DATA, "--prevalence", "0.1"),
    "shift --curve": ("shift", *BINARY_DATA, "--curve"),
    "prevalence": ("prevalence", "new.csv", "--score", "score", "--validation", "new.csv", "--truth", "truth"),
    "expect": ("expect", "people.csv", "--score", "risk", "--assume", "covariate-shift"),
    "costs": ("costs", *BINARY_DATA, "--fp", "1", "--fn", "20"),
    "reclassify": ("reclassify", *BINARY_DATA, "--score", "old", "--thresholds", "0.3"),
    "population … measure": ("population", "linear", "measure", "f1"),
    "population … study": ("population", "linear", "study", "--sizes", "30", "--repeats", "3"),
    "population … curve": ("population", "linear", "curve", "roc"),
    "population … size": ("population", "linear", "size", "auc", "--half-width", "0.1", "--n-simulations", "400"),
    "population … draw": ("population", "linear", "draw", "5"),
    "compare": ("compare", *BINARY_DATA, "--score", "old"),
    "curve": ("curve", "roc", *BINARY_DATA),
    "benefit": ("benefit", *BINARY_DATA),
    "cost-curve": ("cost-curve", *BINARY_DATA),
    "groups": ("groups", *BINARY_DATA, "--group", "sex"),
    "equalize": ("equalize", *BINARY_DATA, "--group", "sex", "--parity", "equal-opportunity"),
    "decide": ("decide", *BINARY_DATA, "--rule", "youden"),
    "check": ("check", *BINARY_DATA, "--threshold", "0.5", "--require", "precision >= 0.5"),
    "hull": ("hull", *BINARY_DATA),
    "hull --ratios": ("hull", *BINARY_DATA, "--ratios"),
    "hull --combine": ("hull", *BINARY_DATA, "--score", "old", "--combine"),
    "show policy.json": ("show", "policy.json"),
    "size": ("size", "auc", "--expect", "0.8", "--prevalence", "0.1", "--half-width", "0.05"),
    "list": ("list", "rules"),
}


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in GENERATE["ROW_KINDS"].items() for name in names]
)
def test_rows_of_commands_fit_their_schema(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    run("population", "linear", "draw", "200", "-o", "new.csv")
    decide.youden(baserate.curve(baserate.tally([1, 0, 1], [0.9, 0.4, 0.3]))).save("policy.json")
    result = run(*COMMANDS[name], "--json", "-q")
    assert result.exit_code in (0, 1), result.stderr
    columns = json.loads((ROOT / "src/baserate/schemas/results-1.json").read_text())["$defs"][kind]
    rows = json.loads(result.stdout)["rows"]
    assert rows
    for row in rows:
        assert set(columns.get("required", ())) <= set(row)
        assert kind in OPEN_KINDS or set(row) <= set(columns["properties"])


OPEN_KINDS = ("point", "entry")
"""Kinds of rows with further columns, such as one for each measure of a curve."""


def test_measure_without_a_formula_has_no_formula_block() -> None:
    info = replace(describe(MEASURES["accuracy"]), formula=None)
    lines = list(GENERATE["measure_entry"](info, ""))
    assert lines[:5] == ["### accuracy", "", info.summary, "", "- from 0 to 1; high is good"]


def test_pages_of_findings_match_the_checks() -> None:
    pages = ROOT / "docs" / "findings"
    assert {page.stem for page in pages.glob("BR*.md")} == {*CHECKS, *MULTICLASS_CHECKS}
    index = (pages / "index.md").read_text(encoding="utf-8")
    checks: dict[str, Any] = {**CHECKS, **MULTICLASS_CHECKS}
    for code, check in checks.items():
        page = (pages / f"{code}.md").read_text(encoding="utf-8")
        assert all(text in page for text in (check.title, check.why, check.remedy, "## When it is", ">>> import"))
        assert f"| [{code}]({code}.md) | {check.title} | {check.severity} |" in index


def test_citations_match_the_references() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    cited = set(re.findall(r"\[@([\w-]+)\]", sources))
    every = [*MEASURES.values(), *multiclass.MEASURES.values()]
    cited |= {key for function in every for key in describe(function).references}
    assert cited == set(GENERATE["read_references"]())


WRONG_INTERVALS = r"true value would lie|that share of all samples|(?:bounds|between which) the truth lies"
"""Phrases that give one interval a probability; only its method has a coverage, over repeated samples."""


def test_definition_of_confidence_intervals() -> None:
    definition = (
        "A 95% confidence interval is computed by a method whose intervals contain the true value in 95% of repeated "
        "samples."
    )
    texts = [*PAGES, *(path for form in ("*.py", "*.js", "*.html") for path in (ROOT / "src").rglob(form))]
    wrong = [path.name for path in texts if re.search(WRONG_INTERVALS, " ".join(read(path).split()), re.IGNORECASE)]
    assert wrong == []
    for path in (ROOT / "docs" / "intervals.md", ROOT / "src" / "baserate" / "report" / "page" / "labels.js"):
        assert " ".join(read(path).split()).count(definition) == 1, path


def test_links_between_pages_lead_to_tracked_files() -> None:
    for page in PAGES:
        targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page))
        assert [target for target in targets if (page.parent / target).resolve() not in TRACKED] == [], page


def test_links_within_pages_lead_to_headings() -> None:
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert [anchor for anchor in re.findall(r"\]\(#([^)]*)\)", text) if anchor not in anchors] == [], page


def test_tables_of_contents_list_existing_pages_and_galleries() -> None:
    """Galleries exist only after a build of the documentation, so that only tables of contents may refer to them."""
    for page in PAGES:
        contents = "\n".join(re.findall(r"^```\{toctree\}$(.*?)^```$", read(page), re.DOTALL | re.MULTILINE))
        for entry in re.findall(r"^(?!:)(\S+)$", contents, re.MULTILINE):
            gallery = re.fullmatch(r"made/(\w+)/index", entry)
            pattern = f"{gallery[1]}/README.rst" if gallery else f"{entry}.md"
            assert any(path.resolve() in TRACKED for path in page.parent.glob(pattern)), entry


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_example_programs_run(program: Path) -> None:
    assert runpy.run_path(str(program))


def test_gallery_contains_every_figure() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in PROGRAMS if path.parent.name == "figures")
    figures = {name for name in dir(draw) if not name.endswith("Display")}
    assert {name for name in figures if f"draw.{name}(" not in sources} == {"Drawing"}


def test_version_in_citation_and_changelog() -> None:
    assert f"\nversion: {baserate.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {baserate.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_numbers_of_measures_in_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`baserate.measure`: {len(MEASURES)} measures" in changelog
    assert f"`baserate.measure.multiclass`: {len(multiclass.MEASURES)} measures" in changelog


def test_named_benchmarks_exist() -> None:
    parts = (re.findall(r"python -m bench\.(\w+)|\bbench/(\w+)\.py", read(page)) for page in PAGES)
    names = {module or file for part in parts for module, file in part}
    assert len(names) >= 5
    assert [name for name in sorted(names) if not (ROOT / "bench" / f"{name}.py").exists()] == []


def test_every_make_target_has_a_description() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    assert all(re.search(rf"^{target}:.*## ", makefile, re.MULTILINE) for target in phony[1].split())
