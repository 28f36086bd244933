"""Files of all figures."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from baserate import Costs, draw, population, tally
from baserate._errors import UnknownNameError
from baserate.draw import Drawing
from tests.draw.drawings import make_tallies

LINEAR = population.linear()
FIGURES: dict[str, Callable[[], Drawing]] = {
    "confusion_matrix": lambda: draw.confusion_matrix(make_tallies(), threshold=0.5),
    "cost_curve": lambda: draw.cost_curve(make_tallies(), costs=Costs(fp=1, fn=9), prevalence=0.1),
    "decision_curve": lambda: draw.decision_curve(make_tallies(models=3)),
    "det": lambda: draw.det(make_tallies(models=2), band=True, threshold=0.5),
    "gain": lambda: draw.gain(make_tallies(models=2), band=True),
    "groups": lambda: draw.groups(make_tallies(group=True, models=2)),
    "lift": lambda: draw.lift(make_tallies(group=True), threshold=0.5),
    "likelihood_ratio": lambda: draw.likelihood_ratio(make_tallies()),
    "population": lambda: draw.population(LINEAR, sample=tally(*LINEAR.draw(100, 1))),
    "pr": lambda: draw.pr(make_tallies(group=True, models=3), band=True, threshold=[0.3, 0.5]),
    "prevalence": lambda: draw.prevalence(make_tallies(group=True), prevalence=0.02),
    "reliability": lambda: draw.reliability(make_tallies(), what="isotonic"),
    "roc": lambda: draw.roc(make_tallies(models=2), band=True, threshold=0.5, costs=Costs(fp=1, fn=5)),
    "scores": lambda: draw.scores(make_tallies(), threshold=0.5),
    "thresholds": lambda: draw.thresholds(make_tallies(), band=True, threshold=0.5),
}
"""Name -> a figure with everything on it."""


def test_every_figure_of_the_registry_is_tested() -> None:
    figures = {name for name in dir(draw) if not name.endswith("Display")} - {"Drawing"}
    assert {*FIGURES} == figures == {entry.function.__name__ for entry in draw.FIGURES.values()}


def test_registry_of_figures() -> None:
    for name, entry in draw.FIGURES.items():
        assert draw.find_figure(name) is entry
        assert getattr(draw, name.replace("-", "_")) is entry.function
        assert entry.summary.endswith(".")
        assert len(entry.summary) <= 60
        assert all(draw.find_figure(alias) is entry for alias in entry.aliases)
        assert ("prevalence" in entry.options or "at" in entry.options) == entry.at_deployment
        # The band of a decision curve has two kinds, and so an option of its own.
        assert ("band" in entry.options) == (entry.band != "none" or name == "decision-curve")
        assert not entry.marks or {"threshold", "policy"} <= {*entry.options}
    assert draw.FIGURES["roc"].options[:2] == ("hull", "band")
    with pytest.raises(UnknownNameError, match="Did you mean 'roc'"):
        draw.find_figure("rock")


def check_files(folder: Path, name: str) -> None:
    drawings = FIGURES[name](), FIGURES[name]()
    for ending in ("svg", "png", "pdf", "csv", "json"):
        for order, each in enumerate(drawings):
            each.save(folder / f"{order}.{ending}", dpi=60)
        first, second = ((folder / f"{order}.{ending}").read_bytes() for order in (0, 1))
        assert first == second
        assert 0 < len(first) < 1_000_000
    root = ET.fromstring((folder / "0.svg").read_text(encoding="utf-8"))  # noqa: S314  (we wrote it)
    assert root.tag.endswith("svg")


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_equal_numbers_make_equal_files(tmp_path: Path, name: str) -> None:
    check_files(tmp_path, name)


@pytest.mark.slow
def test_files_of_a_figure_are_reproducible(tmp_path: Path) -> None:
    check_files(tmp_path, "roc")


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", FIGURES)
def test_all_text_is_within_the_picture(name: str) -> None:
    result = FIGURES[name]()
    result.figure.draw_without_rendering()
    whole = result.figure.bbox
    legend = result.ax.get_legend()
    assert (legend is None) == (name == "confusion_matrix")  # whose cells and labels say everything
    for box in (result.ax.get_tightbbox(), *([] if legend is None else [legend.get_window_extent()])):
        assert box is not None
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1
