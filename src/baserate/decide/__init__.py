"""Decisions: rules that choose a `Policy` on a `Curve`, their evaluation and validation, and analyses of costs.

- `_rules`: the registry of decision rules, one entry per rule
- `_threshold_rules`: fixed, Youden, closest to (0, 1), balanced, break-even, best measure, requirements, capacity,
bands
- `_cost_rules`: least expected cost of two or more actions, and abstention
- `_rule`: the decorator that makes a rule, and searches over thresholds
- `_requirements`, `_requirement_check`: requirements such as "specificity >= 0.9", and whether a policy satisfies them
- `_policy_choice`: choose a policy on tallies, after a calibrator if there is one
- `_evaluation`: confusion matrices and measures of a policy on any data
- `_validation`: bootstrap, cross-validation and correction of optimism
- `_summary`: everything about a choice as tidy rows
- `_decision_curve`: net benefit, and differences between models
- `_cost_curves`: cost curves, Brier curves, cost tables and iso-cost lines
- `_convex_hull`: the ROC convex hull of several classifiers
- `_combination`: the weighted sum of two scores with the highest AUC
- `_multiclass`: decisions of least cost among several classes

The package may import the types, `read`, `measure`, `infer`, `calibrate`, `population`, `apply` and `shift`. Names are
resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.decide._combination import Combination as Combination, combined as combined
    from baserate.decide._convex_hull import (
        Dominated as Dominated,
        Front as Front,
        Hybrid as Hybrid,
        Reversible as Reversible,
        Vertex as Vertex,
        front as front,
        ranked as ranked,
        slopes as slopes,
    )
    from baserate.decide._cost_curves import (
        IsoCost as IsoCost,
        brier_curve as brier_curve,
        cost_curve as cost_curve,
        cost_curves as cost_curves,
        cost_table as cost_table,
        iso_cost as iso_cost,
        probability_cost as probability_cost,
    )
    from baserate.decide._cost_rules import abstain as abstain, actions as actions, cost as cost
    from baserate.decide._decision_curve import (
        benefit as benefit,
        benefit_difference as benefit_difference,
        net_benefits as net_benefits,
    )
    from baserate.decide._evaluation import judge as judge, tables as tables
    from baserate.decide._multiclass import (
        Decisions as Decisions,
        class_summary as class_summary,
        least_cost as least_cost,
    )
    from baserate.decide._policy_choice import chosen as chosen, unmapped as unmapped
    from baserate.decide._requirement_check import check as check
    from baserate.decide._requirements import Requirement as Requirement, requirements as requirements
    from baserate.decide._rules import RULES as RULES, named as named
    from baserate.decide._summary import Trial as Trial, summary as summary
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
        Corrected as Corrected,
        CrossValidated as CrossValidated,
        Sureness as Sureness,
        crossvalidated as crossvalidated,
        resampled as resampled,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.decide._convex_hull import ALL as ALL, NONE as NONE
    from baserate.decide._cost_curves import Kind as Kind
    from baserate.decide._decision_curve import Origin as Origin
    from baserate.decide._evaluation import (
        CELLS as CELLS,
        Part as Part,
        Row as Row,
        evaluated as evaluated,
        flattery as flattery,
        head as head,
        in_columns as in_columns,
        model_of as model_of,
        number_of as number_of,
        policies_of as policies_of,
        same as same,
        thresholds as thresholds,
        with_settings as with_settings,
    )
    from baserate.decide._multiclass import BROKEN as BROKEN
    from baserate.decide._rule import (
        EQUAL as EQUAL,
        Choose as Choose,
        as_setting as as_setting,
        best_at as best_at,
        both_classes as both_classes,
        check_curve as check_curve,
        may_be_infinite as may_be_infinite,
        separate as separate,
        skipped_note as skipped_note,
        strictest as strictest,
        threshold_at as threshold_at,
    )
    from baserate.decide._rules import (
        DECISION_RULES as DECISION_RULES,
        DecisionRule as DecisionRule,
        RuleOption as RuleOption,
        describe_costs as describe_costs,
        describe_share as describe_share,
        exclusive_options as exclusive_options,
        plan_rules as plan_rules,
        rules_by_option as rules_by_option,
    )
    from baserate.decide._summary import FLATTERED as FLATTERED
    from baserate.decide._threshold_rules import (
        apart as apart,
        from_perfection as from_perfection,
        objective as objective,
        uneven as uneven,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
