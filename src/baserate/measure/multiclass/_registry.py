"""Names -> measures of several classes, for names that arrive from a shell, a URL or a file."""

import re
from dataclasses import replace
from functools import partial

from baserate.measure import _names
from baserate.measure._about import Measure, about
from baserate.measure.multiclass import _agreement, _association, _information, _rates, _scored, _sets

MEASURES: dict[str, Measure] = {
    "accuracy": _rates.accuracy,
    "hamming_loss": _rates.hamming_loss,
    "jaccard": _rates.jaccard,
    "balanced_accuracy": _rates.balanced_accuracy,
    "adjusted_balanced_accuracy": _rates.adjusted_balanced_accuracy,
    "class_balanced_accuracy": _rates.class_balanced_accuracy,
    "mean_balanced_accuracy": _rates.mean_balanced_accuracy,
    "no_information_rate": _rates.no_information_rate,
    "expected_cost": _rates.expected_cost,
    "chance_accuracy": _agreement.chance_accuracy,
    "mcc": _agreement.mcc,
    "mcc_least": _agreement.mcc_least,
    "kappa": _agreement.kappa,
    "scott_pi": _agreement.scott_pi,
    "krippendorff_alpha": _agreement.krippendorff_alpha,
    "gwet_ac1": _agreement.gwet_ac1,
    "bennett_s": _agreement.bennett_s,
    "truth_entropy": _information.truth_entropy,
    "decision_entropy": _information.decision_entropy,
    "joint_entropy": _information.joint_entropy,
    "truth_entropy_given_decision": _information.truth_entropy_given_decision,
    "decision_entropy_given_truth": _information.decision_entropy_given_truth,
    "mutual_information": _information.mutual_information,
    "truth_theil_u": _information.truth_theil_u,
    "decision_theil_u": _information.decision_theil_u,
    "symmetric_theil_u": _information.symmetric_theil_u,
    "cross_entropy": _information.cross_entropy,
    "kl_divergence": _information.kl_divergence,
    "confusion_entropy": _information.confusion_entropy,
    "chi_squared": _association.chi_squared,
    "phi_squared": _association.phi_squared,
    "cramers_v": _association.cramers_v,
    "truth_lambda": _association.truth_lambda,
    "decision_lambda": _association.decision_lambda,
    "hand_till": _scored.hand_till,
    "brier": _scored.brier,
    "log_loss": _scored.log_loss,
    "top_k_accuracy": _scored.top_k_accuracy,
    "exact_match": _sets.exact_match,
}


def named(name: str) -> Measure:
    """Find a measure of all classes by its name or any other name of it, as `baserate.measure.named` does.

    Top-k accuracy and weighted κ have a name for each k and each kind of weights.

    >>> named("R_K").__name__, named("Cohen's kappa").__name__
    ('mcc', 'kappa')
    >>> named("top-5 accuracy").about.name, named("quadratic weighted kappa").about.name
    ('top_5_accuracy', 'quadratic_kappa')
    """
    plain = re.sub(r"[\s_-]+", " ", name.strip().lower())
    if top := re.fullmatch(r"top ?([1-9][0-9]{0,5})( accuracy)?", plain):
        k = int(top[1])
        among = "has the highest score" if k == 1 else f"is among the {k} highest scores"
        return _specialize(_scored.top_k_accuracy, f"top_{k}_accuracy", f"Share of rows whose true class {among}.", k=k)
    if weighted := re.fullmatch(r"(linear|quadratic)( weighted)? kappa", plain):
        kind = weighted[1]
        summary = f"Cohen's kappa with {kind} weights for disagreements: weighted agreement beyond chance."
        return _specialize(_agreement.kappa, f"{kind}_kappa", summary, weights=kind)
    return _names.find(name, MEASURES)


def _specialize(measure: Measure, name: str, summary: str, **options: object) -> Measure:
    """Make a measure with some of its options chosen, under a name and a summary of its own."""
    special = partial(measure, **options)
    vars(special)["about"] = replace(about(measure), name=name, summary=summary)
    return special


def search(words: str) -> list[str]:
    """Names of the measures of all classes whose name, other names or summary contain all these words.

    >>> search("Mosley")
    ['class_balanced_accuracy']
    """
    return _names.search(words, MEASURES)
