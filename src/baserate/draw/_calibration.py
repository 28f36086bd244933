"""Figures of calibration: reliability diagrams, and likelihood ratios of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from baserate._errors import OptionError
from baserate._results import Results
from baserate.draw._data import POINTS, Data, Series, split_series
from baserate.draw._figure import Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import FigureOptions, add_legend
from baserate.draw._lines import (
    check_both_classes,
    legend_label,
    paint_band,
    paint_line,
    plot_values,
    probability_tallies,
)
from baserate.draw._style import (
    AXIS_LABELS,
    LIGHT_GRAY,
    THIN,
    color_at,
    format_percent,
    label_axes,
    line_style_at,
    marker_at,
    set_log_axis,
    set_unit_limits,
)
from baserate.infer import CurveOptions, calibration_curves
from baserate.read import accepts_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ReliabilityCurve = Literal["binned", "isotonic", "lowess"]
_RELIABILITY_CURVES = ("binned", "isotonic", "lowess")
_STRIP = (0.0, -0.25, 1.0, 0.19)
"""Place of the counts below the axes: left, bottom, width and height, as fractions of the axes."""
_COUNT_BINS = 20
"""Bins of the counts below a curve that is not binned."""
_MAX_LINEAR_RATIO = 50
"""Ratio of the largest to the smallest count from which on the axis is logarithmic."""
_CURVES = {"binned": "Observed in bins", "isotonic": "Isotonic fit", "lowess": "LOWESS fit"}
"""Legend of the line of a single model; several lines have the names of their models."""
_BANDS = {
    "Wilson": "{} CI (Wilson)",
    "consistency": "{} consistency band",
    "confidence": "{} confidence band",
}


@takes_look
@accepts_predictions("figure")
def reliability(
    data: Data,
    *,
    what: ReliabilityCurve = "isotonic",
    options: CurveOptions = CurveOptions(),  # noqa: B008  (it is immutable)
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw a reliability diagram (calibration curve): observed against predicted risk, with counts below.

    Several models or groups have lines without bands. A LOWESS fit and its band are clipped to [0, 1].

    Parameters
    ----------
    data
        One model, several by name, or tallies with groups; the scores must be probabilities.
    what
        "isotonic" or "lowess", a curve with a band; or "binned", with an interval per bin.
    options
        Kind of band and number of bins. The default band is a consistency band: where the curve would lie if all
        probabilities were calibrated.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, infer, tally
    >>> data = tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])
    >>> drawing = draw.reliability(data, what="binned", options=infer.CurveOptions(bins=2))
    >>> [(row["probability"], row["share"], row["mass"]) for row in drawing.rows()]
    [(0.2, 0.0, 2.0), (0.8500000000000001, 1.0, 2.0)]
    """
    if what not in _RELIABILITY_CURVES:
        raise OptionError(
            f"what is {what!r}; expected one of {', '.join(_RELIABILITY_CURVES)}.", option="what", value=what
        )
    tallies = probability_tallies(data)
    parts = {"curve": calibration_curves(tallies, what, options=options, points=POINTS)}
    if what != "binned":
        counts = calibration_curves(tallies, "binned", options=CurveOptions(bins=_COUNT_BINS))
        columns = ("model", "group", "lower", "upper", "mass")
        parts["counts"] = Results({name: counts.columns[name] for name in columns}, counts.data)
    return make_drawing("reliability", parts, _paint_reliability, ax=ax, ratio=1)


def _paint_reliability(ax: Axes, parts: Parts) -> None:
    curve = parts["curve"]
    every = list(split_series(curve))
    ax.plot([0, 1], [0, 1], color=LIGHT_GRAY, linewidth=THIN, label="Perfect calibration")
    if len(every) == 1:
        _paint_uncertainty(ax, every[0], curve)
    for at, each in enumerate(every):
        signs: Any = {"marker": marker_at(at)} if _has_points(each, curve) else {"many": len(every)}
        label = legend_label(each.name) or _CURVES[curve.data["curve"]]
        paint_line(ax, each, at, ("probability", "share"), label=label, **signs)
    label_axes(ax, "probability", "share")
    set_unit_limits(ax)
    ax.set_box_aspect(1)
    ax.set_anchor("NW")  # free space goes below and to the right, for counts and legend
    add_legend(ax)
    _paint_counts(ax, parts.get("counts", curve))


def _has_points(each: Series, curve: Results) -> bool:
    """Return whether to draw points rather than a line, which a single point would not show."""
    return curve.data["curve"] == "binned" or len(each.rows["share"]) == 1


def _paint_uncertainty(ax: Axes, each: Series, curve: Results) -> None:
    label = _BANDS[curve.data["band"]].format(format_percent(curve.data["level"]))
    if not _has_points(each, curve):
        paint_band(ax, each.rows, 0, "probability", label=label)
        return
    x, low, high = (plot_values(each.rows[name]) for name in ("probability", "low", "high"))
    ax.vlines(x, low, high, color=color_at(0), linewidth=THIN, label=label)


def _paint_counts(ax: Axes, counts: Results) -> None:
    """Paint counts below the square: bars, or a dash per bin of several series; logarithmic if very uneven."""
    from matplotlib.axes import Axes
    from matplotlib.ticker import MaxNLocator

    # A second figure on the axes adds its counts to those of the first.
    panels = [each for each in ax.child_axes if isinstance(each, Axes)]
    strip = panels[0] if panels else ax.inset_axes(_STRIP, sharex=ax)
    strip.set_axisbelow(True)
    every = list(split_series(counts))
    for at, each in enumerate(every):
        low, high, mass = (plot_values(each.rows[name]) for name in ("lower", "upper", "mass"))
        if len(every) == 1:
            strip.bar(
                low,
                mass,
                high - low,
                align="edge",
                color=color_at(at),
                alpha=0.5,
                edgecolor=color_at(at),
                linewidth=0.4,
            )
        else:
            strip.hlines(mass, low, high, color=color_at(at), linestyle=line_style_at(at))
    masses = plot_values(counts.columns["mass"])
    unit = "Weight" if counts.data["weighted"] else "Count"
    if masses.max(initial=0) > _MAX_LINEAR_RATIO * masses.min(initial=np.inf):
        # A logarithmic axis has no 0 to start bars from; at the smallest count itself, its bar would vanish.
        strip.set_ylim(masses.min() / 2, 2 * masses.max())
        set_log_axis(strip, "y", lambda count: f"{count:,.0f}" if count >= 1 else f"{count:g}")
    else:
        strip.set_ylim(bottom=0)
        strip.yaxis.set_major_locator(MaxNLocator(3))
        strip.yaxis.set_major_formatter(lambda count, _place: f"{count:,.10g}")
    strip.set_ylabel(unit)
    strip.set_xlabel(AXIS_LABELS["probability"])
    ax.set_xlabel("")
    ax.tick_params(labelbottom=False)


_AXIS_MARGIN = 1.6
"""Factor by which the logarithmic axis extends beyond the data."""


@takes_look
@accepts_predictions("figure")
def likelihood_ratio(
    data: Data,
    *,
    options: CurveOptions = CurveOptions(),  # noqa: B008  (it is immutable)
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the likelihood ratio of each probability: observed, and implied by the probabilities.

    Likelihood ratios do not depend on the prevalence. Where they follow the implied ones, the probabilities are
    calibrated up to the prevalence that they were made for. Bins without one of the classes are arrows at an edge:
    their ratio is 0 or infinite.

    Parameters
    ----------
    data
        One model, several by name, or tallies with groups; the scores must be probabilities.
    options
        Number and kind of bins, and the confidence level.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, infer, tally
    >>> drawing = draw.likelihood_ratio(tally([0, 1, 0, 1], [0.2, 0.2, 0.2, 0.8]), options=infer.CurveOptions(bins=2))
    >>> [(row["probability"], row["ratio"]) for row in drawing.rows()]
    [(0.20000000000000004, 0.5), (0.8, inf)]
    """
    tallies = probability_tallies(data)
    check_both_classes(tallies, "a likelihood ratio")
    parts = {"curve": calibration_curves(tallies, "likelihood_ratio", options=options)}
    return make_drawing("likelihood_ratio", parts, _paint_likelihood_ratio, ax=ax)


def _paint_likelihood_ratio(ax: Axes, parts: Parts) -> None:
    curve = parts["curve"]
    every = list(split_series(curve))
    ax.set_ylim(*_ratio_limits(curve))
    set_log_axis(ax, "y", "{:g}".format)
    ax.axhline(1, color=LIGHT_GRAY, linewidth=THIN, label="No information (LR = 1)")
    for at, each in enumerate(every):
        look: Any = {"label": "" if at else "Implied by the probabilities", "linewidth": THIN, "linestyle": ":"}
        paint_line(ax, each, at, ("probability", "implied"), **look)
        if len(every) == 1:
            _paint_ratio_intervals(ax, each, f"{format_percent(curve.data['level'])} CI")
        _paint_ratios(ax, each, at)
    set_unit_limits(ax, "x")
    label_axes(ax, "probability", "ratio")
    add_legend(ax)


def _ratio_limits(curve: Results) -> tuple[float, float]:
    """Return limits from the least to the greatest positive number, with a margin."""
    values = np.concatenate([plot_values(curve.columns[name]) for name in ("ratio", "implied", "low", "high")])
    finite = np.append(values[np.isfinite(values) & (values > 0)], 1.0)  # with the line of no information
    return float(finite.min() / _AXIS_MARGIN), float(finite.max() * _AXIS_MARGIN)


def _paint_ratio_intervals(ax: Axes, each: Series, label: str) -> None:
    x, low, high = (plot_values(each.rows[name]) for name in ("probability", "low", "high"))
    ends = ax.get_ylim()
    ax.vlines(x, np.clip(low, *ends), np.clip(high, *ends), color=color_at(0), linewidth=THIN, label=label)


def _paint_ratios(ax: Axes, each: Series, at: int) -> None:
    """Paint ratios as a line; those of 0 and infinity, which have no logarithm, as arrows at the edges."""
    x, ratio = (plot_values(each.rows[name]) for name in ("probability", "ratio"))
    zero, infinite = ratio == 0, np.isinf(ratio)
    inner = np.where(zero | infinite, np.nan, ratio)
    look: Any = {"color": color_at(at), "linestyle": line_style_at(at), "marker": marker_at(at)}
    ax.plot(x, inner, label=legend_label(each.name) or "Observed", **look)
    for end, sign, selected in zip(ax.get_ylim(), "v^", (zero, infinite), strict=True):
        if selected.any():  # the layout reserves space even for an empty line
            ax.plot(x[selected], np.full(selected.sum(), end), sign, color=color_at(at), clip_on=False)
