"""Documentation is under test: generated pages are fresh, references resolve, links lead somewhere."""

import json
import re
import runpy
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import baserate
from baserate import decide, draw
from baserate.measure import MEASURES, describe, multiclass
from baserate.report import CHECKS
from tests.cli.shell import run, write_people

ROOT = Path(__file__).parents[1]


def list_tracked() -> set[Path]:
    """What git tracks; where there is no git, as in a source distribution, all that is there but what Sphinx makes."""
    ignored = (ROOT / "docs" / "made", ROOT / "docs" / "_build")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)  # noqa: S607
    if listed.returncode == 0:
        files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        files = [path for path in ROOT.rglob("*") if not any(path.is_relative_to(folder) for folder in ignored)]
    return {path.resolve() for file in files for path in (file, *file.parents) if path.is_relative_to(ROOT)}


PROGRAMS = sorted([*(ROOT / "docs" / "figures").glob("*.py"), *(ROOT / "docs" / "tutorials").glob("*.py")])
GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"))
TRACKED = list_tracked()
"""Files of the repository, and their folders: not what is made in them."""
PAGES = sorted(
    [
        *(ROOT.glob("*.md")),
        *(page for room in ("", "decisions", "findings") for page in (ROOT / "docs" / room).glob("*.md")),
    ]
)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_generated_pages_are_fresh() -> None:
    assert GENERATE["main"](check=True) == 0, "run make pages"


def test_every_measure_has_its_entry() -> None:
    page = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    for home, measures in {"": MEASURES, "multiclass.": multiclass.MEASURES}.items():
        for name, function in measures.items():
            described = describe(function)
            assert f"### {home}{name}\n\n{described.summary}\n\n" in page
            assert all(other in page for other in describe(function).aliases)


ONE = ("people.csv", "--truth", "sick", "--score", "risk")
TYPED = {
    "measure": ("measure", *ONE),
    "reliability": ("reliability", *ONE),
    "reliability --curve": ("reliability", *ONE, "--curve", "isotonic"),
    "shift": ("shift", *ONE, "--to", "0.1"),
    "shift --curve": ("shift", *ONE, "--curve"),
    "prevalence": ("prevalence", "new.csv", "--score", "score", "--validation", "new.csv", "--truth", "truth"),
    "expect": ("expect", "people.csv", "--score", "risk", "--assume", "covariate-shift"),
    "costs": ("costs", *ONE, "--fp", "1", "--fn", "20"),
    "population … measure": ("population", "linear", "measure", "f1"),
    "population … study": ("population", "linear", "study", "--sizes", "30", "--repeats", "3"),
    "population … curve": ("population", "linear", "curve", "roc"),
    "population … size": ("population", "linear", "size", "auc", "--half-width", "0.1", "--n-simulations", "400"),
    "population … draw": ("population", "linear", "draw", "5"),
    "compare": ("compare", *ONE, "--score", "old"),
    "curve": ("curve", "roc", *ONE),
    "benefit": ("benefit", *ONE),
    "cost-curve": ("cost-curve", *ONE),
    "groups": ("groups", *ONE, "--group", "sex"),
    "equalize": ("equalize", *ONE, "--group", "sex", "--parity", "equal-opportunity"),
    "decide": ("decide", *ONE, "--rule", "youden"),
    "check": ("check", *ONE, "--threshold", "0.5", "--require", "precision >= 0.5"),
    "hull": ("hull", *ONE),
    "hull --ratios": ("hull", *ONE, "--ratios"),
    "hull --combine": ("hull", *ONE, "--score", "old", "--combine"),
    "show policy.json": ("show", "policy.json"),
    "size": ("size", "auc", "--expect", "0.8", "--prevalence", "0.1", "--half-width", "0.05"),
    "list": ("list", "rules"),
}


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in GENERATE["ROW_KINDS"].items() for name in names]
)
def test_commands_print_the_rows_that_are_described(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    run("population", "linear", "draw", "200", "-o", "new.csv")
    decide.youden(baserate.curve(baserate.tally([1, 0, 1], [0.9, 0.4, 0.3]))).save("policy.json")
    result = run(*TYPED[name], "--json", "-q")
    assert result.exit_code in (0, 1), result.stderr
    columns = json.loads((ROOT / "src/baserate/schemas/results-1.json").read_text())["$defs"][kind]
    rows = json.loads(result.stdout)["rows"]
    assert rows
    for row in rows:
        assert set(columns.get("required", ())) <= set(row)
        assert kind in OPEN or set(row) <= set(columns["properties"])


OPEN = ("point", "entry")
"""Rows with further columns: one for each measure of a curve, or for what a list describes."""


def test_an_entry_without_a_formula_has_no_block_for_it() -> None:
    described = replace(describe(MEASURES["accuracy"]), formula=None)
    lines = list(GENERATE["entry"](described, ""))
    assert lines[:5] == ["### accuracy", "", described.summary, "", "- from 0 to 1; high is good"]


def test_every_finding_has_its_page_and_no_page_is_of_another() -> None:
    pages = ROOT / "docs" / "findings"
    assert {page.stem for page in pages.glob("BR*.md")} == set(CHECKS)
    listed = (pages / "index.md").read_text(encoding="utf-8")
    for code, check in CHECKS.items():
        page = (pages / f"{code}.md").read_text(encoding="utf-8")
        assert all(text in page for text in (check.title, check.why, check.remedy, "## When it is", ">>> import"))
        assert f"| [{code}]({code}.md) | {check.title} | {check.severity} |" in listed


def test_every_reference_resolves_and_none_is_idle() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    cited = set(re.findall(r"\[@([\w-]+)\]", sources))
    every = [*MEASURES.values(), *multiclass.MEASURES.values()]
    cited |= {key for function in every for key in describe(function).references}
    assert cited == set(GENERATE["references"]())


WRONG_INTERVALS = r"true value would lie|that share of all samples|(?:bounds|between which) the truth lies"
"""An interval does not hold the truth with some probability: its method does, over repeated samples."""


def test_confidence_intervals_are_defined_rightly_and_in_the_same_words() -> None:
    definition = (
        "A 95% confidence interval is computed by a method whose intervals contain the true value in 95% of repeated "
        "samples."
    )
    texts = [*PAGES, *(path for form in ("*.py", "*.js", "*.html") for path in (ROOT / "src").rglob(form))]
    wrong = [path.name for path in texts if re.search(WRONG_INTERVALS, " ".join(read(path).split()), re.IGNORECASE)]
    assert wrong == []
    for path in (ROOT / "docs" / "intervals.md", ROOT / "src" / "baserate" / "report" / "page" / "labels.js"):
        assert " ".join(read(path).split()).count(definition) == 1, path


def test_links_between_pages_lead_to_what_the_repository_holds() -> None:
    for page in PAGES:
        targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page))
        assert [target for target in targets if (page.parent / target).resolve() not in TRACKED] == [], page


def test_links_within_a_page_lead_to_its_headings() -> None:
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert [anchor for anchor in re.findall(r"\]\(#([^)]*)\)", text) if anchor not in anchors] == [], page


def test_tables_of_contents_list_pages_and_galleries_alone() -> None:
    """What Sphinx makes of programs stands in tables of contents alone: nobody else can follow a link to it."""
    for page in PAGES:
        listed = "\n".join(re.findall(r"^```\{toctree\}$(.*?)^```$", read(page), re.DOTALL | re.MULTILINE))
        for entry in re.findall(r"^(?!:)(\S+)$", listed, re.MULTILINE):
            gallery = re.fullmatch(r"made/(\w+)/index", entry)
            wanted = f"{gallery[1]}/README.rst" if gallery else f"{entry}.md"
            assert any(path.resolve() in TRACKED for path in page.parent.glob(wanted)), entry


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_of_the_documentation_run(program: Path) -> None:
    assert runpy.run_path(str(program))


def test_every_figure_is_in_the_gallery() -> None:
    drawn = "".join(path.read_text(encoding="utf-8") for path in PROGRAMS if path.parent.name == "figures")
    assert {name for name in dir(draw) if f"draw.{name}(" not in drawn} == {"Drawing"}


def test_the_version_is_told_everywhere() -> None:
    assert f"\nversion: {baserate.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {baserate.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_number_of_measures_is_told_right() -> None:
    output = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`baserate.measure`: {len(MEASURES)} measures" in output
    assert f"`baserate.measure.multiclass`: {len(multiclass.MEASURES)} measures" in output


def test_every_make_target_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    assert all(re.search(rf"^{target}:.*## ", makefile, re.MULTILINE) for target in phony[1].split())
