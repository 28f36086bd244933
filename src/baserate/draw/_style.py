"""How all figures look: colours that a colour-blind person can tell apart, one set of letters, and words for axes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Those of Okabe and Ito, without the yellow that is lost on white."""
DASHES = ("-", "--", "-.", ":")
"""Lines of one colour still differ."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY, FAINT = "#555555", "#B0B0B0"
POSITIVE, NEGATIVE = COLOURS[1], COLOURS[0]
"""The two classes, in every figure."""
SIZE = (4.8, 4.2)
"""Inches; a column of a journal holds two thirds of it without harm."""
FEW = 5
"""So many lines of a legend fit into the axes,"""
SHORT = 44
"""if they are no longer than this."""
WIDEST = 64
"""Letters in a line of a legend."""
LOOK: Any = {
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.title_fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "xtick.color": GREY,
    "xtick.labelcolor": "black",
    "xtick.labelsize": 8,
    "ytick.color": GREY,
    "ytick.labelcolor": "black",
    "ytick.labelsize": 8,
}
SAVED: Any = {"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "baserate"}
"""Letters that look alike everywhere, and files that are the same whenever they are written."""
SMALL = 3.0
"""Inches of an axis below which its words need two lines."""
AXES = {
    "act_from": "probability from which on one would act (threshold)",
    "cost": "least cost, as a share of the greatest",
    "cost_proportion": "what a false alarm costs, of both errors (cost proportion)",
    "density": "share of a class per unit of the score (density)",
    "flag_rate": "share of everybody who is flagged (flag rate)",
    "fpr": "share of negatives who are flagged (false positive rate)",
    "lift": "times as many positives as by chance (lift)",
    "loss": "cost per person (Brier loss)",
    "mass": "share of a class at a score (mass)",
    "net_benefit": "positives found, less false alarms (net benefit)",
    "precision": "share of the flagged who are positive (precision)",
    "prevalence": "share of everybody who is positive (prevalence)",
    "probability": "predicted probability",
    "probability_cost": "share of possible costs due to positives (probability cost)",
    "ratio": "times as frequent among positives (likelihood ratio)",
    "recall": "share of positives who are flagged (recall)",
    "sensitivity": "share of positives who are flagged (sensitivity)",
    "share": "share that is positive (observed)",
}
"""Plain words for an axis, with the name that specialists use."""


def colour(at: int) -> str:
    """Colour of the series at a place."""
    return COLOURS[at % len(COLOURS)]


def dashes(at: int) -> str:
    """Kind of line of the series at a place: as 7 colours and 4 kinds have no common factor, 28 series differ."""
    return DASHES[at % len(DASHES)]


def marker(at: int) -> str:
    """Sign of the series at a place."""
    return MARKERS[at % len(MARKERS)]


def name_axes(ax: "Axes", x: str, y: str) -> None:
    """Write what both axes are, in plain words where there are any, in two lines where the axes are small."""
    box, dpi = ax.get_window_extent(), ax.get_figure(root=True).dpi  # type: ignore[union-attr]  # it has one
    for put, name, length in ((ax.set_xlabel, x, box.width), (ax.set_ylabel, y, box.height)):
        told = AXES.get(name, spoken(name))
        put(told if length / dpi >= SMALL else told.replace(" (", "\n("))


def spoken(name: str) -> str:
    """Name of a measure as it is said."""
    return name.replace("_", " ")


def shares(ax: "Axes", axes: Sequence[str] = ("x", "y")) -> None:
    """Let axes run from 0 to 1, with a little room so that a line on the edge is seen."""
    for each in axes:
        (ax.set_xlim if each == "x" else ax.set_ylim)(-0.02, 1.02)


def explained(ax: "Axes", where: Any, *, away: float = 1.02, short: int = SHORT) -> None:  # noqa: ANN401  (a place, as matplotlib calls it)
    """Add a legend if there is anything to tell: of much, or without a free place, on the right of the axes."""
    told = ax.get_legend_handles_labels()[1]
    if told and (where is None or len(told) > FEW or max(map(len, told)) > short):
        ax.legend(loc="upper left", bbox_to_anchor=(away, 1.0), borderaxespad=0.0)
    elif told:
        ax.legend(loc=where)


def named(*parts: str) -> str:
    """Name of a series for a legend, with what is told of it, in lines of a bearable length.

    >>> named("risk", "AUC 0.8"), named("", "AUC 0.8")
    ('risk: AUC 0.8', 'AUC 0.8')
    """
    text = fill(": ".join(filter(None, parts)), WIDEST, subsequent_indent="  ").replace("$", r"\$")
    # A name that begins with a line is left out of legends: a hair before it keeps it.
    return f"\u200a{text}" if text.startswith("_") else text


def percent(share: float) -> str:
    """Share in per cent, as it is said.

    >>> percent(0.95), percent(0.0123)
    ('95 %', '1.23 %')
    """
    return f"{100 * share:.3g} %"


@contextmanager
def looking(*, ours: bool) -> Iterator[None]:
    """Paint as the house does, or as the axes that were given do."""
    from matplotlib import rc_context

    with rc_context(LOOK if ours else {}):
        yield
