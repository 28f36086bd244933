"""Command line: one module for each command, or family of commands.

Commands read options, call the library, and print what it returns; click appears only here. `baserate --help` loads no
command, and the help of a command loads neither NumPy nor an engine.

- `_main`: the program and its commands by job; `_errors`: exit codes; `_terminal`: messages and progress
- `_declarations`: options as annotated fields of dataclasses, and the flags that all commands have
- `_options`, `_decision_options`, `_figure_options`, `_deployment`: options that several commands share
- `_values`: types of option values; `_io`: reading and printing; `_files`: calibrators, policies and other files
- the rest: a command or two each, with their options and pages; pages that load NumPy are in modules of their own
"""

from baserate.cli._errors import exit_code
from baserate.cli._main import GROUPS, VERBS, app, main

__all__ = ["GROUPS", "VERBS", "app", "exit_code", "main"]


def __dir__() -> list[str]:
    return sorted(__all__)
