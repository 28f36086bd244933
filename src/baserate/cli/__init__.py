"""The shell face: one file per verb, each naming the room that does the work.

May import every room below. Nothing here computes: verbs read options, call a room, and show what it returns. click
appears only here. `baserate --help` loads neither NumPy nor an engine; a verb's file is loaded when the verb is run.
"""

from baserate.cli._failures import exit_code
from baserate.cli._main import VERBS, app, main

__all__ = ["VERBS", "app", "exit_code", "main"]


def __dir__() -> list[str]:
    return sorted(__all__)
