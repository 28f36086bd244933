"""Fit calibrators: functions from scores to calibrated probabilities.

Each method is a function from a tally to a `Calibrator`; `fit` takes a method by name and data of any kind,
`cross_fit` evaluates a method out of fold, and `choose` selects one. Names are imported on first use. The package uses
the types and `measure`.

- `_registry`: the table of calibrators with names and aliases, and `fit`.
- `_parametric`: identity, offset, temperature, logistic (Platt) and beta calibration.
- `_nonparametric`: isotonic regression, histogram binning and Venn–Abers.
- `multiclass`: calibrators of several classes.
- `_cross_fitting`: folds, out-of-fold calibration, and the choice of a method by cross-validated log loss.
- `_fit_data`: data of all fits, checked; parameters with intervals.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.calibration import multiclass as multiclass
    from baserate.calibration._cross_fitting import Choice as Choice, choose as choose, cross_fit as cross_fit
    from baserate.calibration._nonparametric import (
        histogram as histogram,
        isotonic as isotonic,
        venn_abers as venn_abers,
    )
    from baserate.calibration._parametric import (
        beta as beta,
        identity as identity,
        logistic as logistic,
        offset as offset,
        prevalence as prevalence,
        temperature as temperature,
    )
    from baserate.calibration._registry import (
        BINARY_METHODS as BINARY_METHODS,
        MULTICLASS_METHODS as MULTICLASS_METHODS,
        fit as fit,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.calibration._cross_fitting import (
        FOLDS as FOLDS,
        Fold as Fold,
        ProgressCallback as ProgressCallback,
        assign_fold_counts as assign_fold_counts,
        assign_folds as assign_folds,
        iterate_folds as iterate_folds,
    )
    from baserate.calibration._fit_data import Data as Data, format_labels as format_labels, pool_tally as pool_tally
    from baserate.calibration._registry import CALIBRATORS as CALIBRATORS, CalibratorEntry as CalibratorEntry

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
