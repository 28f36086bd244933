"""Policy or Map · rows -> rows, on any engine; and as SQL or as Python, for where there is no baserate.

May import the nouns and `read`. `frame` and `file` keep every column and every row in its place and add what is made of
the scores; `actions` takes arrays; `as_sql` and `as_python` write it down as code. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.apply._actions import actions
    from baserate.apply._decided import Actions
    from baserate.apply._files import Written, file
    from baserate.apply._frames import frame
    from baserate.apply._python import as_python
    from baserate.apply._sql import as_sql

_HOMES = {
    "_actions": ("actions",),
    "_decided": ("Actions",),
    "_files": ("Written", "file"),
    "_frames": ("frame",),
    "_python": ("as_python",),
    "_sql": ("as_sql",),
}

__all__ = ["Actions", "Written", "actions", "as_python", "as_sql", "file", "frame"]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
