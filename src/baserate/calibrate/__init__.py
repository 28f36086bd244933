"""Tally or Rows -> Map: make the probabilities right.

May import the nouns and `measure`. Each method is a function from a tally to a `Map`; `fit` takes a method by name and
data of any kind, `crossfitted` judges a method on rows that it has not seen, and `choose` picks one. What is fitted to
several classes at once stands in `multiclass`. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.calibrate import multiclass as multiclass
    from baserate.calibrate._beta import beta as beta
    from baserate.calibrate._choose import Choice as Choice, choose as choose
    from baserate.calibrate._closed import (
        identity as identity,
        logistic as logistic,
        offset as offset,
        prevalence as prevalence,
        temperature as temperature,
    )
    from baserate.calibrate._crossfit import crossfitted as crossfitted
    from baserate.calibrate._methods import CLASS_METHODS as CLASS_METHODS, METHODS as METHODS, fit as fit
    from baserate.calibrate._pieces import histogram as histogram, isotonic as isotonic, venn_abers as venn_abers

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.calibrate._crossfit import (
        FOLDS as FOLDS,
        Fold as Fold,
        Watch as Watch,
        dealt as dealt,
        dealt_counts as dealt_counts,
        left_out as left_out,
    )
    from baserate.calibrate._data import Data as Data, tally_of as tally_of

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
