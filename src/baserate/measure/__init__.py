"""Measures: plain functions from Counts, a Curve, a Tally or a Confusion to a number, and tidy tables of them.

Measures at a threshold take `Counts`, rank measures a `Curve`, measures of probabilities a `Tally`; measures of several
classes are in `multiclass`. `about` returns the entry of a measure: names, summary, range, direction and more.

- `_measure`: the entry of a measure, its decorator, and the search by name
- `_registry`: all measures of two classes, why one is undefined, and the options on which some depend
- `_rates`: sensitivity, PPV and other rates of a 2×2 table, expected cost, net benefit
- `_agreement`: F1, MCC, kappa and other summaries of a 2×2 table
- `_rank`: AUC, average precision and other areas
- `_proper_scores`, `_decomposition`: Brier score and log loss; their calibration and discrimination parts
- `_calibration_slope`, `_calibration_bins`, `_calibration_curve`: logistic recalibration, ECE, smooth curves
- `_summary`: tidy rows of every measure, model, group and threshold; curves as tables
"""

from baserate.measure import (
    _agreement,
    _calibration_bins,
    _calibration_curve,
    _calibration_slope,
    _decomposition,
    _proper_scores,
    _rank,
    _rates,
    multiclass,
)
from baserate.measure._agreement import *
from baserate.measure._calibration_bins import *
from baserate.measure._calibration_bins import (
    OF_BINS as OF_BINS,
    Bins as Bins,
    By as By,
    binned as binned,
    edges as edges,
    firsts as firsts,
    inner_edges as inner_edges,
    widened as widened,
)
from baserate.measure._calibration_curve import *
from baserate.measure._calibration_curve import (
    OF_DISTANCES as OF_DISTANCES,
    Smoother as Smoother,
    curve as curve,
    distances as distances,
)
from baserate.measure._calibration_slope import *
from baserate.measure._calibration_slope import (
    OF_LINE as OF_LINE,
    clipped as clipped,
    cox as cox,
    expected as expected,
    offset as offset,
    squares as squares,
)
from baserate.measure._decomposition import *
from baserate.measure._decomposition import calibrated as calibrated
from baserate.measure._measure import About, Measure, about, bare as bare, measure
from baserate.measure._proper_scores import *
from baserate.measure._proper_scores import check_probabilities as check_probabilities
from baserate.measure._rank import *
from baserate.measure._rates import *
from baserate.measure._rates import odds as odds
from baserate.measure._registry import (
    MEASURES,
    REQUIRED as REQUIRED,
    Settings as Settings,
    known as known,
    named,
    option_of as option_of,
    require_stated as require_stated,
    search,
    settings_notes as settings_notes,
    settings_of as settings_of,
    unstated as unstated,
    why,
)
from baserate.measure._summary import (
    COLUMNS as COLUMNS,
    TABLES,
    USUAL,
    Place as Place,
    as_thresholds as as_thresholds,
    check_tallies as check_tallies,
    chosen_measures as chosen_measures,
    curves,
    header as header,
    joined as joined,
    measured as measured,
    named_group as named_group,
    path_of as path_of,
    planned as planned,
    reweighed as reweighed,
    settings_data as settings_data,
    spread as spread,
    summary,
    table,
    tabulated as tabulated,
    tidy as tidy,
)

__all__ = ["MEASURES", "TABLES", "USUAL", "About", "Measure"]
__all__ += ["about", "curves", "measure", "multiclass", "named", "search", "summary", "table", "why"]
__all__ += _rates.__all__
__all__ += _agreement.__all__
__all__ += _rank.__all__
__all__ += _proper_scores.__all__
__all__ += _calibration_slope.__all__
__all__ += _calibration_bins.__all__
__all__ += _calibration_curve.__all__
__all__ += _decomposition.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
