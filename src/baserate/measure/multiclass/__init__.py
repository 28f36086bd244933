"""Confusion -> number: measures of a K×K table, over all classes together.

For what concerns one class, `Confusion.one_vs_rest` gives `Counts` over classes, and every measure of those is at hand.
"""

from baserate.measure.multiclass import _agreement, _association, _information, _rates
from baserate.measure.multiclass._agreement import *
from baserate.measure.multiclass._association import *
from baserate.measure.multiclass._information import *
from baserate.measure.multiclass._rates import *
from baserate.measure.multiclass._registry import MEASURES, named, search

__all__ = ["MEASURES", "named", "search"]
__all__ += _rates.__all__
__all__ += _agreement.__all__
__all__ += _information.__all__
__all__ += _association.__all__
