"""Reports: a plan, its run, and a report with findings, as text, Markdown, JSON or an interactive page.

- `_plan`: `Plan`, everything that a report depends on except the rows.
- `_run`: `run` and `evaluate`; reads and measures the data of a plan, adds findings, draws figures of a report.
- `_measurements`: the table of numbers, one row for each.
- `_curves`: thinned curves of models, for the page.
- `_report`: `Report`, `View`, `Finding`, and the JSON file.
- `_commands`: plans and next steps as shell commands and as Python.
- `_findings`: registry entry of a finding, and the wording of evidence; `_findings_data`, `_findings_performance` and
  `_findings_use` contain the findings.
- `_verdict`: the first lines of a report, for every format; `_natural_frequencies`: the consequences per 1,000 people.
- `_text`: the report for a terminal and in Markdown.
- `_page`: the interactive page; its scripts and its style are in `page/`.
- `_multiclass_run`, `_multiclass_report`, `_findings_multiclass`, `_multiclass_verdict`, `_multiclass_text` and
  `_multiclass_page`: the same for several classes.

May import the types and every package of an earlier layer. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.report._findings_multiclass import MULTICLASS_CHECKS as MULTICLASS_CHECKS
    from baserate.report._multiclass_report import MulticlassReport as MulticlassReport
    from baserate.report._multiclass_verdict import MulticlassVerdict as MulticlassVerdict
    from baserate.report._plan import Plan as Plan
    from baserate.report._report import Finding as Finding, Report as Report, View as View
    from baserate.report._run import CHECKS as CHECKS, draw_figures as draw_figures, evaluate as evaluate, run as run
    from baserate.report._verdict import Verdict as Verdict

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.report._multiclass_run import (
        ClassSource as ClassSource,
        MulticlassOptions as MulticlassOptions,
        evaluate_classes as evaluate_classes,
    )
    from baserate.report._multiclass_text import (
        multiclass_headline as multiclass_headline,
        multiclass_page as multiclass_page,
    )
    from baserate.report._run import (
        as_plan_data as as_plan_data,
        read_plan_data as read_plan_data,
        run_on_data as run_on_data,
    )
    from baserate.report._text import report_headline as report_headline, report_page as report_page

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
