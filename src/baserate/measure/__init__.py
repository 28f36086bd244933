"""Measures: plain functions from Counts, a Curve, a Tally or a Confusion to a number, and tidy tables of them.

Measures at a threshold take `Counts`, rank measures a `Curve`, measures of probabilities a `Tally`; measures of several
classes are in `multiclass`. `describe` returns the entry of a measure: names, summary, range, direction and more.

- `_measure`: the entry of a measure, its decorator, and the search by name
- `_registry`: all measures of two classes, why one is undefined, and the options on which some depend
- `_rates`: sensitivity, PPV and other rates of a 2×2 table, F1, MCC, kappa, expected cost, net benefit
- `_roc_points`: SEDI and the distance of a ROC point from (0, 1)
- `_rank`: AUC, average precision and other areas
- `_operating_points`: sensitivity at a fixed specificity, precision at a fixed recall
- `_proper_scores`: Brier score and log loss
- `_calibration_slope`, `_calibration_bins`: logistic recalibration, ECE
- `_calibration_curve`: distances from smooth curves; calibration and discrimination parts of proper scores
- `_likelihood_indexes`: Nagelkerke's R², indexes of discrimination, unreliability and quality
- `_fairness_measures`: inequality of benefits, averages of two rates, generalized error rates
- `_names`: the number that a word of a user means
- `_curve_points`: points of a curve that its line needs
- `_summary`: tidy rows of every measure, model, group and threshold; curves as tables
"""

from typing import TYPE_CHECKING

from baserate._errors import UnknownNameError
from baserate._lazy import unknown_attribute
from baserate.measure import (
    _calibration_bins,
    _calibration_curve,
    _calibration_slope,
    _fairness_measures,
    _likelihood_indexes,
    _operating_points,
    _proper_scores,
    _rank,
    _rates,
    _roc_points,
    multiclass,
)
from baserate.measure._calibration_bins import *
from baserate.measure._calibration_bins import (
    BIN_MEASURES as BIN_MEASURES,
    Bins as Bins,
    By as By,
    bin_edges as bin_edges,
    bin_starts as bin_starts,
    fill_bins as fill_bins,
    inner_edges as inner_edges,
    widen_range as widen_range,
)
from baserate.measure._calibration_curve import *
from baserate.measure._calibration_curve import (
    DISTANCE_MEASURES as DISTANCE_MEASURES,
    Quantile as Quantile,
    Smoother as Smoother,
    calibration_distances as calibration_distances,
    fit_calibration_curve as fit_calibration_curve,
    fit_isotonic as fit_isotonic,
)
from baserate.measure._calibration_slope import *
from baserate.measure._calibration_slope import (
    LINE_MEASURES as LINE_MEASURES,
    calibration_offset as calibration_offset,
    count_clipped as count_clipped,
    expected_positives as expected_positives,
    fit_recalibration as fit_recalibration,
    squared_weights as squared_weights,
)
from baserate.measure._fairness_measures import *
from baserate.measure._likelihood_indexes import *
from baserate.measure._likelihood_indexes import recalibrated_probabilities as recalibrated_probabilities
from baserate.measure._measure import Measure, MeasureInfo, Values, describe, measure, unwrap_options as unwrap_options
from baserate.measure._names import resolve_name as resolve_name, suggest_names as suggest_names
from baserate.measure._operating_points import *
from baserate.measure._proper_scores import *
from baserate.measure._proper_scores import check_probabilities as check_probabilities
from baserate.measure._rank import *
from baserate.measure._rank import flag_top as flag_top
from baserate.measure._rates import *
from baserate.measure._rates import threshold_odds as threshold_odds
from baserate.measure._registry import (
    MEASURES,
    REQUIRED_OPTIONS as REQUIRED_OPTIONS,
    REQUIREMENTS as REQUIREMENTS,
    Settings as Settings,
    as_measure as as_measure,
    collect_settings as collect_settings,
    find_measure,
    find_missing_options as find_missing_options,
    get_measure as get_measure,
    names_as_typed as names_as_typed,
    note_cautions as note_cautions,
    note_settings as note_settings,
    option_of as option_of,
    require_options as require_options,
    search,
    undefined_reason,
)
from baserate.measure._roc_points import *
from baserate.measure._summary import (
    COLUMNS as COLUMNS,
    DEFAULT_MEASURES,
    TABLES,
    Place as Place,
    as_thresholds as as_thresholds,
    check_tallies as check_tallies,
    compute_estimate as compute_estimate,
    concatenate as concatenate,
    curves,
    group_attributes as group_attributes,
    measures_data as measures_data,
    note_reweighting as note_reweighting,
    plan_summary as plan_summary,
    plotted_path as plotted_path,
    results_data as results_data,
    select_measures as select_measures,
    summary,
    table,
    tabulate_groups as tabulate_groups,
    thin_points as thin_points,
    tidy_columns as tidy_columns,
)

__all__ = ["DEFAULT_MEASURES", "MEASURES", "TABLES", "Measure", "MeasureInfo", "Values"]
__all__ += [
    "curves",
    "describe",
    "find_measure",
    "measure",
    "multiclass",
    "search",
    "summary",
    "table",
    "undefined_reason",
]
__all__ += _rates.__all__
__all__ += _roc_points.__all__
__all__ += _rank.__all__
__all__ += _operating_points.__all__
__all__ += _proper_scores.__all__
__all__ += _calibration_slope.__all__
__all__ += _calibration_bins.__all__
__all__ += _likelihood_indexes.__all__
__all__ += _calibration_curve.__all__
__all__ += _fairness_measures.__all__


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:  # the usual other names, which `__getattr__` finds as it finds all others
    recall = tpr = true_positive_rate = sens = recall_score = sensitivity
    tnr = spec = true_negative_rate = specificity
    ppv = positive_predictive_value = precision_score = precision
    roc_auc = auroc = roc_auc_score = c_statistic = auc
    aps = average_precision_score = average_precision
    brier_score = brier_score_loss = brier
    f1_score = f1
    accuracy_score = accuracy
    balanced_accuracy_score = balanced_accuracy
    matthews_corrcoef = mcc
    cohen_kappa_score = kappa
    selection_rate = flag_rate
    expected_calibration_error = ece

if not TYPE_CHECKING:  # or type checkers would accept every name

    def __getattr__(name: str) -> Measure:
        """Return a measure by another name, such as `recall` or `roc_auc_score`, which `dir` does not list."""
        try:
            return find_measure(name)
        except UnknownNameError:
            raise unknown_attribute(__name__, name) from None
