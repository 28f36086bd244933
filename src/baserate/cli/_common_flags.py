"""Flags of the program and of every command, apart from declarations: `baserate --help` loads no dataclass."""

import click

from baserate._errors import BaserateError
from baserate.cli._errors import USAGE, ShellError

TYPED = "baserate.cli.typed"
"""Key of the arguments of a command in the `meta` of its context."""

COMMON: tuple[click.Parameter, ...] = (
    # `main` looks for it among the arguments, since parsing may fail before it.
    click.Option(["--debug"], is_flag=True, expose_value=False, help="Traceback of an error."),
)
"""Flags of the program and of every command."""


class CommonFlags(click.Command):
    """A command with the common flags."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List the parameters: own ones, common ones, --help."""
        *own, last = super().get_params(ctx)  # click appends --help itself
        return [*own, *COMMON, last]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; of an option that the command does not have, say why, or which one is meant."""
        ctx.meta[TYPED] = list(args)  # which click consumes
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from baserate.cli._unknown_options import explain_unknown_option  # only now, for quick help

            raise explain_unknown_option(error, ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; word errors of the library with its flags."""
        try:
            return super().invoke(ctx)
        except BaserateError as error:
            shown = ShellError(error, [flag for each in self.get_params(ctx) for flag in each.opts])
            _note_columns(shown, ctx)
            raise shown from error
        except click.UsageError as error:
            _note_columns(error, ctx)
            raise


def _note_columns(error: ShellError | click.UsageError, context: click.Context) -> None:
    """Add the columns of the file to an error, if the command names too few; `report_error` prints them below it."""
    from baserate.cli._column_hints import describe_missing_columns  # only now, for quick help

    if error.exit_code == USAGE and not getattr(error, "__notes__", ()):
        for line in describe_missing_columns(str(error), context):
            error.add_note(line)
