"""Displays as scikit-learn has them: figures with methods `from_estimator` and `from_predictions`, and their numbers.

A display is a figure of `baserate.draw` under the names of scikit-learn. Each class states its figure, the numbers that
become attributes, and which of its options are options of the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import parse_share, unused_option
from baserate._errors import OptionError, ShapeError
from baserate._tally import Tallies, Tally
from baserate.draw._data import figure_data, series_name, split_labels, split_series
from baserate.draw._figure import Canvas, Drawing, split_look
from baserate.draw._layout import LookOptions
from baserate.draw._registry import FIGURES
from baserate.draw._style import COLORS
from baserate.infer import CurveOptions, calibration_curve
from baserate.measure import auc, average_precision, group_attributes
from baserate.read import coerce

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_OTHER_NAMES = {"sample_weight": "weight", "pos_label": "positive"}
"""Options of scikit-learn that are options of ours."""
_SCORES = ("y_prob", "y_pred")
"""Names of the scores in some displays of scikit-learn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Display:
    """A figure of one or several models, with the names that scikit-learn gives its parts.

    An attribute is an array or a number; for several models or groups, a mapping from their names to these.
    """

    drawing: Drawing
    """The figure with all of its numbers and its files."""
    lines: tuple[Line2D, ...]
    """All lines that the figure has painted."""
    name: str | None = None
    """Name of the model in the legend; None for several models."""

    _figure: ClassVar[str]
    _own: ClassVar[Mapping[str, Any]] = {}
    """Options of the display alone, with their defaults."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,  # noqa: ANN401  (predictions in any form)
        y_score: Any = None,  # noqa: ANN401
        *,
        name: str | None = None,
        ax: Axes | None = None,
        plot_chance_level: bool = True,
        **options: Any,  # noqa: ANN401  (of the predictions and of the figure)
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true
            Labels.
        y_score
            Scores of the positive class; of several models, a mapping from their names.
        name
            Name of the model in the legend.
        ax
            Matplotlib axes to paint on; new ones by default.
        plot_chance_level
            Whether to paint the line of chance, if the figure has one.
        **options
            Keywords of scikit-learn, such as `pos_label` and `sample_weight`, or of the figure in `baserate.draw`.

        Returns
        -------
        Display
            The figure with its numbers as attributes.
        """
        for each in _SCORES:
            y_score = options.pop(each, y_score)
        args = (y_true,) if y_score is None else (y_true, y_score)
        return cls._draw(args, name, Canvas(ax, name or "", plot_chance_level), options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,  # noqa: ANN401  (of scikit-learn, or with its methods)
        X: Any,  # noqa: ANN401, N803
        y: Any,  # noqa: ANN401
        *,
        name: str | None = None,
        ax: Axes | None = None,
        plot_chance_level: bool = True,
        **options: Any,  # noqa: ANN401  (of the predictions and of the figure)
    ) -> Self:
        """Draw what a fitted classifier predicts.

        Parameters
        ----------
        estimator
            A fitted classifier, or a mapping from names to several.
        X
            Features of the rows.
        y
            Labels.
        name
            Name of the model in the legend; by default that of the classifier's class.
        ax
            Matplotlib axes to paint on; new ones by default.
        plot_chance_level
            Whether to paint the line of chance, if the figure has one.
        **options
            As in `from_predictions`.

        Returns
        -------
        Display
            The figure with its numbers as attributes.
        """
        if name is None and not isinstance(estimator, Mapping):
            name = type(estimator).__name__
        return cls._draw((estimator, X, y), name, Canvas(ax, name or "", plot_chance_level), options)

    @classmethod
    def _draw(cls, args: tuple[Any, ...], name: str | None, canvas: Canvas, options: Mapping[str, Any]) -> Self:
        """Read predictions once, draw them, and collect the numbers."""
        look, options = split_look(options)
        stated = {_OTHER_NAMES.get(each, each): value for each, value in options.items()}
        own = {each: stated.pop(each, default) for each, default in cls._own.items()}
        figure = FIGURES[cls._figure].function
        noun = "matrix" if cls._figure == "confusion-matrix" else "figure"
        data, rest = coerce(cls.__name__, noun, args, stated, frozenset(FIGURES[cls._figure].options))
        if rest:
            raise OptionError(f"{cls.__name__} takes labels and scores; {type(rest[0]).__name__} is neither.")
        data, fixed = cls._prepare(data, own), cls._figure_options(own)
        for each in fixed.keys() & stated.keys():
            raise unused_option(each, stated[each], f"{cls.__name__} sets it. Use baserate.draw.{figure.__name__}")
        before = set() if canvas.ax is None else {*canvas.ax.get_lines()}
        drawing = figure(data, ax=canvas, **fixed, **stated, **look)
        lines = tuple(line for line in drawing.ax.get_lines() if line not in before)
        return cls(drawing=drawing, lines=lines, name=name, **cls._collect(data, drawing, own))

    @classmethod
    def _prepare(cls, data: Any, own: Mapping[str, Any]) -> Any:  # noqa: ANN401, ARG003
        """Return the data of the figure."""
        return data

    @classmethod
    def _figure_options(cls, own: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        """Return options of the figure that follow from those of the display."""
        return {}

    @classmethod
    def _collect(cls, data: Any, drawing: Drawing, own: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401, ARG003
        """Return the attributes: the numbers of the only series, or of each by name."""
        scored, labels = split_labels(data)
        if scored is None or labels is not None:
            raise OptionError(f"{cls.__name__} needs scores, not labels.", remedy=f"Use draw.{cls._figure}.")
        numbers = {name: cls._measure(tally, own) for name, tally in _named_tallies(scored)}
        return _by_attribute(numbers)

    @staticmethod
    def _measure(tally: Tally, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the numbers of a series by attribute."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.drawing!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Lines belong to axes, on which a drawing that is copied is painted again.
        numbers = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "lines"}
        return _restore, (type(self), numbers)

    @property
    def ax_(self) -> Axes:
        """Matplotlib axes."""
        return self.drawing.ax

    @property
    def figure_(self) -> Figure:
        """Matplotlib figure."""
        return self.drawing.figure

    @property
    def line_(self) -> Any:  # noqa: ANN401  (a line; of several series, a list of lines)
        """Line of the model; of several models or groups, a list of lines."""
        flag_all = {each for each in self.lines if "flag all" in str(each.get_label()).lower()}
        colored = [each for each in self.lines if each.get_color() in COLORS and each not in flag_all]
        # Curves are painted before their marks, in the same colors.
        curve = next(iter(self.drawing.parts.values()))
        series = colored[: len(list(split_series(curve)))]
        return series[0] if len(series) == 1 else series

    def plot(self, ax: Axes | None = None, **look: Unpack[LookOptions]) -> Self:
        """Paint the same numbers again: on other axes, at another width, or with other words.

        Parameters
        ----------
        ax
            Matplotlib axes; new ones by default.
        **look
            Size and words of the figure, as in `Drawing.plot`.

        Returns
        -------
        Display
            The display on those axes.
        """
        before = set() if ax is None else {*ax.get_lines()}
        drawing = self.drawing.plot(ax, **look)
        return replace(
            self, drawing=drawing, lines=tuple(each for each in drawing.ax.get_lines() if each not in before)
        )

    def _repr_png_(self) -> bytes:
        return self.drawing._repr_png_()


def _restore(kind: type[Display], numbers: Mapping[str, Any]) -> Display:
    """Make a display of a drawing that is painted already."""
    return kind(lines=tuple(numbers["drawing"].ax.get_lines()), **numbers)


def _named_tallies(tallies: Tallies) -> Iterator[tuple[str, Tally]]:
    """Yield the tally of each series under the name that the figure gives it."""
    several = len(tallies.models) > 1
    for model, group, tally in tallies.walk():
        yield series_name(model if several else None, group_attributes(tallies, group)), tally


def _by_attribute(numbers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Exchange names of series and attributes; a single series needs no name."""
    if len(numbers) == 1:
        return dict(next(iter(numbers.values())))
    attributes = next(iter(numbers.values()))
    return {each: {name: values[each] for name, values in numbers.items()} for each in attributes}


def _points(
    counts: Counts[Floats], own: Mapping[str, Any], differ: Callable[[Floats, Floats], Bools], *, start: int
) -> npt.NDArray[np.intp]:
    """Return the indexes of points; without those that leave the look of the curve unchanged, if that is stated.

    As in scikit-learn, the first `start` points are kept.
    """
    tp, fp = counts.tp[start:], counts.fp[start:]
    if not own["drop_intermediate"] or len(tp) <= 2:
        return np.arange(start + len(tp))
    inner = np.flatnonzero(differ(tp, fp)) + 1
    return np.concatenate([np.arange(start + 1), start + inner, [start + len(tp) - 1]])


def _is_corner(tp: Floats, fp: Floats) -> Bools:
    """Return whether the direction of the curve changes at each inner point."""
    return np.asarray((np.diff(tp, 2) != 0) | (np.diff(fp, 2) != 0))


def _is_step(tp: Floats, _: Floats) -> Bools:
    """Return whether the true positives differ from those before or after each inner point."""
    return np.asarray((np.diff(tp[:-1]) != 0) | (np.diff(tp[1:]) != 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RocDisplay(Display):
    """ROC curve, as `RocCurveDisplay` of scikit-learn: `draw.roc` with its numbers as attributes.

    Examples
    --------
    >>> from baserate import draw
    >>> display = draw.RocDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    >>> display.fpr.tolist(), display.tpr.tolist(), display.roc_auc
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """

    fpr: Any
    """False positive rates."""
    tpr: Any
    """True positive rates."""
    thresholds: Any
    """Scores from which rows are flagged; infinity for none."""
    roc_auc: Any
    """Area under the curve."""

    _figure: ClassVar[str] = "roc"
    _own: ClassVar[Mapping[str, Any]] = {"drop_intermediate": True}

    @staticmethod
    def _measure(tally: Tally, own: Mapping[str, Any]) -> dict[str, Any]:
        curve = Curve(tally)
        counts = curve.counts
        at = _points(counts, own, _is_corner, start=1)
        rates = {"fpr": counts.fp[at] / curve.negatives, "tpr": counts.tp[at] / curve.positives}
        return {**rates, "thresholds": curve.threshold[at], "roc_auc": float(auc(curve))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrecisionRecallDisplay(Display):
    """Precision–recall curve, as in scikit-learn: `draw.pr` with its numbers as attributes.

    As in scikit-learn, points are in the order of rising thresholds, and end with a recall of 0 and a precision of 1.

    Examples
    --------
    >>> from baserate import draw
    >>> display = draw.PrecisionRecallDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    >>> display.recall.tolist(), round(display.average_precision, 3), display.prevalence_pos_label
    ([1.0, 1.0, 0.5, 0.5, 0.0], 0.833, 0.5)
    """

    precision: Any
    """Precision (PPV)."""
    recall: Any
    """Recall (sensitivity)."""
    thresholds: Any
    """Scores from which rows are flagged, one fewer than points."""
    average_precision: Any
    """Average precision."""
    prevalence_pos_label: Any
    """Prevalence, the precision of chance."""

    _figure: ClassVar[str] = "pr"
    _own: ClassVar[Mapping[str, Any]] = {"drop_intermediate": False, "prevalence": None}

    @classmethod
    def _prepare(cls, data: Any, own: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if own["prevalence"] is None:
            return data
        return figure_data(data, "a precision–recall curve", prevalence=parse_share(own["prevalence"])).scored

    @staticmethod
    def _measure(tally: Tally, own: Mapping[str, Any]) -> dict[str, Any]:
        curve = Curve(tally)
        counts = curve.counts
        at = _points(counts, own, _is_step, start=1)[::-1]
        # The last point, where nothing is flagged, has a precision of 1 by convention: the line reaches the axis.
        precision = np.append(counts.tp[at[:-1]] / (counts.tp + counts.fp)[at[:-1]], 1.0)
        return {
            "precision": precision,
            "recall": counts.tp[at] / curve.positives,
            "thresholds": curve.threshold[at[:-1]],
            "average_precision": float(average_precision(curve)),
            "prevalence_pos_label": tally.prevalence,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DetDisplay(Display):
    """Detection error tradeoff curve, as `DetCurveDisplay` of scikit-learn: `draw.det` with its numbers.

    As in scikit-learn, points are in the order of rising thresholds, from the last without false negatives to the first
    without false positives.

    Examples
    --------
    >>> from baserate import draw
    >>> display = draw.DetDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.fpr.tolist(), display.fnr.tolist(), display.thresholds.tolist()
    ([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.35, 0.4, 0.8])
    """

    fpr: Any
    """False positive rates."""
    fnr: Any
    """False negative rates."""
    thresholds: Any
    """Scores from which rows are flagged."""

    _figure: ClassVar[str] = "det"
    _own: ClassVar[Mapping[str, Any]] = {"drop_intermediate": True}

    @staticmethod
    def _measure(tally: Tally, own: Mapping[str, Any]) -> dict[str, Any]:
        curve = Curve(tally)
        counts = curve.counts
        at = _points(counts, own, _is_step, start=0)
        first = np.flatnonzero(counts.fp[at] == 0)[-1]
        last = np.flatnonzero(counts.fn[at] == 0)[0]
        at = at[first : last + 1][::-1]
        rates = {"fpr": counts.fp[at] / curve.negatives, "fnr": counts.fn[at] / curve.positives}
        return {**rates, "thresholds": curve.threshold[at]}


_STRATEGIES = {"uniform": "width", "quantile": "mass"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibrationDisplay(Display):
    """Calibration curve, as in scikit-learn: `draw.reliability` in bins, with its numbers as attributes.

    Options are `n_bins` (5 by default) and `strategy`, "uniform" or "quantile".

    Examples
    --------
    >>> from baserate import draw
    >>> display = draw.CalibrationDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3], n_bins=2)
    >>> display.prob_pred.round(2).tolist(), display.prob_true.tolist()
    ([0.2, 0.85], [0.0, 1.0])
    """

    prob_true: Any
    """Observed share of positives in each bin that is not empty."""
    prob_pred: Any
    """Mean predicted probability in each of these bins."""

    _figure: ClassVar[str] = "reliability"
    _own: ClassVar[Mapping[str, Any]] = {"n_bins": None, "bins": None, "strategy": "uniform", "level": 0.95}

    @classmethod
    def _figure_options(cls, own: Mapping[str, Any]) -> dict[str, Any]:
        return {"what": "binned", "options": _bin_options(own)}

    @staticmethod
    def _measure(tally: Tally, own: Mapping[str, Any]) -> dict[str, Any]:
        table = calibration_curve(tally, "binned", options=_bin_options(own))
        return {"prob_true": table["share"], "prob_pred": table["probability"]}


def _bin_options(own: Mapping[str, Any]) -> CurveOptions:
    if own["strategy"] not in _STRATEGIES:
        raise OptionError(
            f"strategy is {own['strategy']!r}; expected 'uniform' or 'quantile'.",
            option="strategy",
            value=own["strategy"],
        )
    bins = next((own[each] for each in ("n_bins", "bins") if own[each] is not None), 5)
    by: Any = _STRATEGIES[own["strategy"]]
    return CurveOptions(bins=bins, by=by, level=own["level"])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DecisionCurveDisplay(Display):
    """Decision curve, which scikit-learn lacks: `draw.decision_curve` with its numbers as attributes.

    Examples
    --------
    >>> from baserate import draw
    >>> y, p = [1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1]
    >>> display = draw.DecisionCurveDisplay.from_predictions(y, p, thresholds=[0.1, 0.3, 0.5])
    >>> display.net_benefit.round(3).tolist(), display.net_benefit_all.round(3).tolist()
    ([0.333, 0.314, 0.0], [0.333, 0.143, -0.2])
    """

    thresholds: Any
    """Threshold probabilities."""
    net_benefit: Any
    """Net benefit of flagging from each of them."""
    net_benefit_all: Any
    """Net benefit of flagging all."""

    _figure: ClassVar[str] = "decision-curve"

    @classmethod
    def _collect(cls, data: Any, drawing: Drawing, own: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401, ARG003
        models, everyone = (list(split_series(drawing.parts[part])) for part in ("model", "all"))
        return _by_attribute(
            {
                each.name: {
                    "thresholds": np.asarray(each.rows["threshold"], dtype=np.float64),
                    "net_benefit": np.asarray(each.rows["net_benefit"], dtype=np.float64),
                    "net_benefit_all": np.asarray(flagged.rows["net_benefit"], dtype=np.float64),
                }
                for each, flagged in zip(models, everyone, strict=True)
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConfusionMatrixDisplay(Display):
    """Confusion matrix, as in scikit-learn: `draw.confusion_matrix` with its numbers as attributes.

    Options are `labels`, `normalize` and `display_labels`. With a `threshold` or a `policy`, the second argument holds
    scores, and classifiers predict scores.

    Examples
    --------
    >>> from baserate import draw
    >>> display = draw.ConfusionMatrixDisplay.from_predictions([0, 0, 1, 1], [0, 1, 1, 1])
    >>> display.confusion_matrix.tolist(), display.display_labels
    ([[1.0, 1.0], [0.0, 2.0]], ('0', '1'))
    """

    confusion_matrix: npt.NDArray[np.float64]
    """Counts, or shares if `normalize` is stated: true classes in rows, predicted classes in columns."""
    display_labels: tuple[str, ...]
    """Labels of the true classes."""

    _figure: ClassVar[str] = "confusion-matrix"
    _own: ClassVar[Mapping[str, Any]] = {"display_labels": None, "normalize": None}

    @classmethod
    def _prepare(cls, data: Any, own: Mapping[str, Any]) -> Any:  # noqa: ANN401
        labels = own["display_labels"]
        if labels is None or not isinstance(data, Confusion):
            return data
        if len(labels) != len(data.labels):
            raise ShapeError(
                f"display_labels has {len(labels)} labels for {len(data.labels)} classes", remedy="give one for each."
            )
        return replace(data, labels=tuple(labels))

    @classmethod
    def _figure_options(cls, own: Mapping[str, Any]) -> dict[str, Any]:
        return {} if own["normalize"] is None else {"normalize": own["normalize"]}

    @classmethod
    def _collect(cls, data: Any, drawing: Drawing, own: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401, ARG003
        cells = drawing.parts["cells"]
        size = round(len(cells) ** 0.5)
        matrix = np.asarray(cells.columns["share" if own["normalize"] else "count"], dtype=np.float64)
        return {
            "confusion_matrix": np.nan_to_num(matrix).reshape(size, size),
            "display_labels": tuple(cells.columns["true"][::size]),
        }

    @property
    def im_(self) -> Any:  # noqa: ANN401  (matplotlib's)
        """Matplotlib's mesh of colored cells."""
        return self.ax_.collections[0]

    @property
    def text_(self) -> npt.NDArray[np.object_]:
        """Matplotlib's texts in the cells."""
        size = len(self.display_labels)
        return np.array(self.ax_.texts[-size * size :], dtype=object).reshape(size, size)


RocCurveDisplay = RocDisplay
"""Its name in scikit-learn."""
DetCurveDisplay = DetDisplay
"""Its name in scikit-learn."""
