"""Group fairness: disparities between groups, and policies that satisfy parity constraints.

- `_parities`: registry of parities, and the `Goal` of an optimization
- `_participants`: groups that take part, at the deployment prevalence
- `_group_counts`: confusion matrices of groups, trials and eligibility for tests
- `_groups`: measures of each group, and differences from a reference group
- `_gaps`: disparities over all groups, with their null distribution
- `_optimum`: exact optimum under parity constraints, with randomization
- `_threshold_search`: best deterministic threshold for each group
- `_common_threshold`: best single threshold for all groups
- `_reject_option`: reject option classification
- `_roc_crossing`: crossings of two ROC curves
- `_impact`: effect of a policy on each group
- `_frontier`: price of fairness at each tolerance
- `_cross_validation`: gaps on held-out folds

May import the types and every package below, including `decide`. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.equalize._common_threshold import blind as blind
    from baserate.equalize._cross_validation import Deal as Deal, HeldOut as HeldOut, held_out as held_out
    from baserate.equalize._frontier import frontier as frontier
    from baserate.equalize._gaps import gaps as gaps
    from baserate.equalize._groups import differences as differences, group_table as group_table, groups as groups
    from baserate.equalize._impact import account as account
    from baserate.equalize._optimum import optimum as optimum
    from baserate.equalize._parities import PARITIES as PARITIES, Goal as Goal, Parity as Parity, parity as parity
    from baserate.equalize._reject_option import reject_option as reject_option
    from baserate.equalize._roc_crossing import (
        Crossing as Crossing,
        Scale as Scale,
        crossing as crossing,
        crossings as crossings,
    )
    from baserate.equalize._threshold_search import deterministic as deterministic

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.equalize._group_counts import MIN_SIZE as MIN_SIZE
    from baserate.equalize._impact import SAME as SAME
    from baserate.equalize._optimum import RULE as RULE

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
