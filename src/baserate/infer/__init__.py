"""Inference: confidence intervals, comparisons, calibration and sample sizes.

Imports types and `measure`. Names are resolved on first use, so an interval does not load the comparisons.

Intervals
    `_estimate`: a measure with its interval; the table of methods.
    `_summary`: many measures with intervals.
    `_binomial`: proportions (Wilson, Clopper–Pearson, Jeffreys, Agresti–Coull), also at a fixed prevalence; quantiles.
    `_auc_intervals`: AUC intervals (DeLong, Hanley–McNeil, score); two AUCs with their covariance.
    `_partial_areas`: areas under a section of a binormal curve; contributions of rows to such an area.
    `_confusion_intervals`: measures of confusion matrices: linear in the cells, by the delta method, or simulated.
    `_operating_points`: sensitivity at a fixed specificity, and specificity at a fixed sensitivity.
    `_multiclass`: intervals and comparisons of multi-class measures: class averages, Hand and Till's M, mean losses.
    `_multiclass_losses`: mean losses of several classes, and ratios of two means.
    `_clusters`: clustered rows, by the jackknife over clusters.
    `_confidence_bands`: confidence bands of ROC, precision–recall and gain curves, and the KS interval.
    `_smooth_roc`, `_smooth_roc_fits`: smooth ROC curves with intervals; the table of methods.
    `_variances`: influence functions, bounds from a value and its variance, heavy tails.
    `_bootstrap`: bootstrap samples of tables and tallies; scores pooled in buckets.
    `_model_bootstrap`: rows of several models in canonical order, and their bootstrap samples.
Comparisons
    `_comparison`: the question, p-values and the result.
    `_paired_comparison`: models on the same rows, also at a stated prevalence.
    `_influence_differences`: differences of smooth measures and of KS, with closed-form variances.
    `_roc_permutation`: Venkatraman's permutation tests of equal ROC curves.
    `_mcnemar`: McNemar's tests and the joint table of two decisions.
    `_unpaired_comparison`: independent samples.
    `_pooled_contrasts`: a sample and everybody, of whom it is a part; ratios; sums of independent values.
    `_reclassification`: net reclassification improvement and integrated discrimination improvement.
Decisions
    `_decision_tests`: accuracy against the no-information rate; symmetry of errors.
Calibration
    `_calibration_summary`: all calibration measures and tests; calibration curves as tables.
    `_calibration_tests`: Cox, Spiegelhalter, Hosmer–Lemeshow and ECCE tests; other prevalences, likelihood ratios.
    `_calibration_intervals`: intervals of calibration measures; null references of distances from calibration.
Sample size
    `_sample_size`: the answer, normal tests, and simulated sizes.
    `_sample_size_proportion`: size and power for proportions.
    `_sample_size_auc`: size and power for AUCs.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.infer._auc_intervals import (
        AucPair as AucPair,
        ClassVariance as ClassVariance,
        binormal_pair as binormal_pair,
        binormal_spread as binormal_spread,
        delong_pair as delong_pair,
        hypothetical_pair as hypothetical_pair,
        independent_pair as independent_pair,
        reported_pair as reported_pair,
    )
    from baserate.infer._calibration_intervals import (
        NullReference as NullReference,
        null_reference as null_reference,
        null_references as null_references,
    )
    from baserate.infer._calibration_summary import (
        CalibratedData as CalibratedData,
        CalibrationOptions as CalibrationOptions,
        CurveOptions as CurveOptions,
        apply_calibrator as apply_calibrator,
        calibration_curve as calibration_curve,
        calibration_curves as calibration_curves,
        calibration_summary as calibration_summary,
    )
    from baserate.infer._calibration_tests import (
        CalibrationTest as CalibrationTest,
        IntrinsicCalibration as IntrinsicCalibration,
        calibration_tests as calibration_tests,
        cox_test as cox_test,
        derived_prevalence as derived_prevalence,
        ecce_test as ecce_test,
        hosmer_lemeshow as hosmer_lemeshow,
        intrinsic_calibration as intrinsic_calibration,
        slope_test as slope_test,
        spiegelhalter as spiegelhalter,
    )
    from baserate.infer._comparison import (
        Comparison as Comparison,
        Question as Question,
        tabulate_comparisons as tabulate_comparisons,
    )
    from baserate.infer._confidence_bands import (
        ConfidenceBand as ConfidenceBand,
        confidence_band as confidence_band,
        confidence_bands as confidence_bands,
    )
    from baserate.infer._decision_tests import (
        DecisionTest as DecisionTest,
        no_information_test as no_information_test,
        symmetry_test as symmetry_test,
    )
    from baserate.infer._estimate import bootstrap as bootstrap, estimate as estimate, methods as methods
    from baserate.infer._multiclass import compare_classes as compare_classes
    from baserate.infer._paired_comparison import compare as compare
    from baserate.infer._reclassification import net_reclassification as net_reclassification
    from baserate.infer._sample_size import (
        SampleSize as SampleSize,
        sample_size_by_simulation as sample_size_by_simulation,
        sample_size_for_observed_expected as sample_size_for_observed_expected,
    )
    from baserate.infer._sample_size_auc import (
        alpha_of_auc_test as alpha_of_auc_test,
        detectable_auc as detectable_auc,
        power_of_auc_difference as power_of_auc_difference,
        power_of_auc_test as power_of_auc_test,
        sample_size_for_auc as sample_size_for_auc,
        sample_size_for_auc_difference as sample_size_for_auc_difference,
        sample_size_for_auc_test as sample_size_for_auc_test,
    )
    from baserate.infer._sample_size_proportion import (
        power_of_proportion_difference as power_of_proportion_difference,
        power_of_proportion_test as power_of_proportion_test,
        sample_size_for_proportion as sample_size_for_proportion,
        sample_size_for_proportion_difference as sample_size_for_proportion_difference,
        sample_size_for_proportion_test as sample_size_for_proportion_test,
    )
    from baserate.infer._smooth_roc import (
        SmoothRoc as SmoothRoc,
        smooth_roc as smooth_roc,
        smooth_roc_curves as smooth_roc_curves,
    )
    from baserate.infer._smooth_roc_fits import SMOOTH_METHODS as SMOOTH_METHODS
    from baserate.infer._summary import (
        INTERVAL_METHODS as INTERVAL_METHODS,
        IntervalOptions as IntervalOptions,
        multiclass_summary as multiclass_summary,
        summary as summary,
    )
    from baserate.infer._unpaired_comparison import compare_unpaired as compare_unpaired

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.infer._binomial import (
        FIXED_METHOD as FIXED_METHOD,
        Proportion as Proportion,
        bound_at_fixed_prevalence as bound_at_fixed_prevalence,
        effective_proportion as effective_proportion,
        has_fixed_prevalence as has_fixed_prevalence,
        normal_quantile as normal_quantile,
        proportion_from_variance as proportion_from_variance,
        t_widening as t_widening,
        wilson_or_exact as wilson_or_exact,
    )
    from baserate.infer._bootstrap import (
        EXACT_ROWS as EXACT_ROWS,
        BootstrapScheme as BootstrapScheme,
        Seed as Seed,
        check_n_samples as check_n_samples,
        describe_bootstrap as describe_bootstrap,
        make_generator as make_generator,
        make_resampler as make_resampler,
        percentiles as percentiles,
        pool_neighbors as pool_neighbors,
        pool_scores as pool_scores,
        sample_in_blocks as sample_in_blocks,
        sample_masses as sample_masses,
    )
    from baserate.infer._calibration_summary import SAME_ROWS as SAME_ROWS
    from baserate.infer._calibration_tests import SMALLEST_P as SMALLEST_P, chi_squared_p as chi_squared_p
    from baserate.infer._comparison import (
        Alternative as Alternative,
        ComparisonRequest as ComparisonRequest,
        StudentizedDifference as StudentizedDifference,
        adjust_p_values as adjust_p_values,
        holm as holm,
    )
    from baserate.infer._confusion_intervals import (
        LINEAR_FIXED_METHOD as LINEAR_FIXED_METHOD,
        LINEAR_METHOD as LINEAR_METHOD,
        CellSample as CellSample,
        LinearCell as LinearCell,
        bound_linear_cells as bound_linear_cells,
        bound_weighted_cells as bound_weighted_cells,
        bound_weighted_rates as bound_weighted_rates,
        combine_cell_bounds as combine_cell_bounds,
        has_empty_cells as has_empty_cells,
        simulate_tables as simulate_tables,
    )
    from baserate.infer._decision_tests import decision_tests as decision_tests
    from baserate.infer._estimate import (
        EstimateRequest as EstimateRequest,
        estimate_input as estimate_input,
        interval_methods as interval_methods,
        prepare_input as prepare_input,
    )
    from baserate.infer._paired_comparison import find_threshold as find_threshold
    from baserate.infer._pooled_contrasts import (
        add_in_quadrature as add_in_quadrature,
        compare_with_whole as compare_with_whole,
        conclude_by_quadrature as conclude_by_quadrature,
        is_mean as is_mean,
        make_limits as make_limits,
        pool_samples as pool_samples,
        ratio_of_samples as ratio_of_samples,
        ratio_to_whole as ratio_to_whole,
    )
    from baserate.infer._rate_intervals import has_rate_interval as has_rate_interval, rate_interval as rate_interval
    from baserate.infer._sample_size import quantile_of_test as quantile_of_test
    from baserate.infer._summary import (
        check_method_used as check_method_used,
        have_fixed_prevalence as have_fixed_prevalence,
    )
    from baserate.infer._unpaired_comparison import (
        compare_samples as compare_samples,
        effective_shares as effective_shares,
    )
    from baserate.infer._variances import (
        VarianceComponent as VarianceComponent,
        degrees_of_freedom as degrees_of_freedom,
        has_influence as has_influence,
        influence_slopes as influence_slopes,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
