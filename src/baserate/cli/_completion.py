"""`baserate completion`: print the completion script of a shell."""

import click
from click.shell_completion import get_completion_class

from baserate.cli._failures import debug
from baserate.cli._options import command
from baserate.cli._say import put

_EXAMPLES = (
    ("in ~/.bashrc", 'eval "$(baserate completion bash)"'),
    ("in ~/.zshrc", 'eval "$(baserate completion zsh)"'),
    ("once, for fish", "baserate completion fish > ~/.config/fish/completions/baserate.fish"),
)


@command("completion", examples=_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and names of measures in SHELL."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  (click knows all three)
    put(kind(context.find_root().command, {}, "baserate", "_BASERATE_COMPLETE").source(), None)
