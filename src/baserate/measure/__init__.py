"""Counts | Curve | Tally | Confusion -> number; Tallies -> tidy numbers.

May import the nouns. Threshold measures take `Counts`, rank measures `Curve`, proper scores `Tally`; measures of all
classes together stand in `multiclass` and take `Confusion`. Each is a plain function that knows its best end, its span
and what it needs (`about`).
"""

from baserate.measure import _agreement, _benefit, _binned, _corp, _counts, _cox, _proper, _rank, _smooth, multiclass
from baserate.measure._about import About, Measure, about, bare as bare, measure
from baserate.measure._agreement import *
from baserate.measure._benefit import *
from baserate.measure._benefit import odds as odds
from baserate.measure._binned import *
from baserate.measure._binned import OF_BINS as OF_BINS
from baserate.measure._bins import (
    Bins as Bins,
    By as By,
    binned as binned,
    edges as edges,
    firsts as firsts,
    inner_edges as inner_edges,
    widened as widened,
)
from baserate.measure._corp import *
from baserate.measure._corp import calibrated as calibrated
from baserate.measure._counts import *
from baserate.measure._cox import *
from baserate.measure._cox import (
    OF_LINE as OF_LINE,
    clipped as clipped,
    cox as cox,
    expected as expected,
    offset as offset,
    squares as squares,
)
from baserate.measure._proper import *
from baserate.measure._proper import check_probabilities as check_probabilities
from baserate.measure._rank import *
from baserate.measure._registry import MEASURES, known as known, named, search, why
from baserate.measure._settings import (
    REQUIRED as REQUIRED,
    Settings as Settings,
    option_of as option_of,
    require_stated as require_stated,
    settings_notes as settings_notes,
    settings_of as settings_of,
    unstated as unstated,
)
from baserate.measure._smooth import *
from baserate.measure._smooth import (
    OF_DISTANCES as OF_DISTANCES,
    Smoother as Smoother,
    curve as curve,
    distances as distances,
)
from baserate.measure._summary import (
    COLUMNS as COLUMNS,
    USUAL,
    Place as Place,
    as_thresholds as as_thresholds,
    check_tallies as check_tallies,
    chosen_measures as chosen_measures,
    curves,
    header as header,
    joined as joined,
    measured as measured,
    named_group as named_group,
    path_of as path_of,
    planned as planned,
    reweighed as reweighed,
    settings_data as settings_data,
    spread as spread,
    summary,
    tabulated as tabulated,
    tidy as tidy,
)
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
