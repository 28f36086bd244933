"""Public objects as one line, as text and as HTML for notebooks: short, escaped and without scripts."""

import importlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Confusion, Costs, Counts, Cut, Policy, RandomizedCut, Results, calibration, measure, read
from baserate._formatting import format_number
from baserate._rendering import Printable, Renderable
from baserate.text import object_page
from baserate.text._objects import PAGES
from tests.test_copies import FORMS, MAKERS

SAMPLES = {name: make() for name, make in (MAKERS | FORMS).items()}
SHOWN = {name: value for name, value in SAMPLES.items() if isinstance(value, Renderable)}
LONGEST = 320
OWN_PAGES = {"Report", "MulticlassReport", "View"}
"""Types whose pages are in the package `report`."""
TAGS = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "b", "br", "pre"}
HOSTILE = '</td><script>alert(1)</script><img src=x onerror="alert(1)">\x1b[2J\n'
BY_SEX = Policy(
    by_group={("f",): Cut((0.4,)), ("m",): RandomizedCut((Cut((0.5,)), Cut((0.6,))), (0.3, 0.7))},
    otherwise="refer",
    attributes=("sex",),
    notes=("the sample is small.",),
)


class Tags(HTMLParser):
    """Tags, attributes and texts of a piece of HTML; every tag must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.cells: list[list[str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open += [tag] * (tag != "br")
        self.cells += [[]] * (tag == "tr")
        if tag in {"td", "th"}:
            self.cells[-1] = [*self.cells[-1], ""]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in {"td", "th"}:
            self.cells[-1][-1] += data


def renderable_classes(base: type[Any] = Renderable) -> Iterator[type[Any]]:
    subclasses: list[type[Any]] = base.__subclasses__()
    for each in subclasses:
        yield each
        yield from renderable_classes(each)


def test_every_renderable_type_has_a_page_and_an_example() -> None:
    for module in walk_packages(baserate.__path__, "baserate."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Dataclasses with slots are made twice, and the first one stays a subclass.
    names = {each.__name__ for each in renderable_classes() if each is not Printable}
    assert names == {*PAGES, *OWN_PAGES}
    assert names <= {*MAKERS}


@pytest.mark.parametrize("name", SAMPLES)
def test_representations_are_one_short_line(name: str) -> None:
    text = repr(SAMPLES[name])
    assert "\n" not in text
    assert "array(" not in text
    assert " at 0x" not in text
    assert len(text) <= LONGEST


@pytest.mark.parametrize("name", SHOWN)
def test_html_is_inert_and_closed(name: str) -> None:
    value = SHOWN[name]
    html = value._repr_html_()
    page = Tags(html)
    assert {*page.tags} <= TAGS
    assert page.attributes <= {"style", "scope", "colspan"}
    assert "url(" not in html
    assert len(html) < 60_000
    assert "\N{REPLACEMENT CHARACTER}" not in html
    assert value._repr_html_() == html


@pytest.mark.parametrize("name", [name for name in SHOWN if name not in OWN_PAGES])
def test_text_and_html_show_the_same_cells(name: str) -> None:
    value = SHOWN[name]
    text = object_page(value).plain_text(1000)
    assert [cell for row in Tags(value._repr_html_()).cells for cell in row if cell not in text] == []


def hostile_objects(label: str) -> dict[str, Any]:
    """Return objects with a label wherever they take one."""
    table: dict[str, Any] = {
        label: [1, 0, 1, 0, 1, 0],
        "p": [0.9, 0.6, 0.4, 0.1, 0.7, 0.2],
        "g": [label, "b", label, "b", "b", label],
    }
    tallies = read.tallies({**table, f"{label}2": table["p"]}, truth=label, score=f"{label}2", group="g")
    rows = read.rows({"y": table[label], label: table["p"], "g": table["g"]}, truth="y", score=label, group="g")
    named = {"score": label, "truth": label}
    policy = Policy(
        by_group={(label,): Cut((0.5,))}, otherwise="refuse", attributes=("g",), notes=(label,), columns=named
    )
    scores = np.column_stack([table["p"], 1 - np.array(table["p"])])
    classes = baserate.class_scores([label, "b"] * 3, scores, labels=[label, "b"])
    report = baserate.evaluate(table[label], {label: table["p"]}, group=table["g"], fp=1, fn=2)
    return {
        "tallies": tallies,
        "rows": rows,
        "policy": policy,
        "summary": measure.summary(tallies),
        "confusion": Confusion.of_matrix([[3, 1], [2, 4]], [label, "b"], truth="rows"),
        "costs": baserate.CostMatrix([[0, 1], [2, 0]], [label, "b"]),
        "calibrator": calibration.fit(classes, "prior"),
        "results": Results({"measure": [label], "value": [0.5], "why": [label]}, {"notes": [label]}),
        "undefined": Results({"measure": [label], "value": [None], "why": [label]}),
        "report": report,
        "view": report.here,
        "finding": report.findings[0],
        "plan": report.plan,
    }


PLAIN_OBJECTS, HOSTILE_OBJECTS = hostile_objects("x"), hostile_objects(HOSTILE)


@pytest.mark.parametrize("name", PLAIN_OBJECTS)
def test_hostile_labels_add_no_elements(name: str) -> None:
    plain, hostile = PLAIN_OBJECTS[name], HOSTILE_OBJECTS[name]
    html = hostile._repr_html_()
    assert Tags(html).tags == Tags(plain._repr_html_()).tags
    assert "<script" not in html
    assert "<img" not in html
    assert "\x1b" not in html
    assert "\x1b" not in repr(hostile)
    assert "\n" not in repr(hostile)
    assert "\x1b" not in str(hostile)


def test_confusion_matrices_have_truth_in_rows() -> None:
    assert Tags(Counts(tp=20, fp=10, fn=5, tn=65)._repr_html_()).cells == [
        ["", "flagged", "not flagged", "total"],
        ["positive", "20", "5", "25"],
        ["negative", "10", "65", "75"],
        ["total", "30", "70", "100"],
    ]
    matrix = Confusion.of_matrix([[20, 5], [10, 65]], ["yes", "no"], truth="rows")
    assert Tags(matrix._repr_html_()).cells == [["true", "yes", "no"], ["yes", "20", "5"], ["no", "10", "65"]]


def test_large_matrices_and_curves_are_shortened() -> None:
    large = Confusion.of_matrix(np.eye(30), truth="rows")
    assert "18 more classes not shown." in large._repr_html_()
    assert len(Tags(large._repr_html_()).cells) == 13
    curve = baserate.curve(baserate.tally([0, 1] * 50, range(100)))
    page = Tags(curve._repr_html_())
    assert page.cells[:3] == [
        ["threshold", "tp", "fp", "fn", "tn"],
        ["∞", "0", "0", "50", "50"],
        ["99", "1", "0", "49", "50"],
    ]
    assert "91 more rows." in page.text


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), "Policy(fixed; flag ≥ 0.5)"),
        (
            Policy(by_group={(): Cut((0.2, 0.7), ("pass", "refer", "flag"))}, otherwise="refuse"),
            "Policy(fixed; pass < 0.2 ≤ refer < 0.7 ≤ flag)",
        ),
        (
            BY_SEX,
            "Policy(fixed; 2 groups by sex: f flag ≥ 0.4; m flag ≥ 0.5 (30%) or ≥ 0.6 (70%); needs group and id)",
        ),
        (
            Policy(by_group={(at,): Cut((at,)) for at in range(6)}, otherwise="pass", attributes=("g",)),
            "Policy(fixed; 6 groups by g: 0 flag ≥ 0; 1 flag ≥ 1; 2 flag ≥ 2; 3 flag ≥ 3 and 2 more; needs group)",
        ),
    ],
)
def test_policies_show_their_thresholds(policy: Policy, text: str) -> None:
    assert repr(policy) == text


def test_printed_policies_are_tables() -> None:
    assert str(BY_SEX).splitlines() == [
        "The decision depends on sex, and is randomized by ID where thresholds disagree (rule: as given).",
        "",
        "sex  scores       action  probability",
        "f    score ≥ 0.4  flag            1",
        "m    score ≥ 0.5  flag            0.3",
        "m    score ≥ 0.6  flag            0.7",
        "",
        "Other groups: refer.",
        "the sample is small.",
    ]


def test_calibrators_show_their_parameters() -> None:
    truth, score = [0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.3, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9]
    logistic = calibration.fit(baserate.tally(truth, score), "logistic")
    slope = {each.name: each.value for each in logistic.parameters}["slope"]
    assert f"slope {slope:.4g}; fitted on 8 rows)" in repr(logistic)
    assert repr(calibration.fit(baserate.tally(truth, score), "isotonic")).startswith("Calibrator(isotonic, ")
    cells = Tags(logistic._repr_html_()).cells
    assert cells[0] == ["parameter", "value (95% CI)"]
    assert ["0.5", format_number(logistic([0.5])[0], 4)] in cells


def test_short_representations_contain_what_differs_from_defaults() -> None:
    assert repr(baserate.Plan(score="risk", costs=Costs(fp=1, fn=5))) == (
        "Plan(score=('risk',), costs=Costs(tp=0.0, fp=1, fn=5, tn=0.0))"
    )
    assert repr(Counts(tp=1 / 3, fp=2, fn=0, tn=1e9)) == "Counts(tp=0.333333, fp=2.0, fn=0.0, tn=1e+09)"
