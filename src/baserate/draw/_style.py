"""Style of all figures: colors, dashes, markers, text sizes, axes titles, and the units and scales of axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from baserate.text import measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072b2", "#d9690f", "#00604a", "#d58abb", "#3f1f8c", "#8a6a1f", "#20262e", "#a3002a")
"""Colors in the hues of the HTML page; neighbors also differ in luminance, for print in shades of gray."""
Dash = str | tuple[float, tuple[float, ...]]
DASHES: tuple[Dash, ...] = (
    "-",
    (0, (5, 2)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (1, 1.4)),
    (0, (9, 2)),
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (3, 1)),
    (0, (9, 1.5, 3, 1.5)),
)
"""Dash patterns, each different from all others."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
GRAY, LIGHT_GRAY = "#555555", "#9a9a9a"
POSITIVE, NEGATIVE = "#d55e00", "#0072b2"
"""Colors of the two classes in every figure."""
TEXT_SIZE, SMALL_TEXT_SIZE = 8, 7
"""Points of titles, and of tick labels and legends, at every width: what journals ask for."""
STYLE: Any = {
    "axes.edgecolor": GRAY,
    "axes.grid": True,
    "axes.labelsize": TEXT_SIZE,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": TEXT_SIZE,
    "axes.titleweight": "bold",
    "font.family": "sans-serif",
    # Matplotlib contains the first; the others are for readers of SVG files, whose text stays text.
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": TEXT_SIZE,
    "grid.color": "#E9E9E9",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.borderaxespad": 0.0,
    "legend.borderpad": 0.0,
    "legend.columnspacing": 1.4,
    "legend.fontsize": SMALL_TEXT_SIZE,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.handletextpad": 0.6,
    "legend.labelspacing": 0.4,
    "legend.title_fontsize": SMALL_TEXT_SIZE,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "text.hinting": "no_hinting",  # so that text has the same width at every resolution
    "xtick.color": GRAY,
    "xtick.labelcolor": "black",
    "xtick.labelsize": SMALL_TEXT_SIZE,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "xtick.minor.size": 1.5,
    "xtick.minor.width": 0.4,
    "ytick.color": GRAY,
    "ytick.labelcolor": "black",
    "ytick.labelsize": SMALL_TEXT_SIZE,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
    "ytick.minor.size": 1.5,
    "ytick.minor.width": 0.4,
}
THIN = 0.8
"""Points of reference lines and intervals."""
SHADE = 0.18
"""Opacity of a band."""
AXIS_LABELS = {
    "act_from": "Threshold probability",
    "cost": "Normalized expected cost",
    "cost_proportion": "Cost proportion: FP cost ÷ (FP cost + FN cost)",
    "density": "Density",
    "flag_rate": "Flagged (share of all)",
    "fnr": "False negative rate (1 − sensitivity)",
    "fpr": "False positive rate (1 − specificity)",
    "lift": "Lift (precision ÷ prevalence)",
    "loss": "Brier loss (cost per person)",
    "mass": "Probability mass",
    "net_benefit": "Net benefit",
    "net_reduction": "Net interventions avoided per 100",
    "npv": "NPV",
    "one_minus_specificity": "1 − Specificity",
    "precision": "Precision (PPV)",
    "prevalence": "Prevalence",
    "probability": "Predicted risk",
    "probability_cost": "Probability cost (share of costs due to positives)",
    "ratio": "Likelihood ratio",
    "recall": "Recall (sensitivity)",
    "sensitivity": "Sensitivity",
    "share": "Observed risk",
    "standardized": "Standardized net benefit",
}
"""Titles of axes, as journals have them."""
_MEASURE_NAMES = {"f1": "F1", "fnr": "FNR", "fpr": "FPR", "mcc": "MCC", "npv": "NPV", "precision": "PPV (precision)"}
"""Measures whose names are not words, or have a standard abbreviation."""

_series_before: ContextVar[int] = ContextVar("series_before", default=0)
"""Number of series that are on the axes already, while a figure is painted."""


@contextmanager
def apply_style(*, ours: bool) -> Iterator[None]:
    """Apply the style of baserate, or keep that of the given axes."""
    from matplotlib import rc_context

    with rc_context(STYLE if ours else {}):
        yield


@contextmanager
def count_series_on(ax: Axes) -> Iterator[None]:
    """Continue the styles of the series that an earlier figure has painted on the axes."""
    before = _series_before.set(len({str(line.get_color()) for line in ax.get_lines()} & {*COLORS}))
    try:
        yield
    finally:
        _series_before.reset(before)


def place_on_axes(at: int) -> int:
    """Return the index of a series among all on the axes, to which an earlier figure may have added some."""
    return at + _series_before.get()


def color_at(at: int) -> str:
    """Return the color of the series at an index."""
    return COLORS[place_on_axes(at) % len(COLORS)]


def line_style_at(at: int) -> Any:  # noqa: ANN401  (a line style of matplotlib)
    """Return the dashes of the series at an index: with 8 colors and 8 patterns, 64 series differ."""
    place = place_on_axes(at)
    return DASHES[(place + place // len(COLORS)) % len(DASHES)]


def marker_at(at: int) -> str:
    """Return the marker of the series at an index."""
    return MARKERS[place_on_axes(at) % len(MARKERS)]


def sparse_markers(at: int, many: int, *values: npt.ArrayLike) -> dict[str, Any]:
    """Return markers at a few points of the line at an index, which differ between lines; none for a single line.

    `values` are the coordinates: matplotlib cannot space markers on a line without a finite point.
    """
    place, is_first = place_on_axes(at), not _series_before.get()
    coordinates = [np.asarray(each, dtype=np.float64) for each in values]
    if (many < 2 and is_first) or not np.isfinite(sum(coordinates)).any():
        return {}
    return {"marker": marker_at(at), "markersize": 3, "markevery": (0.04 + 0.035 * (place % 5), 0.22)}


def capitalize_first(text: str) -> str:
    """Capitalize the first letter, and only that.

    >>> capitalize_first("flag rate"), capitalize_first("PPV")
    ('Flag rate', 'PPV')
    """
    return text[:1].upper() + text[1:]


def measure_title(name: str) -> str:
    """Return the title of a measure, for legends and panels.

    >>> measure_title("flag_rate"), measure_title("npv")
    ('Flag rate', 'NPV')
    """
    return _MEASURE_NAMES.get(name) or capitalize_first(measure_label(name))


def label_axes(ax: Axes, x: str, y: str) -> None:
    """Give both axes their titles."""
    for put, name in ((ax.set_xlabel, x), (ax.set_ylabel, y)):
        put(AXIS_LABELS.get(name) or measure_title(name))


def set_unit_limits(ax: Axes, axes: Sequence[str] = ("x", "y"), *, percent: bool = True) -> None:
    """Limit axes to 0 to 1, with a margin so that a line on the edge is visible; rates are percentages."""
    for each in axes:
        (ax.set_xlim if each == "x" else ax.set_ylim)(-0.02, 1.02)
        (ax.set_xticks if each == "x" else ax.set_yticks)([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    if percent:
        show_percentages(ax, axes)


def show_per_100(ax: Axes) -> None:
    """Label the ticks of the y-axis as numbers of 100 cases."""
    from matplotlib.ticker import FuncFormatter

    ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _place: f"{100 * share:g}".replace("-", "−")))


def show_percentages(ax: Axes, axes: Sequence[str] = ("x", "y")) -> None:
    """Label the ticks of linear axes as percentages, all with the decimals that one of them needs."""
    from matplotlib.ticker import FuncFormatter

    class PercentFormatter(FuncFormatter):
        def format_ticks(self, values: Any) -> list[str]:  # noqa: ANN401  (an array)
            percentages = [round(100 * value, 6) + 0.0 for value in values]
            decimals = next(
                (many for many in range(4) if all(abs(each - round(each, many)) < 1e-6 for each in percentages)), 4
            )
            return [f"{each:.{decimals}f}%".replace("-", "−") for each in percentages]

    for each in axes:
        formatter = PercentFormatter(lambda share, _place: format_percent(share))
        (ax.xaxis if each == "x" else ax.yaxis).set_major_formatter(formatter)


def separate_thousands(ax: Axes) -> None:
    """Separate the thousands of the ticks of the x-axis, if they are large numbers."""
    if 1e4 <= max(map(abs, ax.get_xlim())) < 1e9:
        ax.xaxis.set_major_formatter(lambda value, _place: f"{value:,.10g}".replace("-", "−"))


def set_log_axis(ax: Axes, side: str, text: Callable[[float], str]) -> None:
    """Make an axis logarithmic, with plain numbers at its ticks; call it after the limits are set."""
    from matplotlib.ticker import LogLocator, NullFormatter

    (ax.set_xscale if side == "x" else ax.set_yscale)("log")
    low, high = ax.get_xlim() if side == "x" else ax.get_ylim()
    axis = ax.xaxis if side == "x" else ax.yaxis
    if log10(high / low) < 2:  # a single decade has too few powers of ten
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(lambda value, _place: text(value))
    axis.set_minor_formatter(NullFormatter())


def format_percent(share: float) -> str:
    """Format a stated share, such as a level or a prevalence, as a percentage in few digits.

    >>> format_percent(0.95), format_percent(0.0123)
    ('95%', '1.23%')
    """
    return f"{100 * share:.3g}%"


def format_rate(share: float) -> str:
    """Format an estimated rate as a percentage with one decimal.

    >>> format_rate(0.5783), format_rate(0.5)
    ('57.8%', '50.0%')
    """
    return f"{100 * share:.1f}%"
