"""measure -> Estimate: an interval on every number, honest comparison, and how many rows are needed.

May import the nouns and `measure`. `estimate` and `summary` give intervals, `band` and `bands` those of curves,
`compare` tells models apart, and the functions about sizes plan a study. Names are resolved on first use: who wants an
interval need not load what compares.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.infer._bands import Band, band, bands
    from baserate.infer._comparing._classes import compare_classes
    from baserate.infer._comparing._compare import compare
    from baserate.infer._comparing._comparison import Comparison, tidy
    from baserate.infer._comparing._question import Question
    from baserate.infer._comparing._unpaired import compare_unpaired
    from baserate.infer._estimate import estimate, methods
    from baserate.infer._reliability._checks import (
        Check,
        checks,
        cox_test,
        ecce_test,
        hosmer_lemeshow,
        slope_test,
        spiegelhalter,
    )
    from baserate.infer._reliability._curves import Drawn, reliability_curve, reliability_curves
    from baserate.infer._reliability._floors import Floor, floor, floors
    from baserate.infer._reliability._intrinsic import Intrinsic, derived_prevalence, intrinsic
    from baserate.infer._reliability._parts import After, mapped
    from baserate.infer._reliability._resampled import resampled
    from baserate.infer._reliability._summary import Reliability, reliability
    from baserate.infer._sizing._auc import (
        alpha_to_show_auc,
        detectable_auc,
        power_of_auc,
        power_of_auc_difference,
        size_to_show_auc,
        size_to_show_auc_difference,
    )
    from baserate.infer._sizing._auc_pair import (
        AucPair,
        Spread,
        assumed_pair,
        binormal_pair,
        binormal_spread,
        delong_pair,
        stated_pair,
        tallied_pair,
    )
    from baserate.infer._sizing._share import (
        power_of_share,
        power_of_share_difference,
        size_to_show_share,
        size_to_show_share_difference,
    )
    from baserate.infer._sizing._simulated import size_by_simulation
    from baserate.infer._sizing._size import Size, size_of_auc, size_of_share
    from baserate.infer._summary import METHODS, Interval, class_summary, summary

_HOMES = {
    "_estimate": ("estimate", "methods"),
    "_summary": ("METHODS", "Interval", "class_summary", "summary"),
    "_bands": ("Band", "band", "bands"),
    "_comparing._question": ("Question",),
    "_comparing._comparison": ("Comparison", "tidy"),
    "_comparing._compare": ("compare",),
    "_comparing._classes": ("compare_classes",),
    "_comparing._unpaired": ("compare_unpaired",),
    "_reliability._checks": (
        *("Check", "checks", "cox_test", "ecce_test", "hosmer_lemeshow", "slope_test", "spiegelhalter"),
    ),
    "_reliability._curves": ("Drawn", "reliability_curve", "reliability_curves"),
    "_reliability._floors": ("Floor", "floor", "floors"),
    "_reliability._intrinsic": ("Intrinsic", "derived_prevalence", "intrinsic"),
    "_reliability._parts": ("After", "mapped"),
    "_reliability._resampled": ("resampled",),
    "_reliability._summary": ("Reliability", "reliability"),
    "_sizing._size": ("Size", "size_of_auc", "size_of_share"),
    "_sizing._auc": (
        *("alpha_to_show_auc", "detectable_auc", "power_of_auc", "power_of_auc_difference"),
        *("size_to_show_auc", "size_to_show_auc_difference"),
    ),
    "_sizing._share": (
        *("power_of_share", "power_of_share_difference", "size_to_show_share", "size_to_show_share_difference"),
    ),
    "_sizing._simulated": ("size_by_simulation",),
    "_sizing._auc_pair": (
        *("AucPair", "Spread", "assumed_pair", "binormal_pair", "binormal_spread", "delong_pair"),
        *("stated_pair", "tallied_pair"),
    ),
}

__all__ = [
    "METHODS",
    "After",
    "AucPair",
    "Band",
    "Check",
    "Comparison",
    "Drawn",
    "Floor",
    "Interval",
    "Intrinsic",
    "Question",
    "Reliability",
    "Size",
    "Spread",
    "alpha_to_show_auc",
    "assumed_pair",
    "band",
    "bands",
    "binormal_pair",
    "binormal_spread",
    "checks",
    "class_summary",
    "compare",
    "compare_classes",
    "compare_unpaired",
    "cox_test",
    "delong_pair",
    "derived_prevalence",
    "detectable_auc",
    "ecce_test",
    "estimate",
    "floor",
    "floors",
    "hosmer_lemeshow",
    "intrinsic",
    "mapped",
    "methods",
    "power_of_auc",
    "power_of_auc_difference",
    "power_of_share",
    "power_of_share_difference",
    "reliability",
    "reliability_curve",
    "reliability_curves",
    "resampled",
    "size_by_simulation",
    "size_of_auc",
    "size_of_share",
    "size_to_show_auc",
    "size_to_show_auc_difference",
    "size_to_show_share",
    "size_to_show_share_difference",
    "slope_test",
    "spiegelhalter",
    "stated_pair",
    "summary",
    "tallied_pair",
    "tidy",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
