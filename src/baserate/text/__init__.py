"""Text for people: numbers with intervals, tables, lists and sentences, for a terminal and for Markdown.

`Page` holds a headline, `Table`s, blocks and footnotes, and renders itself for a terminal of any width or as Markdown.
May import the types; `report` and `cli` import it. Names are resolved on first use.
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
