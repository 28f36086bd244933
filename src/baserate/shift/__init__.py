"""Class prevalence: the same classifier at another prevalence, known or estimated from unlabelled data.

Where the prevalence is known, `reweigh` changes weights and never scores, and `reprior` changes scores and never
weights. Where it is unknown, `estimate_prevalence` estimates it. Names are resolved on first use. May import the types,
`measure`, `infer`, `calibration` and `apply`.

Modules
-------
_class_weights : γ, the ratio of prevalence odds, and `reweigh`.
_prior_correction : `reprior`, `posterior_calibrator`; measures in the sample and at the deployment prevalence.
_prevalence_curve : `ppv`, `npv` and curves of measures by prevalence.
_estimators : the registry of prevalence estimators, and `estimate_prevalence`.
_moment_matching : estimators by means: ACC, PACC, CM, SCM, RLLS.
_threshold_selection : ACC at chosen thresholds: T50, MAX, X, median sweep.
_distribution_matching, _multiclass_kernels : histograms and kernel densities: DyS, KDEy.
_maximum_likelihood : estimators of two classes by likelihood: MLLS (EM, SLD), binned; HDy.
_multiclass_likelihood : estimators of several classes by likelihood ratios: MLLS, GMM.
_data : unlabelled and validation data of the estimators, checked; their results.
_quantification_study : errors of estimators on samples of a labelled test set.
_label_shift : tests of label shift and of calibration; piecewise linear calibration curve.
_adjusted_measures : measures at an estimated prevalence, and their intervals.
_performance, _multiclass_performance : performance without labels.
_summary : tables of an estimated prevalence, and of performance without labels.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.shift._adjusted_measures import adjusted_summary as adjusted_summary
    from baserate.shift._class_weights import (
        gamma as gamma,
        gamma_of_counts as gamma_of_counts,
        gamma_of_sampling as gamma_of_sampling,
        prevalence_of_gamma as prevalence_of_gamma,
        reweigh as reweigh,
    )
    from baserate.shift._data import MulticlassPrevalence as MulticlassPrevalence, Prevalence as Prevalence
    from baserate.shift._estimators import (
        ALIASES as ALIASES,
        METHODS as METHODS,
        estimate_prevalence as estimate_prevalence,
    )
    from baserate.shift._label_shift import (
        LabelShiftTestResult as LabelShiftTestResult,
        label_shift_test as label_shift_test,
    )
    from baserate.shift._performance import (
        estimate_performance as estimate_performance,
        expected_tally as expected_tally,
    )
    from baserate.shift._prevalence_curve import (
        npv as npv,
        ppv as ppv,
        prevalence_curve as prevalence_curve,
        prevalence_curves as prevalence_curves,
        prevalence_table as prevalence_table,
    )
    from baserate.shift._prior_correction import (
        class_summary as class_summary,
        posterior_calibrator as posterior_calibrator,
        reprior as reprior,
        reprior_calibrator as reprior_calibrator,
        reprior_threshold as reprior_threshold,
        summary as summary,
    )
    from baserate.shift._quantification_study import quantification_study as quantification_study
    from baserate.shift._summary import prevalence_summary as prevalence_summary

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.shift._class_weights import (
        PrevalenceLike as PrevalenceLike,
        check_prevalence as check_prevalence,
        describe_deployment as describe_deployment,
        evaluate_at_prevalence as evaluate_at_prevalence,
        scale_counts as scale_counts,
    )
    from baserate.shift._data import SIGNIFICANCE_LEVEL as SIGNIFICANCE_LEVEL
    from baserate.shift._estimators import (
        DEFAULT_METHOD as DEFAULT_METHOD,
        DEFAULT_MULTICLASS_METHOD as DEFAULT_MULTICLASS_METHOD,
        ESTIMATORS as ESTIMATORS,
        Estimator as Estimator,
        method_options as method_options,
        resolve_method as resolve_method,
    )
    from baserate.shift._label_shift import (
        CALIBRATION_CHECK as CALIBRATION_CHECK,
        describe_rejections as describe_rejections,
    )
    from baserate.shift._prevalence_curve import (
        default_prevalences as default_prevalences,
        prevalence_grid as prevalence_grid,
        spaced_prevalences as spaced_prevalences,
    )
    from baserate.shift._prior_correction import CORRECTED_SCORES as CORRECTED_SCORES, RAW_SCORES as RAW_SCORES
    from baserate.shift._summary import (
        TARGET as TARGET,
        VALIDATION as VALIDATION,
        performance_summary as performance_summary,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
