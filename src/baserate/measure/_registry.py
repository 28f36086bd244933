"""Names -> measures, for names that arrive from a shell, a URL or a file; and why a measure is undefined."""

from collections.abc import Callable
from typing import Any

from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, ShapeError
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Forecasts, Tally
from baserate.measure import _agreement, _benefit, _binned, _corp, _counts, _cox, _names, _proper, _rank, _smooth
from baserate.measure._about import Measure, about

_MARGINS: dict[str, Callable[[Forecasts], float]] = {
    "doubt": _cox.doubt,
    "event": _cox.event,
    "overlap": _cox.overlap,
    "score_spread": _cox.score_spread,
}
"""Margins that are of probabilities, and therefore no properties of the noun."""

MEASURES: dict[str, Measure] = {
    "accuracy": _counts.accuracy,
    "error_rate": _counts.error_rate,
    "sensitivity": _counts.sensitivity,
    "specificity": _counts.specificity,
    "precision": _counts.precision,
    "npv": _counts.npv,
    "fpr": _counts.fpr,
    "fnr": _counts.fnr,
    "fdr": _counts.fdr,
    "false_omission_rate": _counts.false_omission_rate,
    "prevalence": _counts.prevalence,
    "flag_rate": _counts.flag_rate,
    "pass_rate": _counts.pass_rate,
    "lift": _counts.lift,
    "positive_likelihood_ratio": _counts.positive_likelihood_ratio,
    "negative_likelihood_ratio": _counts.negative_likelihood_ratio,
    "diagnostic_odds_ratio": _counts.diagnostic_odds_ratio,
    "prevalence_threshold": _counts.prevalence_threshold,
    "expected_cost": _counts.expected_cost,
    "net_benefit": _benefit.net_benefit,
    "standardized_net_benefit": _benefit.standardized_net_benefit,
    "net_reduction": _benefit.net_reduction,
    "f1": _agreement.f1,
    "f_beta": _agreement.f_beta,
    "e_measure": _agreement.e_measure,
    "borko": _agreement.borko,
    "mcc": _agreement.mcc,
    "kappa": _agreement.kappa,
    "balanced_accuracy": _agreement.balanced_accuracy,
    "youden": _agreement.youden,
    "markedness": _agreement.markedness,
    "g_mean": _agreement.g_mean,
    "fowlkes_mallows": _agreement.fowlkes_mallows,
    "jaccard": _agreement.jaccard,
    "auc": _rank.auc,
    "partial_auc": _rank.partial_auc,
    "gini": _rank.gini,
    "average_precision": _rank.average_precision,
    "pr_auc": _rank.pr_auc,
    "ks": _rank.ks,
    "cap_area": _rank.cap_area,
    "accuracy_ratio": _rank.accuracy_ratio,
    "lorenz_gini": _rank.lorenz_gini,
    "brier": _proper.brier,
    "brier_skill": _proper.brier_skill,
    "log_loss": _proper.log_loss,
    "log_loss_skill": _proper.log_loss_skill,
    "mean_probability": _cox.mean_probability,
    "observed_expected": _cox.observed_expected,
    "calibration_in_the_large": _cox.calibration_in_the_large,
    "calibration_intercept": _cox.calibration_intercept,
    "calibration_slope": _cox.calibration_slope,
    "cox_ici": _cox.cox_ici,
    "ece": _binned.ece,
    "mce": _binned.mce,
    "rmsce": _binned.rmsce,
    "rmsce_debiased": _binned.rmsce_debiased,
    "ece_sweep": _binned.ece_sweep,
    "smooth_ece": _smooth.smooth_ece,
    "ici": _smooth.ici,
    "e50": _smooth.e50,
    "e90": _smooth.e90,
    "emax": _smooth.emax,
    "ecce": _smooth.ecce,
    "ecce_mad": _smooth.ecce_mad,
    "brier_miscalibration": _corp.brier_miscalibration,
    "brier_discrimination": _corp.brier_discrimination,
    "brier_uncertainty": _corp.brier_uncertainty,
    "log_miscalibration": _corp.log_miscalibration,
    "log_discrimination": _corp.log_discrimination,
    "log_uncertainty": _corp.log_uncertainty,
}


def named(name: str) -> Measure:
    """Find a measure by its name or any other name of it; capitals, spaces and hyphens do not matter.

    >>> named("TPR").__name__, named("false alarm rate").__name__
    ('sensitivity', 'fpr')
    """
    return _names.find(name, MEASURES)


def known(measure: str | Measure) -> Measure:
    """Return the measure of that name; a function that is none is refused."""
    if isinstance(measure, str):
        return named(measure)
    try:
        about(measure)
    except (KeyError, TypeError):
        raise OptionError(f"{measure!r} is no measure; give a name, or a function of baserate.measure.") from None
    return measure


def search(words: str) -> list[str]:
    """Names of the measures whose name, other names or summary contain all these words.

    >>> search("threat")
    ['jaccard']
    """
    return _names.search(words, MEASURES)


def why(measure: Measure, noun: Counts[float] | Confusion | Curve | Tally | MulticlassRows | LabelSets) -> str | None:
    """Why a measure of one table, curve or tally is undefined; None when it is not.

    >>> from baserate import Counts
    >>> why(named("precision"), Counts(tp=0, fp=0, fn=3, tn=5))
    'nothing is flagged'
    """
    if isinstance(noun, Counts | Confusion) and noun.shape:
        kind = type(noun).__name__.lower()
        raise ShapeError(f"these are {noun.shape} tables; ask why of one, for example {kind}[0].")
    if "why" in vars(measure):  # what is made of other measures knows it itself
        reason: str | None = vars(measure)["why"](noun)
        return reason
    told = about(measure)
    missing = [cause for name, cause in zip(told.needs, told.causes, strict=True) if margin(noun, name) == 0]
    return " and ".join(missing) or None


def margin(noun: Any, name: str) -> Any:  # noqa: ANN401  (any noun; one number, or one for each table)
    """Return a margin of a noun: what a measure may need."""
    return _MARGINS[name](noun) if name in _MARGINS else getattr(noun, name)
