"""Layout of figures: all text is within the figure, and given axes keep their figure."""

from collections.abc import Callable

import pytest
from matplotlib.figure import Figure

from baserate import Costs, draw, population, tally
from baserate.draw import Drawing
from tests.draw.drawings import make_tallies

SCORE = tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])
LINEAR = population.linear()
DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "reliability": lambda: draw.reliability(make_tallies()),
    "isotonic": lambda: draw.reliability(make_tallies(), what="isotonic"),
    "three": lambda: draw.reliability(make_tallies(models=3)),
    "long": lambda: draw.reliability(
        {"a name that is longer than the whole figure is wide " * 2: SCORE, "_$b$": SCORE}
    ),
    "many": lambda: draw.reliability(make_tallies(models=7)),
    "likelihood_ratio": lambda: draw.likelihood_ratio(make_tallies()),
    "decision_curve": lambda: draw.decision_curve(make_tallies(models=3)),
    "cost_curve": lambda: draw.cost_curve(make_tallies(), costs=Costs(fp=1, fn=9), prevalence=0.1),
    "brier": lambda: draw.cost_curve(make_tallies(models=2), kind="brier"),
    "prevalence": lambda: draw.prevalence(make_tallies(group=True), prevalence=0.02),
    "groups": lambda: draw.groups(make_tallies(group=True)),
    "densities": lambda: draw.population(LINEAR, sample=tally(*LINEAR.draw(100, 1))),
    "roc": lambda: draw.population(LINEAR, what="roc"),
}
QUICK = ("long", "groups", "decision_curve")
"""Layouts that differ: wrapped names below, panels, and a legend below."""
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in DRAWINGS]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", NAMES)
def test_all_text_is_within_a_figure_with_a_title(name: str) -> None:
    result = DRAWINGS[name]()
    result.ax.set_title("What it is about")
    result.figure.draw_without_rendering()
    drawn = result.figure.get_tightbbox()
    inches = result.figure.get_size_inches()
    assert -0.02 <= drawn.x0 <= drawn.x1 <= inches[0] + 0.02
    assert -0.02 <= drawn.y0 <= drawn.y1 <= inches[1] + 0.02


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", NAMES)
def test_given_axes_keep_their_figure(name: str) -> None:
    figure = Figure(figsize=(9, 9))
    ax = figure.add_subplot(2, 2, 1)
    result = DRAWINGS[name]().plot(ax)
    assert result.figure is figure
    assert figure.axes == [ax]
    assert tuple(figure.get_size_inches()) == (9, 9)
    legend = ax.get_legend()
    assert legend is not None
    figure.draw_without_rendering()
    # Panels of groups fill the axes.
    assert ax.get_window_extent().overlaps(legend.get_window_extent()) == (name != "groups")
