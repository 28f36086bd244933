"""Text for people: tables of estimates, lists and sentences, for a terminal and in Markdown.

- `_tables`: `Table` and `Page`, and their rendering for any width.
- `_pivot`: `Pivot` arranges tidy rows in a table; `CellFormatter` writes their cells.
- `_estimates`: cells with confidence intervals, and footnotes.
- `_blocks`: lists of bullets and of commands.
- `_headline`: files, rows and classes in a few words.
- `_policies`: policies and rules in sentences.

May import the types and `measure`; `report` and `cli` import it. Names are resolved on first use.
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
    )
    from baserate.text._estimates import (
        Footnotes as Footnotes,
        describe_omitted_classes as describe_omitted_classes,
        estimate_cell as estimate_cell,
        format_bounds as format_bounds,
        interval_footnotes as interval_footnotes,
        interval_heading as interval_heading,
    )
    from baserate.text._headline import (
        describe_class as describe_class,
        describe_files as describe_files,
        describe_positive as describe_positive,
        describe_rows as describe_rows,
    )
    from baserate.text._pivot import (
        CONFUSION_CELLS as CONFUSION_CELLS,
        CellFormatter as CellFormatter,
        GroupKey as GroupKey,
        Pivot as Pivot,
        TidyRow as TidyRow,
        confusion_table as confusion_table,
        group_heading as group_heading,
        group_key as group_key,
        mark_cell as mark_cell,
        measure_label as measure_label,
    )
    from baserate.text._policies import (
        describe_actions as describe_actions,
        describe_choice as describe_choice,
        describe_fold_thresholds as describe_fold_thresholds,
        describe_policy as describe_policy,
        describe_rule as describe_rule,
        describe_score_ranges as describe_score_ranges,
        describe_threshold_intervals as describe_threshold_intervals,
    )
    from baserate.text._tables import (
        EVERYBODY as EVERYBODY,
        Cell as Cell,
        IntervalCell as IntervalCell,
        Page as Page,
        Row as Row,
        Section as Section,
        Table as Table,
        align_decimals as align_decimals,
        shorten_label as shorten_label,
    )

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
