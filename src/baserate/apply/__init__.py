"""Apply a calibrator or a policy to rows, or export it as SQL or Python for systems without baserate.

`frame` and `file` keep every row and column and add new columns; `actions` takes arrays; `as_sql` and `as_python`
return source code. Names are imported on first use. The package uses the types and `read`.

- `_task`: the columns that are read and added, and the errors of rows.
- `_arrays`: calibrators and policies on arrays and frames in memory (pandas, Polars, PyArrow, mappings of columns).
- `_policy_lookup`: score ranges, groups and tables of a policy.
- `_duckdb`: relations of DuckDB, on which files rest.
- `_files`: CSV, Parquet and JSON files of any size.
- `_sql`: formulas of calibrators and policies in SQL.
- `_sql_dialects`: the table of SQL dialects, and the layout of CASE expressions.
- `_python`: functions in Python.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.apply._arrays import Actions as Actions, actions as actions, frame as frame
    from baserate.apply._files import WriteSummary as WriteSummary, file as file
    from baserate.apply._python import as_python as as_python
    from baserate.apply._sql import as_sql as as_sql

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.apply._arrays import check_ids as check_ids, id_texts as id_texts
    from baserate.apply._policy_lookup import ScoreRanges as ScoreRanges, score_ranges as score_ranges
    from baserate.apply._sql_dialects import DIALECTS as DIALECTS, find_dialect as find_dialect
    from baserate.apply._task import unknown_groups_error as unknown_groups_error

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
