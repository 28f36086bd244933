"""`baserate report`: read, measure, look at what was found, and tell it on one page."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from baserate.cli._ask import remark
from baserate.cli._failures import in_flags
from baserate.cli._intervals import Intervals, always
from baserate.cli._options import Reading, Writing, command, paged, planned
from baserate.cli._planning import Planning, made, planning
from baserate.cli._progress import counted, shown
from baserate.cli._say import WIDTH, put, room, say

if TYPE_CHECKING:
    from baserate.report import Report
    from baserate.text import Page

_EXAMPLES = (
    (
        "where one in fifty is sick, and a miss is worse than a false alarm",
        "baserate report people.csv --truth sick --score risk --prevalence 2% --fp 1 --fn 20",
    ),
    ("two models, side by side", "baserate report people.csv --truth sick --score risk --score old"),
    (
        "groups, too, for a pull request",
        "baserate report people.csv --truth sick --score risk --group site --format md",
    ),
    (
        "a page to explore in a browser, also offline",
        "baserate report people.csv --truth sick --score risk --group site --prevalence 2% -o report.html",
    ),
    (
        "keep the plan, and draw figures",
        "baserate report people.csv --truth sick --score risk --save-plan plan.json --figures figures",
    ),
    ("once more, on other rows", "baserate report new.csv --plan plan.json"),
    (
        "two samples of one model",
        "baserate report before.csv after.csv --apart --truth sick --score risk --threshold 0.3",
    ),
)


@command("report", examples=_EXAMPLES)
@planned
@planning
@always
@paged
def report(reading: Reading, planning: Planning, intervals: Intervals, writing: Writing) -> None:
    """Judge predictions where they will be used: one report.

    It tells what was read, what happens to a thousand people where the classifier will be used, five numbers with
    intervals, models and groups side by side, what one should know, and what to type next. All that it depends on is a
    plan, which can be saved and run again. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern
    of such files, or - for stdin.
    """
    from baserate.cli import _figures
    from baserate.report import gathered, line, of_rows

    plan = made(reading, planning, intervals)
    if planning.figures is not None:
        _figures.check_folder(planning.figures)
    rows = gathered(plan, watch=partial(shown, quiet=writing.quiet))
    with counted(quiet=writing.quiet) as progress:
        found = of_rows(plan, rows, progress)
    # A page on the screen tells the notes itself.
    on_screen = writing.form in {"table", "md"} and writing.output in {None, "-"}
    data = {**found.data, **({"notes": ()} if on_screen else {})}
    remark(line(found), data, writing, inferred=plan.positive is None)
    _keep(found, planning, quiet=writing.quiet)
    if planning.figures is not None:
        _figures.write(found, rows.tallies, planning.figures, quiet=writing.quiet)
    _show(found, writing)


def _keep(found: "Report", planning: Planning, *, quiet: bool) -> None:
    """Write the plan, and the whole report, where that was asked for."""
    texts = {planning.save_plan: found.plan.to_json, planning.save_json: found.to_json}
    for path, text in texts.items():
        if path is not None:
            put(text(), path)
            if not quiet:
                say(f"wrote {path}")


def _show(found: "Report", writing: Writing) -> None:
    """Hand the report over in the format that was asked for."""
    wide = WIDTH if writing.output not in {None, "-"} else room()
    texts: dict[str, Callable[[], str]] = {
        "json": found.to_json,
        "csv": found.numbers.to_csv,
        "html": found.html,
        "md": lambda: _page(found, writing.digits).markdown(),
        "table": lambda: _page(found, writing.digits).text(wide),
    }
    put(texts[writing.form](), writing.output)
    if writing.form == "html" and writing.output not in {None, "-"} and not writing.quiet:
        say(f"wrote {writing.output}")


def _page(found: "Report", digits: int) -> "Page":
    """The page, with what is said to Python said to a shell."""
    from baserate.report import page

    laid = page(found, digits)
    return replace(laid, footnotes=tuple(map(in_flags, laid.footnotes)))
