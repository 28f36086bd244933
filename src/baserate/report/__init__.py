"""Plan -> run -> Report: one plan of what is judged, one run, and findings with permanent codes.

May import the nouns and every room below; `draw` is its neighbour. Data flow one way: a plan is gathered into rows,
built into a table of numbers, looked at for findings, and told as text, Markdown, JSON or a page to explore. Names are
resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.report._finding import Finding
    from baserate.report._findings import CHECKS
    from baserate.report._plan import Plan
    from baserate.report._report import Report, View
    from baserate.report._run import evaluate, run

_HOMES: dict[str, tuple[str, ...]] = {
    "_finding": ("Finding",),
    "_findings": ("CHECKS",),
    "_plan": ("Plan",),
    "_report": ("Report", "View"),
    "_run": ("evaluate", "run"),
}

__all__ = ["CHECKS", "Finding", "Plan", "Report", "View", "evaluate", "run"]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
