"""The program: its commands by job, and its end."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from baserate._version import __version__
from baserate.cli._common_flags import CommonFlags
from baserate.cli._errors import BROKEN_PIPE, FINE, USAGE, refuse_unknown_name, report_error, report_interruption
from baserate.cli._terminal import use_color

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Evaluate": {
        "report": ("_report:report", "Evaluate a classifier in its deployment: one report."),
        "measure": ("_measure:measure", "Measure predictions: rates, ranking, probabilities."),
        "compare": ("_compare:compare", "Compare models: differences, intervals, p-values."),
        "reclassify": ("_reclassification:reclassify", "Compare two models by NRI, IDI and reclassification."),
        "curve": ("_curve:curve", "Tabulate a curve: roc, pr, det, gain, lift or lorenz."),
        "draw": ("_draw:draw", "Draw figures for papers: ROC, PR, calibration and more."),
    },
    "Calibrate": {
        "reliability": ("_calibration:reliability", "Assess calibration: errors, null references, tests."),
        "calibrate": ("_calibration:calibrate", "Fit a calibrator: scores to probabilities."),
    },
    "Prevalence": {
        "shift": ("_shift:shift", "Adjust measures to another prevalence."),
        "reprior": ("_shift:reprior", "Adjust probabilities to another prevalence, row by row."),
        "prevalence": ("_prevalence:prevalence", "Estimate the prevalence of unlabelled data."),
        "prevalence-study": (
            "_prevalence_study:prevalence_study",
            "Compare prevalence estimators on a labelled test set.",
        ),
        "expect": ("_prevalence:expect", "Estimate measures of unlabelled data."),
    },
    "Decide": {
        "decide": ("_decide:decide", "Choose a threshold: by costs, requirements or capacity."),
        "benefit": ("_decision_curves:benefit", "Tabulate decision curves (net benefit)."),
        "costs": ("_costs:costs", "Compare the costs of classifiers at one prevalence."),
        "cost-curve": ("_cost_curves:cost_curve", "Tabulate cost curves: the least cost in any setting."),
        "hull": ("_hull:hull", "Find the models and thresholds on the ROC convex hull."),
    },
    "Fairness": {
        "groups": ("_fairness:groups", "Compare groups: measures, differences and disparities."),
        "equalize": ("_fairness:equalize", "Choose group thresholds under a parity constraint."),
    },
    "Deploy": {
        "apply": ("_deploy:apply", "Apply a calibrator or a policy to rows."),
        "export": ("_deploy:export", "Export a calibrator or a policy to SQL or Python."),
        "check": ("_check:check", "Check requirements on measures: exit code 1 if one fails."),
        "show": ("_deploy:show", "Show a calibrator, policy, report, plan or tally."),
    },
    "Plan a study": {
        "size": ("_size:size", "Calculate the number of rows that MEASURE needs."),
        "population": ("_population:population", "Compute exact results of theoretical score distributions."),
    },
    "Learn": {
        "demo": ("_learn:demo", "Write generated predictions and evaluate them, step by step."),
        "list": ("_learn:list_", "List measures, rules, calibrators and other names."),
        "completion": ("_learn:completion", "Print the completion script of a shell."),
    },
}
"""Job -> command -> its module, function and summary; written out, so that help loads no command."""
VERBS = {name: entry for commands in GROUPS.values() for name, entry in commands.items()}


class Verbs(CommonFlags, click.Group):
    """Verbs that are loaded when they are run, and errors that end with one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's name)
        """List the verbs, in the order of the groups."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a verb."""
        if cmd_name not in VERBS:
            return None
        module, name = VERBS[cmd_name][0].split(":")
        command = vars(import_module(f"baserate.cli.{module}"))[name]
        assert isinstance(command, click.Command)  # noqa: S101  (for the type checker)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or name the nearest."""
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from baserate.cli._unknown_commands import suggest_commands  # only now, for quick help

            meant = [f"`baserate {each}`" for each in suggest_commands(args, VERBS)]
            refuse_unknown_name(ctx, "command", args[0], VERBS, meant=meant)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the verbs without loading them."""
        for job, commands in GROUPS.items():
            with formatter.section(job):
                formatter.write_dl([(name, summary) for name, (_, summary) in commands.items()], col_max=14)

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; end quietly when the reader closes the pipe, and at once on Ctrl-C."""
        ctx.color = use_color()
        try:
            return super().invoke(ctx)
        # Both before click sees them: it would exit with 1, or print an empty line.
        except BrokenPipeError:
            _redirect_to_null(sys.stdout)
            ctx.exit(BROKEN_PIPE)
        except KeyboardInterrupt:
            ctx.exit(report_interruption())

    def main(  # type: ignore[override]  # the process always ends here
        self,
        args: Sequence[str] | None = None,
        **settings: Any,  # noqa: ANN401  (click's own)
    ) -> NoReturn:
        """Run, print an error in one line, and exit with its code."""
        typed = list(sys.argv[1:] if args is None else args)
        # Standalone, click would print its own usage lines and choose its own exit codes.
        settings |= {"prog_name": "baserate", "standalone_mode": False}
        try:
            code = super().main(typed, **settings)
        except Exception as error:  # noqa: BLE001  (whatever it is, it ends here)
            code = report_error(error, traced="--debug" in typed)
        sys.exit(code if isinstance(code, int) else FINE)


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nStart with: baserate demo\n"
    "Exit codes: 0 fine, 1 a requirement failed, 2 usage, 3 unusable data, 4 defect.",
)
@click.version_option(__version__, message="baserate %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Evaluate a classifier in its deployment: at its prevalence, its costs and its groups."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; without `args` as a program, which ends the process."""
    if args is not None:
        app.main(args)
    _set_encodings()
    try:
        app.main()
    except SystemExit as end:
        # Engines print warnings at interpreter exit about memory that they did not free; `_exit` skips that.
        os._exit(_flush_streams(end.code if isinstance(end.code, int) else FINE))


def _flush_streams(code: int) -> int:
    try:
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, ValueError):  # None, or closed
                stream.flush()
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError:
        return code or USAGE
    return code


def _set_encodings() -> None:
    """Write UTF-8 to files and pipes; on a terminal that cannot show a letter, show a question mark."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # None, or replaced by something simpler
            if stream.isatty():
                stream.reconfigure(errors="replace")  # type: ignore[union-attr]
            else:
                stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]


def _redirect_to_null(stream: Any) -> None:  # noqa: ANN401  (a stream, or what a test put there)
    """Redirect a stream whose reader is gone to the null device, so that closing it does not fail again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
