"""Inference: confidence intervals, comparisons, calibration and sample sizes.

Imports types and `measure`. Names are resolved on first use, so an interval does not load the comparisons.

Intervals
    `_estimate`: a measure with its interval; the table of methods.
    `_summary`: many measures with intervals.
    `_binomial`: intervals of proportions (Wilson, Clopper–Pearson, Jeffreys, Agresti–Coull).
    `_auc_intervals`: AUC intervals (DeLong, Hanley–McNeil, score), and influence of rows on an AUC.
    `_confusion_intervals`: measures of confusion matrices, by the delta method or simulated tables.
    `_multiclass_intervals`: class averages, Hand and Till's M and mean losses.
    `_linear_cells`: net benefit, cost and other linear combinations of cells.
    `_fixed_prevalence`: proportions where the class shares are fixed.
    `_clusters`: clustered rows, by the jackknife over clusters.
    `_confidence_bands`: confidence bands of ROC, precision–recall and gain curves, and the KS interval.

Methods
-------
    `_bounds`: bounds from a value and its variance; t quantiles; heavy tails.
    `_influence_functions`: closed-form variances.
    `_bootstrap`: bootstrap samples of tables and tallies.
    `_canonical_order`: rows sorted by content, and the bootstrap over them.
Comparisons
    `_comparison`: the question, p-values and the result.
    `_paired_comparison`: models on the same rows.
    `_unpaired_comparison`: independent samples.
    `_multiclass_comparison`: multi-class models on the same rows.
    `_mcnemar`: McNemar's tests and the joint table of two decisions.
Calibration
    `_calibration_summary`: all calibration measures and tests.
    `_calibration_tests`: Cox, Spiegelhalter, Hosmer–Lemeshow and ECCE tests; calibration at another prevalence.
    `_calibration_intervals`: intervals of calibration measures.
    `_calibration_curves`: calibration curves as tables.
    `_null_reference`: what a perfectly calibrated model of this size would score.
Sample size
    `_sample_size`: the answer, normal tests, and simulated sizes.
    `_sample_size_proportion`: size and power for proportions.
    `_sample_size_auc`: size and power for AUCs.
    `_auc_pairs`: two AUCs with their variances and covariance.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.infer._auc_pairs import (
        AucPair as AucPair,
        Spread as Spread,
        assumed_pair as assumed_pair,
        binormal_pair as binormal_pair,
        binormal_spread as binormal_spread,
        delong_pair as delong_pair,
        stated_pair as stated_pair,
        tallied_pair as tallied_pair,
    )
    from baserate.infer._calibration_curves import (
        Drawn as Drawn,
        reliability_curve as reliability_curve,
        reliability_curves as reliability_curves,
    )
    from baserate.infer._calibration_summary import (
        After as After,
        Reliability as Reliability,
        mapped as mapped,
        reliability as reliability,
    )
    from baserate.infer._calibration_tests import (
        Check as Check,
        Intrinsic as Intrinsic,
        checks as checks,
        cox_test as cox_test,
        derived_prevalence as derived_prevalence,
        ecce_test as ecce_test,
        hosmer_lemeshow as hosmer_lemeshow,
        intrinsic as intrinsic,
        slope_test as slope_test,
        spiegelhalter as spiegelhalter,
    )
    from baserate.infer._comparison import Comparison as Comparison, Question as Question, tidy as tidy
    from baserate.infer._confidence_bands import Band as Band, band as band, bands as bands
    from baserate.infer._estimate import estimate as estimate, methods as methods, resampled as resampled
    from baserate.infer._multiclass_comparison import compare_classes as compare_classes
    from baserate.infer._null_reference import Floor as Floor, floor as floor, floors as floors
    from baserate.infer._paired_comparison import compare as compare
    from baserate.infer._sample_size import Size as Size, size_by_simulation as size_by_simulation
    from baserate.infer._sample_size_auc import (
        alpha_to_show_auc as alpha_to_show_auc,
        detectable_auc as detectable_auc,
        power_of_auc as power_of_auc,
        power_of_auc_difference as power_of_auc_difference,
        size_of_auc as size_of_auc,
        size_to_show_auc as size_to_show_auc,
        size_to_show_auc_difference as size_to_show_auc_difference,
    )
    from baserate.infer._sample_size_proportion import (
        power_of_share as power_of_share,
        power_of_share_difference as power_of_share_difference,
        size_of_share as size_of_share,
        size_to_show_share as size_to_show_share,
        size_to_show_share_difference as size_to_show_share_difference,
    )
    from baserate.infer._summary import (
        METHODS as METHODS,
        Interval as Interval,
        class_summary as class_summary,
        summary as summary,
    )
    from baserate.infer._unpaired_comparison import compare_unpaired as compare_unpaired

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.infer._binomial import (
        Share as Share,
        as_share as as_share,
        share as share,
        two_sided as two_sided,
        usual as usual,
    )
    from baserate.infer._bootstrap import (
        EXACT as EXACT,
        Seed as Seed,
        Way as Way,
        bucketed as bucketed,
        checked_draws as checked_draws,
        checked_seed as checked_seed,
        how as how,
        in_blocks as in_blocks,
        percentiles as percentiles,
        refilled as refilled,
    )
    from baserate.infer._bounds import widening as widening
    from baserate.infer._calibration_summary import SAME_ROWS as SAME_ROWS
    from baserate.infer._comparison import ComparisonRequest as ComparisonRequest, adjusted as adjusted, holm as holm
    from baserate.infer._confusion_intervals import (
        has_empty_cells as has_empty_cells,
        simulate_tables as simulate_tables,
    )
    from baserate.infer._estimate import (
        EstimateRequest as EstimateRequest,
        judged as judged,
        noun_of as noun_of,
        ways as ways,
    )
    from baserate.infer._fixed_prevalence import (
        FIXED_METHOD as FIXED_METHOD,
        bound_at_fixed_prevalence as bound_at_fixed_prevalence,
        reweighed as reweighed,
    )
    from baserate.infer._influence_functions import (
        Part as Part,
        freedom as freedom,
        has_influence as has_influence,
        influence_slopes as influence_slopes,
    )
    from baserate.infer._linear_cells import (
        LINEAR_FIXED_METHOD as LINEAR_FIXED_METHOD,
        LINEAR_METHOD as LINEAR_METHOD,
        CellSample as CellSample,
        LinearCell as LinearCell,
        bound_linear_cells as bound_linear_cells,
        bound_weighted_cells as bound_weighted_cells,
        bound_weighted_rates as bound_weighted_rates,
        combine_cell_bounds as combine_cell_bounds,
    )
    from baserate.infer._paired_comparison import cut as cut
    from baserate.infer._sample_size import z_of as z_of
    from baserate.infer._summary import all_reweighed as all_reweighed, check_use as check_use
    from baserate.infer._unpaired_comparison import compared as compared

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
