"""All figures at the widths of journals: no text is cut off or overlaps another, and no legend covers data."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from baserate import Costs, Tallies, confusion, draw, population, read, tally
from baserate.draw import Drawing
from tests.draw.drawings import make_tallies

WIDTHS = ("85mm", "180mm")
LONG = "Gradient boosting with laboratory values, version 2.1 (recalibrated in 2024)"
LINEAR = population.linear()


def make_named_tallies(*, group: bool = False) -> Tallies:
    """Return tallies of three models and of groups with long names."""
    rng = np.random.default_rng(3)
    rows = 900
    sick = rng.random(rows) < 0.25
    sites = ["St. Elsewhere teaching hospital and outpatient clinic", "county_hospital_emergency_room", "$ north_"]
    table: dict[str, Any] = {"sick": sick, "Place of treatment": rng.choice(sites, rows, p=[0.7, 0.25, 0.05])}
    names = [LONG, "a_very_long_name_of_a_model_without_any_space_that_fits_no_line_of_a_column", "_x$y$"]
    for at, name in enumerate(names):
        table[name] = 1 / (1 + np.exp(1.6 - (2 - at / 2) * sick - rng.normal(size=rows)))
    options: Any = {"group": "Place of treatment"} if group else {}
    return read.tallies(table, truth="sick", score=names, **options)


def make_classes(size: int) -> Drawing:
    rng = np.random.default_rng(size)
    names = np.array([f"{'moderate to severe ' * (at % 2)}class {at}" for at in range(size)])
    truth = rng.choice(names, 3000)
    return draw.confusion_matrix(confusion(truth, np.where(rng.random(3000) < 0.6, truth, rng.choice(names, 3000))))


ONE, SEVERAL, LONG_NAMES = make_tallies(20_000), make_tallies(models=7), make_named_tallies()
GROUPS, LONG_GROUPS = make_tallies(group=True, models=2), make_named_tallies(group=True)
COSTS = Costs(fp=1, fn=9)
MARKS: Any = {"band": True, "threshold": [0.3, 0.5]}


def make_curves(function: Callable[..., Drawing]) -> dict[str, Callable[[], Drawing]]:
    """Return the drawings of a figure that shows curves with marks."""
    return {
        "one": lambda: function(ONE, **MARKS),
        "several": lambda: function(SEVERAL, threshold=0.4),
        "long": lambda: function(LONG_NAMES, **MARKS),
        "groups": lambda: function(GROUPS, **MARKS),
    }


KINDS: dict[str, dict[str, Callable[[], Drawing]]] = {
    **{name: make_curves(getattr(draw, name)) for name in ("pr", "det", "gain", "lift")},
    "roc": {
        "one": lambda: draw.roc(ONE, costs=COSTS, **MARKS),
        "several": lambda: draw.roc(SEVERAL, costs=COSTS, threshold=0.4),
        "long": lambda: draw.roc(LONG_NAMES, costs=COSTS, **MARKS),
        "groups": lambda: draw.roc(GROUPS, **MARKS),
        "smooth": lambda: draw.roc(SEVERAL, smooth="binormal-ml", band=True),
    },
    "confusion-matrix": {
        "one": lambda: draw.confusion_matrix(ONE, threshold=0.3),
        "counts": lambda: draw.confusion_matrix(ONE, threshold=0.3, normalize=None),
        "labels": lambda: draw.confusion_matrix(
            ONE, threshold=0.3, labels={"True": "re-offended within two years", "False": "did not re-offend"}
        ),
        "three": lambda: make_classes(3),
        "six": lambda: make_classes(6),
        "nine": lambda: make_classes(9),
    },
    "scores": {
        "one": lambda: draw.scores(ONE, threshold=[0.3, 0.5]),
        "long": lambda: draw.scores(LONG_NAMES, model=LONG),
        "unbounded": lambda: draw.scores(tally([0, 1, 0, 1], [-12345.5, 0, 100, 98765.25]), threshold=17.5),
    },
    "thresholds": {
        "one": lambda: draw.thresholds(ONE, **MARKS),
        "single": lambda: draw.thresholds(ONE, "mcc"),
        "unbounded": lambda: draw.thresholds(tally([0, 1, 0, 1], [-12345.5, 0, 100, 98765.25])),
    },
    "reliability": {
        "one": lambda: draw.reliability(ONE, what="lowess"),
        "binned": lambda: draw.reliability(make_tallies(), what="binned"),
        "several": lambda: draw.reliability(SEVERAL),
        "long": lambda: draw.reliability(LONG_NAMES),
        "groups": lambda: draw.reliability(GROUPS),
    },
    "likelihood-ratio": {
        "one": lambda: draw.likelihood_ratio(ONE),
        "several": lambda: draw.likelihood_ratio(SEVERAL),
        "long": lambda: draw.likelihood_ratio(LONG_NAMES),
        "groups": lambda: draw.likelihood_ratio(GROUPS),
    },
    "decision-curve": {
        "one": lambda: draw.decision_curve(ONE, prevalence=0.02),
        "several": lambda: draw.decision_curve(SEVERAL),
        "bands": lambda: draw.decision_curve(SEVERAL, band="simultaneous"),
        "avoided": lambda: draw.decision_curve(ONE, kind="net_reduction", harm=0.01),
        "long": lambda: draw.decision_curve(LONG_NAMES),
        "groups": lambda: draw.decision_curve(GROUPS),
    },
    "cost-curve": {
        "one": lambda: draw.cost_curve(ONE, costs=COSTS, prevalence=0.02),
        "brier": lambda: draw.cost_curve(ONE, kind="brier"),
        "several": lambda: draw.cost_curve(SEVERAL, costs=COSTS, prevalence=0.02),
        "long": lambda: draw.cost_curve(LONG_NAMES),
        "groups": lambda: draw.cost_curve(GROUPS),
    },
    "prevalence": {
        "one": lambda: draw.prevalence(ONE, prevalence=0.0002),
        "linear": lambda: draw.prevalence(ONE, prevalence=0.02, log=False),
        "several": lambda: draw.prevalence(SEVERAL, prevalence=0.02),
        "long": lambda: draw.prevalence(LONG_NAMES, measures=["precision"]),
        "groups": lambda: draw.prevalence(GROUPS, prevalence=0.02),
    },
    "groups": {
        "one": lambda: draw.groups(make_tallies(20_000, group=True)),
        "few": lambda: draw.groups(GROUPS, measures=["flag_rate", "precision"]),
        "several": lambda: draw.groups(make_tallies(models=5, group=True), measures=["flag_rate", "fpr", "lift"]),
        "long": lambda: draw.groups(LONG_GROUPS),
    },
    "population": {
        "densities": lambda: draw.population(LINEAR, sample=tally(*LINEAR.draw(100, 1))),
        "roc": lambda: draw.population(LINEAR, what="roc", sample=tally(*LINEAR.draw(100, 1))),
        "pr": lambda: draw.population(LINEAR, what="pr"),
    },
}
ONE_CLASS = {"sick": [1, 0, 1, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1, 0.2], "sex": ["f", "f", "m", "m", "f"]}
CASES = [(figure, case, width) for figure, cases in KINDS.items() for case in cases for width in WIDTHS]


def test_gallery_has_every_figure_of_the_registry() -> None:
    assert {*KINDS} == {*draw.FIGURES}


def is_quick(case: tuple[str, str, str]) -> bool:
    return case[1:] in {("long", "85mm"), ("one", "180mm")} and case[0] in {"roc", "groups", "decision-curve"}


def draw_texts(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> dict[str, Bbox]:
    """Draw a figure, and return the boxes of all texts that appear in it, by their words and place."""
    drawn: list[Text] = []
    original = Text.draw

    def record(self: Text, renderer: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401  (matplotlib's)
        if self.get_visible() and self.get_text().strip():
            drawn.append(self)
        original(self, renderer, *args, **options)

    monkeypatch.setattr(Text, "draw", record)
    figure.canvas.draw()
    monkeypatch.undo()
    distinct = {id(text): text for text in drawn}.values()
    return {f"{text.get_text()!r} at {text.get_position()}": text.get_window_extent() for text in distinct}


def panels(figure: Figure) -> Iterator[Axes]:
    """Yield the axes of a figure with their insets, where they show data."""
    for ax in figure.axes:
        insets = [each for each in ax.child_axes if isinstance(each, Axes)]
        yield from insets
        if ax.patch.get_visible():
            yield ax


def shrink(box: Bbox, by: float) -> Bbox:
    return Bbox.from_extents(box.x0 + by, box.y0 + by, box.x1 - by, box.y1 - by)


def find_faults(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List texts that are cut off or overlap, and legends that cover data."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    texts = draw_texts(figure, monkeypatch)
    pixel = figure.dpi / 150
    whole = figure.bbox.padded(pixel)
    faults = [
        f"{name} is cut off"
        for name, box in texts.items()
        if box.x0 < whole.x0 or box.y0 < whole.y0 or box.x1 > whole.x1 or box.y1 > whole.y1
    ]
    for (name, box), (other, other_box) in combinations(texts.items(), 2):
        if shrink(box, pixel).overlaps(shrink(other_box, pixel)):
            faults.append(f"{name} overlaps {other}")
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        faults += [f"the legend covers data of {each}" for each in panels(figure) if box.overlaps(each.bbox)]
    return faults


@pytest.mark.parametrize(
    ("figure", "case", "width"),
    [pytest.param(*case, marks=[] if is_quick(case) else pytest.mark.slow) for case in CASES],
)
def test_no_text_is_cut_off_or_overlaps(figure: str, case: str, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = KINDS[figure][case]().plot(width=width)
    inches = result.figure.get_size_inches()
    assert inches[0] * 25.4 == pytest.approx(float(width.removesuffix("mm")))
    assert inches[1] < 9.5  # the height of a page
    assert find_faults(result.figure, monkeypatch) == []


@pytest.mark.quick(2)
@pytest.mark.parametrize("figure", [name for name in KINDS if name not in {"population", "prevalence"}])
def test_groups_of_one_class_are_painted(figure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some measures of a group without negatives are undefined, so that their lines have no point."""
    result = draw.FIGURES[figure].function(
        read.tallies(ONE_CLASS, truth="sick", score="risk", group="sex"), width="85mm"
    )
    assert find_faults(result.figure, monkeypatch) == []
