"""Measures of several classes: functions of a Confusion, of scores for each class, or of sets of labels.

`per_class` and `average_over_classes` apply any measure of two classes to each class against the rest.

- `_registry`: all measures of several classes by name; averages over classes
- `_rates`: accuracy, balanced accuracy, expected cost; MCC, kappa and other agreement beyond chance
- `_information`: entropies, mutual information, chi-squared, lambda
- `_scores`: Hand–Till AUC, Brier score, log loss and their skills, RPS, top-k accuracy, exact match
- `_ordinal`: AUC of ordered classes
- `_label_ranking`: coverage error, LRAP, ranking loss and NDCG of sets of labels; values of each row
- `_summary`: tidy rows for each class, averages, and all classes together
"""

from typing import TYPE_CHECKING

from baserate._errors import UnknownNameError
from baserate._lazy import unknown_attribute
from baserate.measure._measure import Measure as Measure
from baserate.measure.multiclass import _information, _label_ranking, _ordinal, _rates, _scores
from baserate.measure.multiclass._information import *
from baserate.measure.multiclass._label_ranking import *
from baserate.measure.multiclass._label_ranking import (
    ROW_MEASURES as ROW_MEASURES,
    row_span as row_span,
    row_values as row_values,
)
from baserate.measure.multiclass._ordinal import *
from baserate.measure.multiclass._ordinal import ordinal_score as ordinal_score, placements as placements
from baserate.measure.multiclass._rates import *
from baserate.measure.multiclass._registry import (
    AVERAGES,
    MEASURES,
    Split,
    average_over_classes,
    find_measure,
    per_class,
    search,
    undefined_classes,
)
from baserate.measure.multiclass._scores import *
from baserate.measure.multiclass._scores import (
    NEAR as NEAR,
    check_class_probabilities as check_class_probabilities,
    constant_brier as constant_brier,
    constant_log_loss as constant_log_loss,
    cost_table as cost_table,
    ranked_losses as ranked_losses,
)
from baserate.measure.multiclass._summary import (
    DEFAULT_MEASURES,
    PAIRS as PAIRS,
    find_measures,
    iterate_groups as iterate_groups,
    results_data as results_data,
    select_measures as select_measures,
    summary,
)

__all__ = [
    "AVERAGES",
    "DEFAULT_MEASURES",
    "MEASURES",
    "Split",
    "average_over_classes",
    "find_measure",
    "find_measures",
    "per_class",
    "search",
    "summary",
    "undefined_classes",
]
__all__ += _rates.__all__
__all__ += _information.__all__
__all__ += _scores.__all__
__all__ += _label_ranking.__all__
__all__ += _ordinal.__all__


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # or type checkers would accept every name

    def __getattr__(name: str) -> Measure:
        """Return a measure by another name, such as `recall` or `roc_auc_score`, which `dir` does not list."""
        try:
            return find_measure(name)
        except UnknownNameError:
            raise unknown_attribute(__name__, name) from None
