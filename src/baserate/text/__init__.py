"""Text for people: tables of estimates, lists and sentences, for a terminal and in Markdown.

- `_tables`: `Table` and `Page`, and their rendering for any width.
- `_pivot`: `Pivot` and `list_table` arrange tidy rows in tables; `CellFormatter` writes cells and footnotes.
- `_blocks`: lists of bullets and of commands.
- `_grid`: plain tables of labels and numbers.
- `_class_tables`: confusion matrices of several classes.
- `_comparisons`: pages of comparisons of models.
- `_results`, `_objects`: pages of results, and of other objects that are printed or shown in a notebook.
- `_html`: pages as HTML.
- `_sentences`: files, rows and classes in a few words; policies and rules in sentences.

May import the types and the packages up to `fairness`; `report` and `cli` import it. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.text._blocks import (
        Block as Block,
        Bullet as Bullet,
        BulletList as BulletList,
        Command as Command,
        CommandList as CommandList,
        Statement as Statement,
        WarningText as WarningText,
    )
    from baserate.text._class_tables import class_matrix as class_matrix, number_when_narrow as number_when_narrow
    from baserate.text._comparisons import comparison_page as comparison_page
    from baserate.text._grid import (
        Column as Column,
        Grid as Grid,
        label_column as label_column,
        number_column as number_column,
    )
    from baserate.text._objects import object_page as object_page
    from baserate.text._pivot import (
        CONFUSION_CELLS as CONFUSION_CELLS,
        CellFormatter as CellFormatter,
        CellWriter as CellWriter,
        Footnotes as Footnotes,
        GroupKey as GroupKey,
        Pivot as Pivot,
        TidyRow as TidyRow,
        confusion_table as confusion_table,
        describe_group as describe_group,
        describe_omitted_classes as describe_omitted_classes,
        estimate_cell as estimate_cell,
        format_bounds as format_bounds,
        group_heading as group_heading,
        group_key as group_key,
        interval_footnotes as interval_footnotes,
        interval_heading as interval_heading,
        list_table as list_table,
        mark_cell as mark_cell,
        measure_label as measure_label,
    )
    from baserate.text._results import results_page as results_page
    from baserate.text._sentences import (
        describe_actions as describe_actions,
        describe_choice as describe_choice,
        describe_class as describe_class,
        describe_decisions as describe_decisions,
        describe_files as describe_files,
        describe_fold_thresholds as describe_fold_thresholds,
        describe_policy as describe_policy,
        describe_positive as describe_positive,
        describe_prevalence as describe_prevalence,
        describe_rows as describe_rows,
        describe_rule as describe_rule,
        describe_score_ranges as describe_score_ranges,
        describe_threshold_intervals as describe_threshold_intervals,
    )
    from baserate.text._tables import (
        EVERYBODY as EVERYBODY,
        Cell as Cell,
        Explanation as Explanation,
        IntervalCell as IntervalCell,
        Page as Page,
        Row as Row,
        Section as Section,
        Table as Table,
        align_decimals as align_decimals,
        shorten_label as shorten_label,
        split_when_narrow as split_when_narrow,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
