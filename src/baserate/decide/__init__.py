"""Curve (+ costs) -> Policy: what to do with a score, what that costs, and how sure the choice is.

May import the nouns and every room below: `measure`, `infer`, `calibrate`, `population`, `apply`, `shift`. One
file for each family of rules. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.decide._abstain import abstain as abstain
    from baserate.decide._benefit import benefit as benefit, net_benefits as net_benefits
    from baserate.decide._benefit_pair import benefit_difference as benefit_difference
    from baserate.decide._capacity import bands as bands, capacity as capacity
    from baserate.decide._check import check as check
    from baserate.decide._chosen import chosen as chosen
    from baserate.decide._class_summary import class_summary as class_summary
    from baserate.decide._combine import Combination as Combination, combined as combined
    from baserate.decide._cost import actions as actions, cost as cost
    from baserate.decide._cost_curve import (
        brier_curve as brier_curve,
        cost_curve as cost_curve,
        cost_curves as cost_curves,
        probability_cost as probability_cost,
    )
    from baserate.decide._cost_table import IsoCost as IsoCost, cost_table as cost_table, iso_cost as iso_cost
    from baserate.decide._cross_validation import CrossValidated as CrossValidated, crossvalidated as crossvalidated
    from baserate.decide._evaluate import tables as tables
    from baserate.decide._front import front as front
    from baserate.decide._judge import judge as judge
    from baserate.decide._least_cost import Decisions as Decisions, least_cost as least_cost
    from baserate.decide._points import (
        balanced as balanced,
        best as best,
        break_even as break_even,
        closest as closest,
        fixed as fixed,
        youden as youden,
    )
    from baserate.decide._ranker import ranked as ranked
    from baserate.decide._require import require as require
    from baserate.decide._requirements import Requirement as Requirement, requirements as requirements
    from baserate.decide._rules import RULES as RULES, named as named
    from baserate.decide._slopes import slopes as slopes
    from baserate.decide._summary import Trial as Trial, summary as summary
    from baserate.decide._sure import Corrected as Corrected, Sureness as Sureness, resampled as resampled
    from baserate.decide._unmapped import unmapped as unmapped
    from baserate.decide._vertices import (
        Dominated as Dominated,
        Front as Front,
        Hybrid as Hybrid,
        Reversible as Reversible,
        Vertex as Vertex,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.decide._benefit import Origin as Origin
    from baserate.decide._cost_curve import Kind as Kind
    from baserate.decide._evaluate import Part as Part, evaluated as evaluated, model_of as model_of, same as same
    from baserate.decide._judge import (
        CELLS as CELLS,
        Row as Row,
        flattery as flattery,
        head as head,
        in_columns as in_columns,
        number_of as number_of,
        policies_of as policies_of,
        thresholds as thresholds,
        with_settings as with_settings,
    )
    from baserate.decide._least_cost import BROKEN as BROKEN
    from baserate.decide._points import (
        apart as apart,
        from_perfection as from_perfection,
        objective as objective,
        uneven as uneven,
    )
    from baserate.decide._precision import separate as separate
    from baserate.decide._rule import (
        EQUAL as EQUAL,
        Choose as Choose,
        as_setting as as_setting,
        best_at as best_at,
        both_classes as both_classes,
        check_curve as check_curve,
        may_be_infinite as may_be_infinite,
        skipped_note as skipped_note,
        strictest as strictest,
        threshold_at as threshold_at,
    )
    from baserate.decide._summary import FLATTERED as FLATTERED
    from baserate.decide._vertices import ALL as ALL, NONE as NONE

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
