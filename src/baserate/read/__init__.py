"""Anything -> Tallies, Rows, or a Target.

May import the nouns. Here data are checked, once, with errors that say what to do; everything behind this door trusts
what it is given. What reads tables is loaded on first use: arrays do not need it.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.read._arrays import tally as tally
    from baserate.read._class_arrays import confusion as confusion, scored as scored
    from baserate.read._cross_table import costs as costs, cross_table as cross_table
    from baserate.read._joined import joined as joined
    from baserate.read._label_sets import label_sets as label_sets
    from baserate.read._labels import Spelled as Spelled
    from baserate.read._tables import (
        class_rows as class_rows,
        confusions as confusions,
        decisions as decisions,
        rows as rows,
        tallies as tallies,
    )
    from baserate.read._targets import class_target as class_target, target as target

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.read._columns import as_column as as_column, missing_objects as missing_objects
    from baserate.read._duckdb import (
        Watch as Watch,
        literal as literal,
        number as number,
        quoted as quoted,
        translated as translated,
    )
    from baserate.read._eager import Coded as Coded, Numbers as Numbers, Table as Table, length as length
    from baserate.read._files import steady as steady
    from baserate.read._labels import ordered as ordered, resolved as resolved
    from baserate.read._memory import (
        framed as framed,
        labels_of as labels_of,
        numbers_in as numbers_in,
        series_of as series_of,
    )
    from baserate.read._named import Columns as Columns, check_there as check_there
    from baserate.read._whole import Whole as Whole, whole as whole

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
