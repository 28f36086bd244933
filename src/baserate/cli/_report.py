"""`baserate report`: options that make or change a plan, its report, and its files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from baserate._formatting import count_of
from baserate.cli._declarations import Output, check_place, command, given_flags, option
from baserate.cli._io import check_truth, open_file, print_messages
from baserate.cli._measure import Classes, may_have_many_classes, read_classes
from baserate.cli._options import (
    ClassScores,
    Column,
    FileName,
    GroupPrevalences,
    Intervals,
    MinGroup,
    OptionalReading,
    OutcomeCosts,
    PageOutput,
    Reading,
    Reference,
    RequiredIntervals,
    read_reference,
)
from baserate.cli._terminal import WIDTH, print_message, progress_bar, progress_counter, terminal_width, write_output
from baserate.cli._values import join_distinct, read_label, read_names, single_threshold
from baserate.text import Page

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate._tally import Tallies
    from baserate.report import MulticlassReport, Plan, Report

_WORDS = ("ignore", "title", "outcome_name", "flag_name")
_DECISIONS = ("threshold", "rule", "policy")
"""Fields of a plan that decide; one on the command line takes the place of that in a plan."""


def _complete_rule(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a rule that a plan may have."""
    from baserate.decide import DECISION_RULES, plan_rules

    names = [name for name in plan_rules() if name.startswith(incomplete)]
    return [CompletionItem(name, help=DECISION_RULES[name].summary) for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions(OutcomeCosts):
    """Options of a plan: prevalence, costs, threshold, and files to write."""

    prevalence: GroupPrevalences = None
    threshold: Annotated[
        float | None,
        option(type=single_threshold("a report has one."), metavar="NUMBER"),
        "Threshold: scores at or above it are flagged.",
    ] = None
    rule: Annotated[
        str | None,
        option(metavar="NAME", shell_complete=_complete_rule, default="cost with costs, or a threshold of 0.5"),
        "Rule that chooses the threshold; `baserate list rules` lists them.",
    ] = None
    policy: Annotated[FileName, "Policy that decides; it also names the columns."] = None
    reference: Reference = None
    min_group: MinGroup = None
    ignore: Annotated[
        tuple[str, ...],
        option(type=read_names, metavar="CODES", multiple=True, callback=join_distinct),
        "Codes of findings to leave out, such as BR004.",
    ] = ()
    title: Annotated[str | None, option(metavar="TEXT"), "Title of the report."] = None
    outcome_name: Annotated[
        str | None, option(metavar="TEXT"), 'Name of the positive outcome, such as "re-offended".'
    ] = None
    flag_name: Annotated[
        str | None, option(metavar="TEXT"), 'Name of the decision for flagged people, such as "detained".'
    ] = None
    label: Annotated[
        tuple[tuple[str, str], ...],
        option(type=read_label, metavar="MODEL=TEXT", multiple=True),
        "Name of a model for readers, such as risk='Model A'; may be repeated.",
    ] = ()
    id: Annotated[Column, "Column with unique row IDs."] = None
    apart: Annotated[bool, "Each file as a sample of its own, side by side."] = False
    plan: Annotated[FileName, "Plan to run; other options change it."] = None
    save_plan: Annotated[FileName, "File for the plan."] = None
    save_json: Annotated[FileName, "File for the whole report."] = None
    figures: Annotated[
        Path | None, option(type=click.Path(path_type=Path), metavar="FOLDER"), "Folder for figures, as SVG."
    ] = None

    def __post_init__(self) -> None:
        flags = given_flags(self, _DECISIONS)
        if len(flags) > 1:
            raise click.UsageError(f"{' and '.join(flags)} both state the decisions; give one.")
        for flag in ("save_plan", "save_json"):
            if getattr(self, flag) is not None:
                check_place(Path(getattr(self, flag)), f"--{flag.replace('_', '-')}")


def make_plan(reading: Reading, plan_options: PlanOptions, intervals: Intervals) -> "Plan":
    """Make a plan from options, or change the plan of a file."""
    from baserate.cli._io import fill_from_policy, load_policy
    from baserate.report import Plan

    policy = None if plan_options.policy is None else load_policy(plan_options.policy)
    if plan_options.plan is not None:
        plan = open_file(plan_options.plan, "plan", Plan.load)
        policy_fields = {} if policy is None else {"policy": policy, "policy_file": plan_options.policy}
        fields = _plan_fields(reading, plan_options, intervals, plan) | policy_fields
        instead: dict[str, Any] = dict.fromkeys((*_DECISIONS, "policy_file")) if {*_DECISIONS} & {*fields} else {}
        return replace(plan, **instead | fields | _plan_costs(plan_options, plan.costs))
    if not reading.file:
        raise click.MissingParameter(param_hint="'FILE...'", param_type="argument", ctx=click.get_current_context())
    full_reading = reading if policy is None else fill_from_policy(reading, policy)
    check_truth(full_reading)
    fields = _plan_fields(full_reading, plan_options, intervals) | _plan_costs(plan_options, None)
    return Plan(**fields, policy=policy, policy_file=plan_options.policy)


def _plan_fields(
    reading: Reading, plan_options: PlanOptions, intervals: Intervals, plan: "Plan | None" = None
) -> dict[str, Any]:
    """Fields of a plan that are on the command line; `plan` is that which they change."""
    names = ("truth", "score", "predicted", "positive", "negative", "group", "weight", "count")
    fields: dict[str, Any] = {"files": reading.file, **{name: getattr(reading, name) for name in names}}
    fields |= {name: getattr(plan_options, name) for name in ("apart", "id", "prevalence", "threshold", "rule")}
    fields |= {name: getattr(plan_options, name) for name in (*_WORDS, "min_group")}
    fields |= {"model_labels": dict(plan_options.label) or None}
    group = reading.group or (() if plan is None else plan.group)
    fields |= {"reference": read_reference(plan_options.reference, group) or None}
    fields |= {"level": intervals.level, "method": intervals.interval, "seed": intervals.seed}
    # The default must not override what a plan states, but the same word on the command line does.
    typed = click.get_current_context().get_parameter_source("missing") == ParameterSource.COMMANDLINE
    fields |= {"missing": reading.missing} if typed else {}
    return {name: value for name, value in fields.items() if value is not None and value is not False and value != ()}


def _plan_costs(plan_options: PlanOptions, plan_costs: "Costs | None") -> dict[str, Any]:
    """Costs on the command line, in place of those of the plan."""
    stated = plan_options.costs_by_outcome
    if plan_costs is not None and stated:
        return {"costs": replace(plan_costs, **stated)}
    costs = plan_options.outcome_costs
    return {} if costs is None else {"costs": costs}


_FILE = "people.csv --truth sick --score risk"


@command(
    "report",
    examples=f"""
    # at a prevalence of 2%, where a false negative costs 20 false positives
    baserate report {_FILE} --prevalence 2% --fp 1 --fn 20
    # two models, side by side
    baserate report {_FILE} --score old
    # groups, too, for a pull request
    baserate report {_FILE} --group site --format md
    # a page to explore in a browser, also offline
    baserate report {_FILE} --group site --prevalence 2% -o report.html
    # save the plan, and draw figures
    baserate report {_FILE} --save-plan plan.json --figures figures
    # a saved plan, on other rows
    baserate report new.csv --plan plan.json
    # two samples of one model
    baserate report before.csv after.csv --apart --truth sick --score risk --threshold 0.3
    # several classes, with a score for each
    baserate report pets.csv --truth is --scores p_ -o report.html
    # several classes, from predicted labels
    baserate report pets.csv --truth is --predicted called
    """,
)
def report(
    reading: OptionalReading,
    classes: ClassScores,
    plan_options: PlanOptions,
    intervals: RequiredIntervals,
    output: PageOutput,
) -> None:
    """Evaluate a classifier in its deployment: one report.

    The report contains the key findings, the outcomes per 1,000 people in deployment, performance with confidence
    intervals, models and groups side by side, and the commands to run next. A plan holds all of its inputs; it can be
    saved and run again.
    """
    from baserate.report import read_plan_data, report_headline, run_on_data

    if _report_classes(reading, classes, plan_options, intervals, output):
        return
    plan = make_plan(reading, plan_options, intervals)
    if plan_options.figures is not None:
        _check_folder(plan_options.figures)
    data = read_plan_data(plan, watch=partial(progress_bar, quiet=output.quiet))
    with progress_counter(quiet=output.quiet) as progress:
        finished = run_on_data(plan, data, progress)
    # A page on the screen contains the notes.
    on_screen = output.is_page and not output.to_file
    header = {**finished.data, **({"notes": ()} if on_screen else {})}
    print_messages(report_headline(finished), header, output, inferred=plan.positive is None)
    _save_files(finished, plan_options, quiet=output.quiet)
    if plan_options.figures is not None:
        _write_figures(finished, data.tallies, plan_options.figures, quiet=output.quiet)
    print_report(finished, output)


_TWO_CLASSES = (
    *("prevalence", "fp", "fn", "tp", "tn", "threshold", "rule", "policy", "reference", "min_group", "flag_name"),
    *("label", "id", "apart", "plan", "save_plan", "figures"),
)
"""Options of a plan that hold for two classes only."""


def _report_classes(
    reading: OptionalReading,
    classes: ClassScores,
    plan_options: PlanOptions,
    intervals: RequiredIntervals,
    output: PageOutput,
) -> bool:
    """Report on several classes, if there are several; return whether there are."""
    from baserate import Tallies
    from baserate.report import ClassSource, MulticlassOptions, evaluate_classes, multiclass_headline

    is_requested = bool(classes.scores or classes.labels)
    if not is_requested and not _may_be_several(reading, plan_options):
        return False
    if not reading.file:
        raise click.MissingParameter(param_hint="'FILE...'", param_type="argument", ctx=click.get_current_context())
    settings = Classes(classes.scores, classes.labels, (), None, None)
    data = read_classes(reading, settings, quiet=output.quiet, alike=is_requested)
    if isinstance(data, Tallies):
        return False
    flags = [*given_flags(plan_options, _TWO_CLASSES), *["--group"] * bool(reading.group)]
    if flags:
        raise click.UsageError(
            f"{flags[0]} is for two classes; leave it out. `baserate measure` has groups, costs and deployment shares "
            "of several classes."
        )
    names = {name: getattr(plan_options, name) for name in ("ignore", "title", "outcome_name")}
    options = MulticlassOptions(intervals.level or 0.95, intervals.interval, intervals.seed or 0, **names)
    finished = evaluate_classes(ClassSource(data, reading.file), options)
    on_screen = output.is_page and not output.to_file
    header = {**finished.data, **({"notes": ()} if on_screen else {})}
    print_messages(multiclass_headline(finished), header, output, inferred=False)
    if plan_options.save_json is not None:
        write_output(finished.to_json(), plan_options.save_json)
        if not output.quiet:
            print_message(f"wrote {plan_options.save_json}")
    print_report(finished, output)
    return True


def _may_be_several(reading: OptionalReading, plan_options: PlanOptions) -> bool:
    """Return whether the predicted labels of files may be of more than two classes."""
    from_plan = plan_options.plan is not None or plan_options.policy is not None
    # Standard input can be read once; labels in it are those of two classes, unless --labels names more.
    return may_have_many_classes(reading) and bool(reading.file) and "-" not in reading.file and not from_plan


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written before the report is computed."""
    from baserate.draw import import_matplotlib

    import_matplotlib()
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{folder} is a file; name a folder with --figures.")
    if not folder.parent.is_dir():
        raise click.UsageError(f"there is no folder {folder.parent}; make it, or name another with --figures.")


def _write_figures(report: "Report", tallies: "Tallies", folder: Path, *, quiet: bool) -> None:
    """Write each figure to its own file, and print their names."""
    from baserate.report import draw_figures

    names = []
    try:
        folder.mkdir(exist_ok=True)
        for name, drawing in draw_figures(report, tallies):
            drawing.save(folder / f"{name}.svg")
            names.append(name)
    except OSError as error:
        raise click.UsageError(f"cannot write into {folder} ({error.strerror}); name another folder.") from error
    if not quiet:
        count = count_of(len(names), "figure") if names else "no figure, since none fits,"
        print_message(f"wrote {count} into {folder}{': ' * bool(names)}{', '.join(names)}")


def _save_files(report: "Report", plan_options: PlanOptions, *, quiet: bool) -> None:
    """Write the plan and the whole report, if requested."""
    texts = {plan_options.save_plan: report.plan.to_json, plan_options.save_json: report.to_json}
    for path, text in texts.items():
        if path is not None:
            write_output(text(), path)
            if not quiet:
                print_message(f"wrote {path}")


def print_report(report: "Report | MulticlassReport", output: Output) -> None:
    """Print a report in the format of the options."""
    from baserate.report import MulticlassReport, multiclass_page, report_page

    def page() -> Page:
        """Return the report as a page of text."""
        if isinstance(report, MulticlassReport):
            return multiclass_page(report, output.digits)
        return report_page(report, output.digits)

    wide = WIDTH if output.to_file else terminal_width()
    texts: dict[str, Callable[[], str]] = {
        "json": report.to_json,
        "csv": report.numbers.to_csv,
        "html": report.html,
        "md": lambda: page().markdown(),
        "table": lambda: page().text(wide, explain=output.explain),
    }
    write_output(texts[output.form](), output.path)
    if output.form == "html" and output.to_file and not output.quiet:
        print_message(f"wrote {output.path}")
