"""`baserate completion`: print the completion script of a shell."""

from typing import Annotated

import click
from click.shell_completion import get_completion_class

from baserate.cli._declarations import argument, command
from baserate.cli._terminal import write_output

_EXAMPLES = (
    ("in ~/.bashrc", 'eval "$(baserate completion bash)"'),
    ("in ~/.zshrc", 'eval "$(baserate completion zsh)"'),
    ("once, for fish", "baserate completion fish > ~/.config/fish/completions/baserate.fish"),
)


@command("completion", examples=_EXAMPLES)
def completion(
    context: click.Context, shell: Annotated[str, argument(type=click.Choice(["bash", "zsh", "fish"]))]
) -> None:
    """Print the completion script of a shell.

    It completes commands, options and names of measures in SHELL.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  (click knows all three)
    write_output(kind(context.find_root().command, {}, "baserate", "_BASERATE_COMPLETE").source(), None)
