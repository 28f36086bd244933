"""Readers: tables and arrays of any kind become Tallies, Rows, Confusions or Targets, checked once.

Errors name the values and the remedy; later layers trust the result. Modules are loaded on first use.

- `_readers`: public readers of tables (`tallies`, `rows`, `confusions`, …), and the join of several models
- `_constructors`: `tally`, `curve`, `confusion` and `class_scores`, of arrays, tables and files
- `_arrays`, `_multiclass_arrays`: the same of arrays alone, and `label_sets`
- `_predictions`: predictions in any form, and the types made of them
- `_coercion`: the arguments of a call become the type that a public function takes
- `_decorators`: decorators of public functions, which then take predictions in any form
- `_engines`: open any table; one path from memory, frames and lazy frames to each result
- `_duckdb`: the same for DuckDB, which also reads files; SQL quoting and errors
- `_files`: files of a path or pattern, their formats, and files as relations of DuckDB
- `_table`: a table in memory: columns of any library as numbers and codes, and the rows in which all are valid
- `_builders`: the results built from a table in memory; confusion matrices and costs in text files
- `_inspection`: what columns hold, for calls that name none
- `_label_columns`: sets of labels, of a column for each label
- `_columns`, `_labels`: names and checks of columns; labels
- `_estimators`: scores of fitted classifiers

From a CSV file to tallies: `tallies` checks the names of the columns and calls `_engines.open_table`, which calls
`_files.open_relation`. `Relation.compute` then either sums in DuckDB (`_engines.aggregate_tallies`), or fetches the
columns into a `Table`, from which `_builders.build_tallies` makes the result.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.read._builders import cost_matrix as cost_matrix, cross_table as cross_table
    from baserate.read._constructors import class_scores as class_scores, confusion as confusion, tally as tally
    from baserate.read._label_columns import label_columns as label_columns
    from baserate.read._labels import LabelText as LabelText
    from baserate.read._multiclass_arrays import label_sets as label_sets
    from baserate.read._readers import (
        class_rows as class_rows,
        class_target as class_target,
        confusions as confusions,
        decisions as decisions,
        join as join,
        rows as rows,
        tallies as tallies,
        target as target,
    )

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.read._coercion import NOUNS as NOUNS, check_options as check_options, coerce as coerce
    from baserate.read._columns import (
        Columns as Columns,
        as_column as as_column,
        check_column as check_column,
        missing_objects as missing_objects,
    )
    from baserate.read._constructors import curve as curve
    from baserate.read._decorators import (
        OfPredictions as OfPredictions,
        accepts_predictions as accepts_predictions,
        accepts_target as accepts_target,
        accepts_two as accepts_two,
        accepts_words as accepts_words,
        as_target as as_target,
        own_options as own_options,
        read_worded_options as read_worded_options,
        too_many_arguments as too_many_arguments,
    )
    from baserate.read._duckdb import (
        Watch as Watch,
        cast_to_double as cast_to_double,
        quote_identifier as quote_identifier,
        quote_literal as quote_literal,
        translate_errors as translate_errors,
    )
    from baserate.read._estimators import (
        FittedClassifier as FittedClassifier,
        Responses as Responses,
        is_estimator as is_estimator,
        responses as responses,
    )
    from baserate.read._files import (
        AllColumns as AllColumns,
        monotone_progress as monotone_progress,
        open_all_columns as open_all_columns,
    )
    from baserate.read._inspection import Inspection as Inspection, inspect_columns as inspect_columns
    from baserate.read._labels import resolve_label as resolve_label, sort_labels as sort_labels
    from baserate.read._predictions import (
        CHOICES as CHOICES,
        AdjustedIntervalOptions as AdjustedIntervalOptions,
        AdjustedPredictionOptions as AdjustedPredictionOptions,
        IntervalPredictionOptions as IntervalPredictionOptions,
        Missing as Missing,
        OwnData as OwnData,
        PredictionOptions as PredictionOptions,
        Predictions as Predictions,
        Scores as Scores,
        TableSource as TableSource,
        add_columns as add_columns,
        has_class_scores as has_class_scores,
        name_arrays as name_arrays,
    )
    from baserate.read._table import (
        LabelCodes as LabelCodes,
        Numbers as Numbers,
        Table as Table,
        as_series as as_series,
        count_rows as count_rows,
        encode_labels as encode_labels,
        is_series as is_series,
        to_numbers as to_numbers,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
