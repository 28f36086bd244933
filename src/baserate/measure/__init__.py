"""Counts | Curve | Tally | Confusion -> number; Tallies -> tidy numbers.

May import the nouns. Threshold measures take `Counts`, rank measures `Curve`, proper scores `Tally`; measures of all
classes together stand in `multiclass` and take `Confusion`. Each is a plain function that knows its best end, its span
and what it needs (`about`).
"""

from baserate.measure import _agreement, _benefit, _binned, _corp, _counts, _cox, _proper, _rank, _smooth, multiclass
from baserate.measure._about import About, Measure, about, measure
from baserate.measure._agreement import *
from baserate.measure._benefit import *
from baserate.measure._binned import *
from baserate.measure._corp import *
from baserate.measure._counts import *
from baserate.measure._cox import *
from baserate.measure._proper import *
from baserate.measure._rank import *
from baserate.measure._registry import MEASURES, named, search, why
from baserate.measure._smooth import *
from baserate.measure._summary import USUAL, curves, summary
from baserate.measure._table import TABLES, table

__all__ = ["MEASURES", "TABLES", "USUAL", "About", "Measure"]
__all__ += ["about", "curves", "measure", "multiclass", "named", "search", "summary", "table", "why"]
__all__ += _counts.__all__
__all__ += _benefit.__all__
__all__ += _agreement.__all__
__all__ += _rank.__all__
__all__ += _proper.__all__
__all__ += _cox.__all__
__all__ += _binned.__all__
__all__ += _smooth.__all__
__all__ += _corp.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
