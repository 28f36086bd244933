"""Confusion matrices: counts and shares of cells, and the recall and precision of each class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._cut import Cut
from baserate._domains import ShareLike, check_prevalence, parse_share, parse_shares, unused_option
from baserate._errors import OptionError
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies
from baserate.decide import evaluate_groups
from baserate.draw._data import Mixed, select_model, split_labels
from baserate.draw._figure import Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import TALLEST, FigureOptions
from baserate.draw._style import COLORS, SMALL_TEXT_SIZE, TEXT_SIZE, format_percent, format_rate
from baserate.draw._text_width import fit_lines, shorten_text, text_width
from baserate.infer import estimate
from baserate.measure import results_data
from baserate.read import accepts_predictions
from baserate.shift import PrevalenceLike, reweigh

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Normalize = Literal["true", "pred", "all"]
_WHOLE: dict[str, Any] = {"true": 1, "pred": 0, "all": (0, 1)}
"""Axes over which the cells that make 100% are summed."""
_MIDDLE = 0.5
"""Default threshold of probabilities, and the one that separates labels, which are 1 and 0."""
_FLAGS = ("flagged", "not flagged")
_FLAG_RATES = {("true", 0): "sensitivity", ("true", 1): "specificity", ("pred", 0): "PPV", ("pred", 1): "NPV"}
"""Names of rates where the classes are the positive one and the negative one."""
_MOST_LARGE = 5
"""Number of classes from which on numbers are small, and the matrix is a square."""
_LOW = 0.8
"""Height of a matrix of few classes relative to its width."""
_CELLS = 0.62
"""Share of the width that the cells have in the narrowest column, beside the labels of the rows."""
_LINE = 1.22
"""Height of a line relative to the size of its text."""
_LONGEST_LABEL = (0.38, 140)
"""Longest line of a label, unless it is horizontal below its column: a share of the width, and points."""


class _Cell(NamedTuple):
    """Size of a cell, in points."""

    width: float
    height: float


@takes_look
@accepts_predictions("matrix")
def confusion_matrix(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Mixed | Confusion | Confusions | MulticlassRows,
    *,
    threshold: float | None = None,
    policy: Policy | None = None,
    prevalence: PrevalenceLike | None = None,
    model: str | None = None,
    normalize: Normalize | None = "true",
    level: ShareLike = 0.95,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the confusion matrix: true classes in rows, predicted classes in columns.

    Each cell has its count and its share. The labels give the recall and the precision of each class with intervals;
    for two classes these are sensitivity and specificity, PPV and NPV.

    Parameters
    ----------
    data
        Predicted labels of two or more classes; or scores, which a threshold or a policy decides on. Groups are pooled.
    threshold
        Threshold of scores; 0.5 by default, if they are probabilities.
    policy
        Policy that decides instead. Rows that it refers are not counted.
    prevalence
        Deployment prevalence to reweight to; for several classes, the share of each.
    model
        Name of the model; needed where there are several.
    normalize
        Shares of the true class ("true"), of the predicted class ("pred") or of all ("all"); None for counts alone.
    level
        Confidence level of recall and precision.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw
    >>> drawing = draw.confusion_matrix(["cat", "cat", "dog", "dog"], ["cat", "dog", "dog", "dog"])
    >>> [(row["true"], row["predicted"], row["count"], row["share"]) for row in drawing.parts["cells"].rows()]
    [('cat', 'cat', 1.0, 0.5), ('cat', 'dog', 1.0, 0.5), ('dog', 'cat', 0.0, 0.0), ('dog', 'dog', 2.0, 1.0)]
    """
    level = parse_share(level)
    if normalize is not None and normalize not in _WHOLE:
        raise OptionError(
            f"normalize is {normalize!r}; expected 'true', 'pred', 'all' or None.", option="normalize", value=normalize
        )
    matrix, head, flags = _count_classes(data, threshold, policy, model)
    stated: Any = parse_shares(prevalence)
    if stated is not None and flags:
        check_prevalence("prevalence", stated)
        stated = [stated, 1 - stated]
    if stated is not None:
        matrix = reweigh(matrix, prevalence=stated)
    names = _FLAGS if flags else tuple(map(str, matrix.labels))
    parts = {
        "cells": Results(_tabulate_cells(matrix, names, normalize), {**head, "normalize": normalize}),
        "rates": Results(_tabulate_rates(matrix, names, level, flags=flags), {**head, "level": level}),
    }
    ratio = _LOW if len(names) < _MOST_LARGE else 1.0
    return make_drawing("confusion_matrix", parts, _paint_matrix, ax=ax, ratio=ratio)


def _count_classes(
    data: Any,  # noqa: ANN401  (of several types)
    threshold: float | None,
    policy: Policy | None,
    model: str | None,
) -> tuple[Confusion, dict[str, Any], bool]:
    """Return the matrix, metadata, and whether the classes are flagged and not flagged."""
    if isinstance(data, Confusion | Confusions | MulticlassRows):
        for name, value in (("threshold", threshold), ("policy", policy), ("model", model)):
            if value is not None:
                raise unused_option(name, value, "the data are predicted classes")
        if not isinstance(data, Confusion):
            data = data.pooled if isinstance(data, Confusions) else data.confusion()
        return data, {"notes": []}, False
    tallies, name, decision = _select_decision(data, threshold, policy, model)
    counts = evaluate_groups(tallies, decision, name)[None].counts
    head = results_data(tallies, [])
    return _as_confusion(counts, (str(head["positive"]), str(head["negative"]))), head, True


def _select_decision(
    data: Any,  # noqa: ANN401  (`Mixed`)
    threshold: float | None,
    policy: Policy | None,
    model: str | None,
) -> tuple[Tallies, str, Policy]:
    """Return the data of one model, its name, and the policy that decides."""
    _, labels = split_labels(data)
    if labels is not None and (model in labels.models or (model is None and threshold is None and policy is None)):
        name = next(iter(labels.models)) if model is None else model
        return replace(labels, models={name: labels.models[name]}), name, _threshold_policy(_MIDDLE)
    tallies = select_model(data, model)
    name = next(iter(tallies.models))
    if policy is not None:
        if threshold is not None:
            raise OptionError("threshold and policy are both given; expected one of them.", option="threshold")
        return tallies, name, policy
    if threshold is None and not tallies.pooled(name).probable:
        raise OptionError(
            f"the scores of {name} are not probabilities, so 0.5 is no natural threshold.",
            remedy="State one.",
            option="threshold",
        )
    return tallies, name, _threshold_policy(_MIDDLE if threshold is None else threshold)


def _threshold_policy(threshold: float) -> Policy:
    return Policy(by_group={(): Cut((threshold,))}, otherwise=REFUSE)


def _as_confusion(counts: Counts[float], labels: tuple[str, str]) -> Confusion:
    """Convert binary counts, the positive class first."""
    mass, squares, rows = (
        Confusion(np.array([[each.tp, each.fn], [each.fp, each.tn]]), labels)
        for each in (counts, counts.squares, counts.rows)
    )
    return Confusion(mass.mass, labels, moments=(squares, rows), reweighed=counts.reweighed)


def _tabulate_cells(matrix: Confusion, names: tuple[str, ...], normalize: Normalize | None) -> dict[str, Any]:
    """Tabulate counts and shares, row by row."""
    size = len(names)
    whole = matrix.mass.sum(axis=_WHOLE[normalize or "all"], keepdims=True)
    share: Floats = ratio(matrix.mass, np.broadcast_to(whole, matrix.mass.shape))
    return {
        "true": np.repeat(np.array(list(map(str, matrix.labels)), dtype=object), size).tolist(),
        "predicted": list(names) * size,
        "count": matrix.mass.ravel(),
        "share": share.ravel(),
    }


def _tabulate_rates(matrix: Confusion, names: tuple[str, ...], level: float, *, flags: bool) -> dict[str, Any]:
    """Tabulate the recall of each true class and the precision of each predicted one."""
    rows = []
    each_class = matrix.one_vs_rest()
    for side, measure, labels in (("true", "sensitivity", matrix.labels), ("pred", "precision", names)):
        for at, label in enumerate(labels):
            value = estimate(measure, each_class[at], level=level)
            name = _FLAG_RATES[side, at] if flags else {"true": "recall", "pred": "precision"}[side]
            rows.append((side, str(label), name, value.value, value.low, value.high))
    columns = ("side", "class", "measure", "value", "low", "high")
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))


def _paint_matrix(ax: Axes, parts: Parts) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    cells, rates = parts["cells"].rows(), parts["rates"].rows()
    size = len(rates) // 2
    share = np.array([row["share"] or 0.0 for row in cells], dtype=np.float64).reshape(size, size)
    colors = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", COLORS[0]])
    top = 1.0 if parts["cells"].data["normalize"] is not None else max(share.max(), np.finfo(np.float64).tiny)
    ax.grid(visible=False)
    # Cells are polygons, not an image, so that they stay sharp in files at any size.
    ax.pcolormesh(np.arange(size + 1), np.arange(size + 1), share, cmap=colors, vmin=0, vmax=top, edgecolors="#E6E6E6")
    cell = _cell_size(ax, size)
    font = TEXT_SIZE if size < _MOST_LARGE else SMALL_TEXT_SIZE
    for at, text in enumerate(_cell_texts(cells, cell, font, shares=parts["cells"].data["normalize"] is not None)):
        look: Any = {"color": "white" if share.flat[at] > 0.6 * top else "black", "fontsize": font}
        ax.text(at % size + 0.5, at // size + 0.5, text, ha="center", va="center", **look)
    _label_classes(ax, rates, cell)
    ax.set_xlim(0, size)
    ax.set_ylim(size, 0)
    has_intervals = any(row["low"] is not None for row in rates)
    interval = f" ({format_percent(parts['rates'].data['level'])} CI)" if has_intervals else ""
    for put, side, name in ((ax.set_xlabel, "pred", "Predicted class"), (ax.set_ylabel, "true", "True class")):
        measures = dict.fromkeys(row["measure"] for row in rates if row["side"] == side)
        put(f"{name}, with {' and '.join(measures)}{interval}")


def _cell_size(ax: Axes, size: int) -> _Cell:
    """Estimate the size of a cell, before the labels of the rows are laid out."""
    width = 72 * _CELLS * ax.get_window_extent().width / ax.figure.dpi
    return _Cell(width / size, min(width * (_LOW if size < _MOST_LARGE else 1.0), 72 * TALLEST) / size)


def _cell_texts(cells: list[dict[str, Any]], cell: _Cell, font: float, *, shares: bool) -> list[str]:
    """Return the texts of all cells in the first form that fits: count and share, share, or count."""
    counts = [_format_count(row["count"]) for row in cells]
    if not shares:
        return counts
    exact, rounded = (
        ["–" if row["share"] is None else form(row["share"]) for row in cells]
        for form in (format_rate, "{:.0%}".format)
    )
    forms = [[f"{n}\n{share}" for n, share in zip(counts, texts, strict=True)] for texts in (exact, rounded)]
    forms += [exact, rounded, counts]
    return next((form for form in forms if all(_fits(text, cell.width, cell.height, font) for text in form)), rounded)


def _format_count(count: float) -> str:
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def _fits(text: str, width: float, height: float, font: float = SMALL_TEXT_SIZE) -> bool:
    lines = text.split("\n")
    return max(text_width(line, font) for line in lines) <= 0.95 * width and len(lines) * _LINE * font <= height


def _label_classes(ax: Axes, rates: list[dict[str, Any]], cell: _Cell) -> None:
    """Label rows and columns by their classes, with recall and precision; columns upright if they are narrow."""
    size = len(rates) // 2
    places = np.arange(size) + 0.5
    below = [_class_text(row, 0.95 * cell.width, 5) for row in rates[size:]]
    share, most = _LONGEST_LABEL
    longest = min(share * cell.width * size / _CELLS, most)
    upright = not all(_fits(text, cell.width, np.inf) for text in below)
    if upright:
        below = [_class_text(row, longest, _line_count(cell.width)) for row in rates[size:]]
    left = [_class_text(row, longest, _line_count(cell.height)) for row in rates[:size]]
    ax.set_xticks(places, below, rotation=90 if upright else 0)
    ax.set_yticks(places, left)
    ax.tick_params(length=0)


def _line_count(space: float) -> int:
    return max(1, int(space / (_LINE * SMALL_TEXT_SIZE)))


def _class_text(row: dict[str, Any], width: float, lines: int) -> str:
    """Return the name of a class with its rate, and with an interval if there is space for it."""
    # Measures of two classes differ; that of several classes is in the title of the axis.
    measure = f"{row['measure']} " if row["measure"] in _FLAG_RATES.values() else ""
    rate = "undefined" if row["value"] is None else f"{measure}{format_rate(row['value'])}"
    bounds = "" if row["low"] is None else f"({100 * row['low']:.1f} to {100 * row['high']:.1f})"
    numbers = "\n".join(filter(None, [rate, bounds]))
    if lines > numbers.count("\n") + 1:
        name = fit_lines(row["class"], width, lines - 1 - numbers.count("\n"))
        text = f"{name}\n{numbers}"
    elif lines > 1:
        text = f"{shorten_text(row['class'], width)}\n{rate} {bounds}".rstrip()
    else:
        text = f"{shorten_text(row['class'], width - text_width(f'  {rate}'))}  {rate}"
    return text.replace("$", r"\$")
