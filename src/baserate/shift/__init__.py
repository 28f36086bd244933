"""The class axis: the same classifier at another prevalence, known or unknown.

May import the nouns, `measure`, `infer`, `calibrate` and `apply`. Where the prevalence is known, `reweigh` changes
masses and never scores, and `reprior` changes scores and never masses. Where it is not, `prevalence` estimates it from
scores without truth. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.shift._against import against as against, table as table
    from baserate.shift._corrected import corrected as corrected
    from baserate.shift._gamma import (
        gamma as gamma,
        gamma_of_counts as gamma_of_counts,
        gamma_of_sampling as gamma_of_sampling,
        prevalence_of_gamma as prevalence_of_gamma,
    )
    from baserate.shift._label_shift import label_shift as label_shift
    from baserate.shift._performance import expected as expected, performance as performance
    from baserate.shift._posterior import posterior as posterior
    from baserate.shift._predictive import npv as npv, ppv as ppv
    from baserate.shift._prevalence import ALIASES as ALIASES, METHODS as METHODS, prevalence as prevalence
    from baserate.shift._reprior import reprior as reprior, reprior_map as reprior_map, threshold as threshold
    from baserate.shift._reweigh import reweigh as reweigh
    from baserate.shift._several._result import Shares as Shares
    from baserate.shift._summary import class_summary as class_summary, summary as summary
    from baserate.shift._two._assumption import Assumption as Assumption
    from baserate.shift._two._result import Prevalence as Prevalence

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.shift._against import default_prevalences as default_prevalences, grid as grid
    from baserate.shift._gamma import checked_prevalence as checked_prevalence
    from baserate.shift._prevalence import (
        DEFAULT as DEFAULT,
        DEFAULT_OF_CLASSES as DEFAULT_OF_CLASSES,
        options_of as options_of,
        resolve_method as resolve_method,
    )
    from baserate.shift._reweigh import times as times
    from baserate.shift._summary import CORRECTED as CORRECTED, GIVEN as GIVEN
    from baserate.shift._two._assumption import doubts as doubts
    from baserate.shift._two._fit import NAME as NAME, SIZE as SIZE

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
