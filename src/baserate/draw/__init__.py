"""Figures for papers and slides, drawn with matplotlib (extra `plot`).

Each figure is a function of tallies that returns a `Drawing`: it computes once, stores the numbers, and paints on given
axes or on new ones. Displays are the same figures under the names of scikit-learn.

- `_registry`: the registry of figures, one entry per figure
- `_rank_curves`: ROC, DET, precision–recall, gain and lift curves
- `_confusion_matrix`: confusion matrices
- `_thresholds`: score distributions, and measures against the threshold and against the prevalence
- `_calibration`: reliability diagrams and likelihood ratios
- `_decision_curves`: decision curves, cost curves and Brier curves
- `_groups`: measures by group
- `_population`: theoretical populations
- `_displays`: `RocDisplay` and others, with `from_estimator` and `from_predictions` as in scikit-learn
- `_figure`: `Drawing`, and how figures are made of numbers and a painter
- `_layout`: size and words of all figures, and the place of legends
- `_style`: colors, dashes, markers, text sizes and axes of all figures
- `_lines`: lines, bands, points, marks and reference lines
- `_labels`: words of the user in place of names in the data
- `_text_width`: widths of text, and text that is wrapped
- `_formats`: SVG, PDF, EPS, PNG and TIFF files
- `_data`: conversion of data, series, marks and tables of curves

The package may import the types and all packages up to `fairness`. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.draw._calibration import likelihood_ratio as likelihood_ratio, reliability as reliability
    from baserate.draw._confusion_matrix import confusion_matrix as confusion_matrix
    from baserate.draw._decision_curves import cost_curve as cost_curve, decision_curve as decision_curve
    from baserate.draw._displays import (
        CalibrationDisplay as CalibrationDisplay,
        ConfusionMatrixDisplay as ConfusionMatrixDisplay,
        DecisionCurveDisplay as DecisionCurveDisplay,
        DetCurveDisplay as DetCurveDisplay,
        DetDisplay as DetDisplay,
        PrecisionRecallDisplay as PrecisionRecallDisplay,
        RocCurveDisplay as RocCurveDisplay,
        RocDisplay as RocDisplay,
    )
    from baserate.draw._figure import Drawing as Drawing
    from baserate.draw._groups import groups as groups
    from baserate.draw._population import population as population
    from baserate.draw._rank_curves import det as det, gain as gain, lift as lift, pr as pr, roc as roc
    from baserate.draw._thresholds import prevalence as prevalence, scores as scores, thresholds as thresholds

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.draw._data import pool_groups as pool_groups, split_labels as split_labels
    from baserate.draw._figure import import_matplotlib as import_matplotlib
    from baserate.draw._layout import parse_length as parse_length
    from baserate.draw._registry import FIGURES as FIGURES, FigureType as FigureType, find_figure as find_figure

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
