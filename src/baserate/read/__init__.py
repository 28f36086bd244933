"""Readers: tables and arrays of any kind become Tallies, Rows, Confusions or Targets, checked once.

Errors name the values and the remedy; later layers trust the result. Modules are loaded on first use.

- `_readers`: public readers of tables (`tallies`, `rows`, `confusions`, …), and the join of several models
- `_arrays`: public readers of arrays and lists (`tally`, `confusion`, `scored`, `label_sets`)
- `_cross_tables`: confusion matrices and costs in text files
- `_engines`: open any table; one path from memory, frames and lazy frames to each result
- `_duckdb`: the same for DuckDB, which also reads files; SQL quoting and errors
- `_files`, `_paths`: files as relations of DuckDB; which files a path means, and their formats
- `_table`, `_builders`: a table in memory, and the results built from it
- `_series`, `_columns`, `_labels`: one column in memory; names and checks of columns; labels
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.read._arrays import confusion as confusion, label_sets as label_sets, scored as scored, tally as tally
    from baserate.read._cross_tables import costs as costs, cross_table as cross_table
    from baserate.read._labels import Spelled as Spelled
    from baserate.read._readers import (
        class_rows as class_rows,
        class_target as class_target,
        confusions as confusions,
        decisions as decisions,
        joined as joined,
        rows as rows,
        tallies as tallies,
        target as target,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.read._columns import (
        Columns as Columns,
        as_column as as_column,
        check_there as check_there,
        missing_objects as missing_objects,
    )
    from baserate.read._duckdb import (
        Watch as Watch,
        literal as literal,
        number as number,
        quoted as quoted,
        translated as translated,
    )
    from baserate.read._files import Whole as Whole, steady as steady, whole as whole
    from baserate.read._labels import ordered as ordered, resolved as resolved
    from baserate.read._series import (
        framed as framed,
        labels_of as labels_of,
        numbers_in as numbers_in,
        series_of as series_of,
    )
    from baserate.read._table import Coded as Coded, Numbers as Numbers, Table as Table, length as length

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
