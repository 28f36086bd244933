"""Class prevalence: the same classifier at another prevalence, known or estimated from unlabelled data.

Where the prevalence is known, `reweigh` changes weights and never scores, and `reprior` changes scores and never
weights. Where it is unknown, `prevalence` estimates it. Names are resolved on first use. May import the types,
`measure`, `infer`, `calibrate` and `apply`.

Modules
-------
_class_weights : γ, the ratio of prevalence odds, and `reweigh`.
_prior_correction : `reprior`, `posterior` and thresholds: probabilities at another prevalence.
_prevalence_curve : `ppv`, `npv` and curves of measures by prevalence.
_summary : measures in the sample and at the deployment prevalence.
_estimators : the registry of prevalence estimators, and `prevalence`.
_histogram_matching : estimators by histograms: binned, HDy.
_moment_matching : estimators by means: ACC, PACC, CM, SCM, RLLS.
_maximum_likelihood : estimator by likelihood: MLLS (EM, SLD).
_gmm : estimator by the generalized method of moments.
_data : target and validation data of the estimators, checked.
_estimates : results of the estimators.
_label_shift : tests of label shift.
_calibration_curve : piecewise linear calibration curve, and tests of calibration.
_adjusted_measures : measures at an estimated prevalence, and their intervals.
_performance, _multiclass_performance : performance without labels.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.shift._adjusted_measures import corrected as corrected
    from baserate.shift._class_weights import (
        gamma as gamma,
        gamma_of_counts as gamma_of_counts,
        gamma_of_sampling as gamma_of_sampling,
        prevalence_of_gamma as prevalence_of_gamma,
        reweigh as reweigh,
    )
    from baserate.shift._estimates import Prevalence as Prevalence, Shares as Shares
    from baserate.shift._estimators import ALIASES as ALIASES, METHODS as METHODS, prevalence as prevalence
    from baserate.shift._label_shift import Assumption as Assumption, label_shift as label_shift
    from baserate.shift._performance import expected as expected, performance as performance
    from baserate.shift._prevalence_curve import against as against, npv as npv, ppv as ppv, table as table
    from baserate.shift._prior_correction import (
        posterior as posterior,
        reprior as reprior,
        reprior_map as reprior_map,
        threshold as threshold,
    )
    from baserate.shift._summary import class_summary as class_summary, summary as summary

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.shift._calibration_curve import NAME as NAME, SIZE as SIZE
    from baserate.shift._class_weights import checked_prevalence as checked_prevalence, times as times
    from baserate.shift._estimators import (
        DEFAULT as DEFAULT,
        DEFAULT_OF_CLASSES as DEFAULT_OF_CLASSES,
        ESTIMATORS as ESTIMATORS,
        Estimator as Estimator,
        options_of as options_of,
        resolve_method as resolve_method,
    )
    from baserate.shift._label_shift import doubts as doubts
    from baserate.shift._prevalence_curve import default_prevalences as default_prevalences, grid as grid
    from baserate.shift._summary import CORRECTED as CORRECTED, GIVEN as GIVEN

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
