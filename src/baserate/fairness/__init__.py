"""Group fairness: disparities between groups, and policies that satisfy parity constraints.

- `_parities`: registry of parities, and the `Goal` of an optimization
- `_group_counts`: groups that take part, their confusion matrices, and eligibility for tests
- `_differences`: differences and ratios to a reference group, the rest or everybody
- `_intersections`: intersections of attributes against what their attributes explain
- `_strata`: differences within strata of control columns, and pooled
- `_inequality`: inequality of benefits within groups and between them
- `_groups`: measures of each group, beside differences, ratios and gaps
- `_gaps`: disparities over all groups, with their null distribution
- `_optimum`: exact optimum under parity constraints, with randomization
- `_objectives`: measures that a policy may maximize in place of the least cost
- `_threshold_search`: best threshold for each group or for all, and crossings of two ROC curves
- `_reject_option`: reject option classification
- `_calibrated_odds`: scores withheld at random until a generalized error rate is equal
- `_mixing_impact`: price of withheld scores, with intervals
- `_multicalibration`: calibration in many overlapping groups
- `_impact`: effect of a policy on each group, and the price of fairness at each tolerance
- `_cross_validation`: gaps on held-out folds

May import the types and every package below, including `decide`. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.fairness._calibrated_odds import (
        calibrated_equalized_odds as calibrated_equalized_odds,
        mix_scores as mix_scores,
    )
    from baserate.fairness._cross_validation import (
        Folds as Folds,
        ParityValidation as ParityValidation,
        cross_validate as cross_validate,
    )
    from baserate.fairness._differences import (
        group_differences as group_differences,
        group_ratios as group_ratios,
    )
    from baserate.fairness._gaps import group_gaps as group_gaps
    from baserate.fairness._groups import (
        compare_attributes as compare_attributes,
        compare_groups as compare_groups,
        group_table as group_table,
    )
    from baserate.fairness._impact import frontier as frontier, impact as impact
    from baserate.fairness._inequality import decompose_entropy as decompose_entropy
    from baserate.fairness._intersections import intersection_excess as intersection_excess
    from baserate.fairness._mixing_impact import mixing_impact as mixing_impact
    from baserate.fairness._multicalibration import multicalibration as multicalibration
    from baserate.fairness._optimum import optimal_policy as optimal_policy
    from baserate.fairness._parities import (
        PARITIES as PARITIES,
        Goal as Goal,
        Parity as Parity,
        find_parity as find_parity,
    )
    from baserate.fairness._reject_option import reject_option as reject_option
    from baserate.fairness._strata import stratified_differences as stratified_differences
    from baserate.fairness._threshold_search import (
        RocCrossing as RocCrossing,
        ScoreScale as ScoreScale,
        choose_roc_crossing as choose_roc_crossing,
        common_threshold as common_threshold,
        deterministic_thresholds as deterministic_thresholds,
        roc_crossings as roc_crossings,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.fairness._group_counts import check_min_group as check_min_group
    from baserate.fairness._impact import SAME_DATA_NOTE as SAME_DATA_NOTE
    from baserate.fairness._optimum import OPTIMUM_RULE as OPTIMUM_RULE
    from baserate.fairness._parities import NO_COSTS_NOTE as NO_COSTS_NOTE

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
