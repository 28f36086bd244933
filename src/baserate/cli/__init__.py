"""Command line: one module for each command, or family of commands.

Commands read options, call the library, and print what it returns; click appears only here. `baserate --help` loads no
command, and the help of a command loads neither NumPy nor an engine.

- `_main`: the program and its commands by job; `_errors`: exit codes; `_terminal`: messages and progress
- `_unknown_commands`, `_unknown_options`, `_column_hints`: what to type in place of a word, an option or no columns
- `_declarations`: options as annotated fields of dataclasses; `_common_flags`: the flags of every command
- `_options`, `_decision_options`, `_deployment`: options that several commands share; `_values`: their types
- `_io`: reading of predictions, calibrators and policies, and printing of results
- `_calibration` (reliability, calibrate), `_prevalence` (prevalence, expect), `_shift` (shift, reprior), `_deploy`
  (apply, export, show), `_learn` (demo, list, completion): families of commands
- `_draw`: a command for each figure in the registry of `baserate.draw`
- the rest: a command each, or its page: modules named `_…_page` load NumPy, and commands import them when they print
"""

from baserate.cli._errors import exit_code
from baserate.cli._main import GROUPS, VERBS, app, main

__all__ = ["GROUPS", "VERBS", "app", "exit_code", "main"]


def __dir__() -> list[str]:
    return sorted(__all__)
