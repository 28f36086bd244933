"""Policy or Map · rows -> rows, on any engine; and a map as SQL or as Python, for where there is no baserate.

May import the nouns and `read`. `frame` and `file` keep every column and every row in its place and add what is made of
the scores; `actions` takes arrays; `to_sql` and `to_python` write a formula down. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.apply._actions import actions
    from baserate.apply._decided import Actions
    from baserate.apply._files import file
    from baserate.apply._frames import frame
    from baserate.apply._python import to_python
    from baserate.apply._sql import to_sql

_HOMES = {
    "_actions": ("actions",),
    "_decided": ("Actions",),
    "_files": ("file",),
    "_frames": ("frame",),
    "_python": ("to_python",),
    "_sql": ("to_sql",),
}

__all__ = ["Actions", "actions", "file", "frame", "to_python", "to_sql"]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
