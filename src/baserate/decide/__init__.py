"""Decisions: rules that choose a `Policy` on a `Curve`, their evaluation and validation, and analyses of costs.

- `_rules`: the registry of decision rules, one entry per rule
- `_threshold_rules`: fixed, Youden, closest to (0, 1), balanced, break-even, best measure, requirements, capacity,
bands
- `_criterion_rules`: further criteria: predictive values, matched prevalence, stated values of measures
- `_minimal_p_value`: the threshold of the least p-value, with p-values adjusted for the search
- `_smooth_class_rules`: best thresholds of normal and kernel-smoothed classes
- `_smooth_measure_rules`: best thresholds of a measure smoothed by loess or a spline, and bootstrap averages
- `_cost_rules`: least expected cost of two or more actions, abstention, and decisions among several classes
- `_rule`: the decorator that makes a rule, searches over thresholds, and the choice of a policy after a calibrator
- `_requirements`: requirements such as "specificity >= 0.9", and whether a policy satisfies them
- `_evaluation`: confusion matrices and measures of a policy on any data
- `_validation`: bootstrap, cross-validation and correction of optimism
- `_group_thresholds`: a rule's choice in each group, and differences between groups
- `_summary`: everything about a choice, or about decisions of several classes, as tidy rows
- `_decision_curve`, `_decision_bands`: net benefit, and its simultaneous bands
- `_net_benefit_difference`: differences in net benefit between models
- `_cost_curves`: cost curves, Brier curves, cost tables and iso-cost lines
- `_model_comparison`: models compared where they will be used; `_planned_policy`: the policy that a plan leads to
- `_convex_hull`: the ROC convex hull of several classifiers
- `_hull_tables`: hulls, likelihood ratios and combined scores of several models as tidy rows
- `_combination`: the weighted sum of two scores with the highest AUC

The package may import the types, `read`, `measure`, `infer`, `calibration`, `population`, `apply` and `shift`. Names
are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.decide._combination import Combination as Combination, combine_scores as combine_scores
    from baserate.decide._convex_hull import (
        ClassifierMixture as ClassifierMixture,
        DominatedClassifier as DominatedClassifier,
        ReversibleClassifier as ReversibleClassifier,
        ROCConvexHull as ROCConvexHull,
        Vertex as Vertex,
        hull_likelihood_ratios as hull_likelihood_ratios,
        rank_by_hull as rank_by_hull,
        roc_convex_hull as roc_convex_hull,
    )
    from baserate.decide._cost_curves import (
        IsoCost as IsoCost,
        brier_curve as brier_curve,
        cheapest_thresholds as cheapest_thresholds,
        cost_curve as cost_curve,
        cost_curves as cost_curves,
        cost_table as cost_table,
        iso_cost as iso_cost,
        probability_cost as probability_cost,
    )
    from baserate.decide._cost_rules import (
        Decisions as Decisions,
        abstain as abstain,
        actions as actions,
        cost as cost,
        least_cost as least_cost,
    )
    from baserate.decide._criterion_rules import (
        balanced_predictive_values as balanced_predictive_values,
        closest_predictive_values as closest_predictive_values,
        maximin as maximin,
        maximin_predictive_values as maximin_predictive_values,
        mean_score as mean_score,
        median_score as median_score,
        minimax as minimax,
        nearest as nearest,
        observed_prevalence as observed_prevalence,
        prevalence_matching as prevalence_matching,
    )
    from baserate.decide._decision_curve import (
        net_benefit_curve as net_benefit_curve,
        net_benefits as net_benefits,
    )
    from baserate.decide._evaluation import decision_tables as decision_tables, evaluate_policy as evaluate_policy
    from baserate.decide._group_thresholds import group_thresholds as group_thresholds
    from baserate.decide._hull_tables import (
        combination_table as combination_table,
        hull_table as hull_table,
        likelihood_ratio_table as likelihood_ratio_table,
    )
    from baserate.decide._minimal_p_value import min_p_value as min_p_value
    from baserate.decide._model_comparison import compare as compare
    from baserate.decide._net_benefit_difference import net_benefit_difference as net_benefit_difference
    from baserate.decide._requirements import (
        Requirement as Requirement,
        check as check,
        parse_requirements as parse_requirements,
    )
    from baserate.decide._rule import (
        choose_policy as choose_policy,
        on_raw_scores as on_raw_scores,
        use_midpoints as use_midpoints,
    )
    from baserate.decide._rules import RULES as RULES, find_rule as find_rule
    from baserate.decide._smooth_class_rules import kernel as kernel, normal as normal
    from baserate.decide._smooth_measure_rules import (
        bootstrap_average as bootstrap_average,
        loess as loess,
        spline as spline,
    )
    from baserate.decide._summary import multiclass_summary as multiclass_summary, summary as summary
    from baserate.decide._threshold_rules import (
        balanced as balanced,
        bands as bands,
        best as best,
        break_even as break_even,
        capacity as capacity,
        closest as closest,
        fixed as fixed,
        require as require,
        youden as youden,
    )
    from baserate.decide._validation import (
        CorrectedEstimate as CorrectedEstimate,
        RuleCrossValidation as RuleCrossValidation,
        ThresholdBootstrap as ThresholdBootstrap,
        bootstrap_threshold as bootstrap_threshold,
        cross_validate_rule as cross_validate_rule,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.decide._convex_hull import FLAG_ALL as FLAG_ALL, FLAG_NONE as FLAG_NONE
    from baserate.decide._cost_curves import CostCurveKind as CostCurveKind
    from baserate.decide._cost_rules import WRONG_POSTERIORS as WRONG_POSTERIORS
    from baserate.decide._decision_curve import (
        CalibrationPrevalence as CalibrationPrevalence,
        Harm as Harm,
    )
    from baserate.decide._evaluation import (
        CELLS as CELLS,
        GroupEvaluation as GroupEvaluation,
        Row as Row,
        add_measure_settings as add_measure_settings,
        estimate_row as estimate_row,
        evaluate_groups as evaluate_groups,
        find_model as find_model,
        find_same_data as find_same_data,
        is_chosen_on as is_chosen_on,
        policies_by_model as policies_by_model,
        results_header as results_header,
        rows_to_columns as rows_to_columns,
        threshold_rows as threshold_rows,
    )
    from baserate.decide._group_thresholds import DIFFERENCE as DIFFERENCE
    from baserate.decide._hull_tables import (
        CHOSEN_NOTE as CHOSEN_NOTE,
        has_cost_of_both_errors as has_cost_of_both_errors,
    )
    from baserate.decide._minimal_p_value import adjusted_minimal_p as adjusted_minimal_p, minimal_p as minimal_p
    from baserate.decide._model_comparison import (
        DEFAULT_MEASURES as DEFAULT_MEASURES,
        ComparisonSetting as ComparisonSetting,
        compare_models as compare_models,
    )
    from baserate.decide._planned_policy import (
        DEFAULT_THRESHOLD as DEFAULT_THRESHOLD,
        choose_planned_policy as choose_planned_policy,
    )
    from baserate.decide._rule import (
        RELATIVE_TOLERANCE as RELATIVE_TOLERANCE,
        Rule as Rule,
        as_setting as as_setting,
        best_index as best_index,
        can_be_infinite as can_be_infinite,
        check_curve as check_curve,
        note_skipped as note_skipped,
        require_both_classes as require_both_classes,
        separate_float32 as separate_float32,
        strictest_maximum as strictest_maximum,
        threshold_at as threshold_at,
    )
    from baserate.decide._rules import (
        DECISION_RULES as DECISION_RULES,
        DecisionRule as DecisionRule,
        RuleOption as RuleOption,
        RuleOptions as RuleOptions,
        bind_rule as bind_rule,
        describe_costs as describe_costs,
        exclusive_options as exclusive_options,
        find_rule_entry as find_rule_entry,
        list_command_line_rules as list_command_line_rules,
        page_rules as page_rules,
        plan_rules as plan_rules,
        rules_by_option as rules_by_option,
    )
    from baserate.decide._summary import SAME_DATA_NOTES as SAME_DATA_NOTES
    from baserate.decide._threshold_rules import (
        precision_recall_gap as precision_recall_gap,
        resolve_objective as resolve_objective,
        sensitivity_specificity_gap as sensitivity_specificity_gap,
        squared_corner_distance as squared_corner_distance,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
