"""The program: which verbs there are, and how it ends."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click

import baserate
from baserate.cli._failures import BROKEN_PIPE, FINE, USAGE, debug, ended, interrupted, no_such
from baserate.cli._say import colour

VERBS: dict[str, tuple[str, str]] = {
    "report": ("_report:report", "Judge predictions where they will be used: one report."),
    "measure": ("_measure:measure", "Measure predictions: 2×2 table, rates, ranking, probabilities."),
    "compare": ("_compare:compare", "Compare models on the same rows: difference, interval, p-value."),
    "groups": ("_groups:groups", "See groups side by side: measures, differences, gaps and chance."),
    "reliability": ("_reliability:reliability", "Tell whether probabilities are right: noise floors, tests."),
    "decide": ("_decide:decide", "Choose a cut-off: by costs, requirements, capacity; bands."),
    "check": ("_check:check", "Tell whether requirements hold: by how much, rows needed."),
    "equalize": ("_equalize:equalize", "Treat groups alike, at the least cost: what it does to whom."),
    "shift": ("_shift:shift", "Carry predictions to another prevalence: measures here and there."),
    "reprior": ("_reprior:reprior", "Correct probabilities for another prevalence, row by row."),
    "prevalence": ("_prevalence:prevalence", "Estimate the prevalence where nobody knows the truth."),
    "expect": ("_expect:expect", "Measure rows without truth: what probabilities promise."),
    "calibrate": ("_calibrate:calibrate", "Make probabilities right: fit a map, judge it, write it."),
    "apply": ("_apply:apply", "Apply a map or a policy to rows: a new column beside the scores."),
    "export": ("_export:export", "Write a map as SQL or as Python."),
    "policy": ("_policy:policy", "Show a policy; write it as SQL or as Python."),
    "curve": ("_curve:curve", "Tabulate a curve: roc, pr, det, gain, lift or lorenz."),
    "benefit": ("_benefit:benefit", "Tell what acting on a model is worth: decision curves."),
    "costs": ("_costs:costs", "Tell what classifiers cost, per case where they will be used."),
    "cost-curve": ("_cost_curve:cost_curve", "Tabulate the least cost at all costs and prevalences."),
    "hull": ("_hull:hull", "Tell which models are ever the best; mix them, combine scores."),
    "size": ("_size:size", "Tell how many rows are needed."),
    "population": ("_population:population", "Work out theory: a classifier known in closed form."),
    "draw": ("_draw:draw", "Draw figures for papers: roc, pr, reliability and more."),
    "list": ("_list:list_", "List the measures, curves, parities or findings."),
    "demo": ("_demo:demo", "Write generated predictions and judge them, step by step."),
    "completion": ("_completion:completion", "Print the completion script of a shell."),
}
"""Verb -> where it lives and what it does, by hand: so that help need not load the verbs."""


class Verbs(click.Group):
    """Verbs that are loaded when they are run, and errors that end as the house wants."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's name)
        """Name the verbs in the order in which a newcomer meets them."""
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
            no_such(ctx, "command", args[0], VERBS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the verbs without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in VERBS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; leave quietly when nobody reads on, and at once on Ctrl-C."""
        ctx.color = colour()
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _abandon(sys.stdout)
            ctx.exit(BROKEN_PIPE)
        except KeyboardInterrupt:
            ctx.exit(interrupted())

    def main(  # type: ignore[override]  # the process always ends here
        self,
        args: Sequence[str] | None = None,
        **settings: Any,  # noqa: ANN401  (click's own)
    ) -> NoReturn:
        """Run, say in one line what went wrong, and exit with the code for it."""
        given = list(sys.argv[1:] if args is None else args)
        settings |= {"prog_name": "baserate", "standalone_mode": False}
        try:
            code = super().main(given, **settings)
        except Exception as error:  # noqa: BLE001  (whatever it is, it ends here)
            code = ended(error, traced="--debug" in given)
        sys.exit(code if isinstance(code, int) else FINE)


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nStart with: baserate demo\n"
    "Exit codes: 0 fine, 1 a requirement failed, 2 usage, 3 unusable data, 4 our fault.",
)
@click.version_option(baserate.__version__, message="baserate %(version)s")
@debug
@click.pass_context
def app(context: click.Context) -> None:
    """Judge a classifier where it will be used: at the prevalence, the costs and the groups of deployment."""
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
        # Engines complain at interpreter exit of what they did not free; leaving at once is quick and quiet.
        os._exit(_flushed(end.code if isinstance(end.code, int) else FINE))


def _flushed(code: int) -> int:
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


def _abandon(stream: Any) -> None:  # noqa: ANN401  (a stream, or what a test put there)
    """Point a stream that nobody reads to nowhere, so that closing it does not fail again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
