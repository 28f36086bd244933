"""Documentation is under test: generated pages are fresh, references resolve, links lead somewhere."""

import doctest
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

import baserate
from baserate import draw
from baserate.measure import MEASURES, about, multiclass
from baserate.report import CHECKS

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted([*(ROOT / "docs" / "figures").glob("*.py"), *(ROOT / "docs" / "tutorials").glob("*.py")])
GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES = sorted(
    [
        *(ROOT.glob("*.md")),
        *(page for room in ("", "decisions", "findings") for page in (ROOT / "docs" / room).glob("*.md")),
    ]
)


def test_generated_pages_are_fresh() -> None:
    assert GENERATE["main"](check=True) == 0, "run make pages"


def test_every_measure_has_its_entry() -> None:
    page = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    for home, measures in {"": MEASURES, "multiclass.": multiclass.MEASURES}.items():
        for name, function in measures.items():
            assert f"### {home}{name}\n" in page
            assert all(other in page for other in about(function).also)


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
    assert cited == set(GENERATE["references"]())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists() or target.startswith("made/"), target  # made when the pages are


def test_the_example_of_how_to_add_a_measure_works() -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code
    names = dict(vars(import_module("baserate.measure._counts")))
    exec(code[1], names)  # noqa: S102  (our own page)
    told = about(names["bookmaker"])
    assert (told.of, told.also, told.formula) == (baserate.Counts, ("flag odds",), "TP/FP")
    example = doctest.DocTestFinder().find(names["bookmaker"], "bookmaker", globs={"bookmaker": names["bookmaker"]})
    assert doctest.DocTestRunner().run(example[0]) == (0, 2)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_of_the_documentation_run(program: Path) -> None:
    assert runpy.run_path(str(program))


def test_every_figure_is_in_the_gallery() -> None:
    drawn = "".join(path.read_text(encoding="utf-8") for path in PROGRAMS if path.parent.name == "figures")
    assert {name for name in draw.__all__ if f"draw.{name}(" not in drawn} == {"Drawing"}


def test_the_version_is_told_everywhere() -> None:
    assert f"\nversion: {baserate.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {baserate.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_number_of_measures_is_told_right() -> None:
    told = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`baserate.measure`: {len(MEASURES)} measures" in told
    assert f"`baserate.measure.multiclass`: {len(multiclass.MEASURES)} measures" in told


def test_every_make_target_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    assert all(re.search(rf"^{target}:.*## ", makefile, re.MULTILINE) for target in phony[1].split())
