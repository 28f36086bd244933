"""measure -> Estimate: an interval on every number, honest comparison, and how many rows are needed.

May import the nouns and `measure`. `estimate` and `summary` give intervals, `band` and `bands` those of curves,
`compare` tells models apart, and the functions about sizes plan a study. Names are resolved on first use: who wants an
interval need not load what compares.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.infer._bands import Band as Band, band as band, bands as bands
    from baserate.infer._comparing._classes import compare_classes as compare_classes
    from baserate.infer._comparing._compare import compare as compare
    from baserate.infer._comparing._comparison import Comparison as Comparison, tidy as tidy
    from baserate.infer._comparing._question import Question as Question
    from baserate.infer._comparing._unpaired import compare_unpaired as compare_unpaired
    from baserate.infer._estimate import estimate as estimate, methods as methods
    from baserate.infer._reliability._checks import (
        Check as Check,
        checks as checks,
        cox_test as cox_test,
        ecce_test as ecce_test,
        hosmer_lemeshow as hosmer_lemeshow,
        slope_test as slope_test,
        spiegelhalter as spiegelhalter,
    )
    from baserate.infer._reliability._curves import (
        Drawn as Drawn,
        reliability_curve as reliability_curve,
        reliability_curves as reliability_curves,
    )
    from baserate.infer._reliability._floors import Floor as Floor, floor as floor, floors as floors
    from baserate.infer._reliability._intrinsic import (
        Intrinsic as Intrinsic,
        derived_prevalence as derived_prevalence,
        intrinsic as intrinsic,
    )
    from baserate.infer._reliability._parts import After as After, mapped as mapped
    from baserate.infer._reliability._resampled import resampled as resampled
    from baserate.infer._reliability._summary import Reliability as Reliability, reliability as reliability
    from baserate.infer._sizing._auc import (
        alpha_to_show_auc as alpha_to_show_auc,
        detectable_auc as detectable_auc,
        power_of_auc as power_of_auc,
        power_of_auc_difference as power_of_auc_difference,
        size_to_show_auc as size_to_show_auc,
        size_to_show_auc_difference as size_to_show_auc_difference,
    )
    from baserate.infer._sizing._auc_pair import (
        AucPair as AucPair,
        Spread as Spread,
        assumed_pair as assumed_pair,
        binormal_pair as binormal_pair,
        binormal_spread as binormal_spread,
        delong_pair as delong_pair,
        stated_pair as stated_pair,
        tallied_pair as tallied_pair,
    )
    from baserate.infer._sizing._share import (
        power_of_share as power_of_share,
        power_of_share_difference as power_of_share_difference,
        size_to_show_share as size_to_show_share,
        size_to_show_share_difference as size_to_show_share_difference,
    )
    from baserate.infer._sizing._simulated import size_by_simulation as size_by_simulation
    from baserate.infer._sizing._size import Size as Size, size_of_auc as size_of_auc, size_of_share as size_of_share
    from baserate.infer._summary import (
        METHODS as METHODS,
        Interval as Interval,
        class_summary as class_summary,
        summary as summary,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.infer._binomial import (
        Share as Share,
        as_share as as_share,
        share as share,
        two_sided as two_sided,
        usual as usual,
    )
    from baserate.infer._comparing._compare import cut as cut
    from baserate.infer._comparing._comparison import ComparisonRequest as ComparisonRequest, adjusted as adjusted
    from baserate.infer._comparing._question import holm as holm
    from baserate.infer._comparing._unpaired import compared as compared
    from baserate.infer._draws import (
        Seed as Seed,
        checked_draws as checked_draws,
        checked_seed as checked_seed,
        in_blocks as in_blocks,
        percentiles as percentiles,
    )
    from baserate.infer._estimate import (
        EstimateRequest as EstimateRequest,
        judged as judged,
        noun_of as noun_of,
        ways as ways,
    )
    from baserate.infer._influence import (
        Part as Part,
        freedom as freedom,
        has_influence as has_influence,
        influence_slopes as influence_slopes,
    )
    from baserate.infer._known import (
        FIXED_METHOD as FIXED_METHOD,
        bound_at_fixed_prevalence as bound_at_fixed_prevalence,
        reweighed as reweighed,
    )
    from baserate.infer._moments import widening as widening
    from baserate.infer._net import (
        LINEAR_FIXED_METHOD as LINEAR_FIXED_METHOD,
        LINEAR_METHOD as LINEAR_METHOD,
        CellSample as CellSample,
        LinearCell as LinearCell,
        bound_linear_cells as bound_linear_cells,
        bound_weighted_cells as bound_weighted_cells,
        bound_weighted_rates as bound_weighted_rates,
        combine_cell_bounds as combine_cell_bounds,
    )
    from baserate.infer._reliability._parts import SAME_ROWS as SAME_ROWS
    from baserate.infer._resample import (
        EXACT as EXACT,
        Way as Way,
        bucketed as bucketed,
        how as how,
        refilled as refilled,
    )
    from baserate.infer._sizing._power import z_of as z_of
    from baserate.infer._summary import all_reweighed as all_reweighed, check_use as check_use
    from baserate.infer._tables import has_empty_cells as has_empty_cells, simulate_tables as simulate_tables

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
