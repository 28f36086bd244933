"""Plan -> run -> Report: one plan of what is judged, one run, and findings with permanent codes.

May import the nouns and every room below; `draw` is its neighbour. Data flow one way: a plan is gathered into rows,
built into a table of numbers, looked at for findings, and told as text, Markdown, JSON or a page to explore. Names are
resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.report._finding import Finding as Finding
    from baserate.report._findings import CHECKS as CHECKS
    from baserate.report._plan import Plan as Plan
    from baserate.report._report import Report as Report, View as View
    from baserate.report._run import evaluate as evaluate, run as run

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.report._gather import gathered as gathered
    from baserate.report._run import of_rows as of_rows
    from baserate.report._text import line as line, page as page

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
