"""Confusion | ClassRows | LabelSets -> number: over all classes together, or averaged over each against the rest.

Measures of a K×K table take `Confusion`, those of scores `ClassRows`. For what concerns one class, `each` and
`averaged` take any measure of two classes.
"""

from baserate.measure.multiclass import _agreement, _association, _information, _rates, _scored, _sets
from baserate.measure.multiclass._agreement import *
from baserate.measure.multiclass._association import *
from baserate.measure.multiclass._average import AVERAGES, Split, averaged, each, undefined
from baserate.measure.multiclass._information import *
from baserate.measure.multiclass._rates import *
from baserate.measure.multiclass._registry import MEASURES, named, search
from baserate.measure.multiclass._scored import *
from baserate.measure.multiclass._scored import NEAR as NEAR, check_class_probabilities as check_class_probabilities
from baserate.measure.multiclass._sets import *
from baserate.measure.multiclass._summary import (
    USUAL,
    chosen_measures as chosen_measures,
    header as header,
    meant,
    summary,
    walk as walk,
)

__all__ = [
    "AVERAGES",
    "MEASURES",
    "USUAL",
    "Split",
    "averaged",
    "each",
    "meant",
    "named",
    "search",
    "summary",
    "undefined",
]
__all__ += _rates.__all__
__all__ += _agreement.__all__
__all__ += _information.__all__
__all__ += _association.__all__
__all__ += _scored.__all__
__all__ += _sets.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
