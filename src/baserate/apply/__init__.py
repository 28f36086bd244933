"""Policy or Map · rows -> rows, on any engine; and as SQL or as Python, for where there is no baserate.

May import the nouns and `read`. `frame` and `file` keep every column and every row in its place and add what is made of
the scores; `actions` takes arrays; `as_sql` and `as_python` write it down as code. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.apply._actions import actions as actions
    from baserate.apply._decided import Actions as Actions
    from baserate.apply._files import Written as Written, file as file
    from baserate.apply._frames import frame as frame
    from baserate.apply._python import as_python as as_python
    from baserate.apply._sql import as_sql as as_sql

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.apply._dialects import dialect as dialect
    from baserate.apply._refused import unknown_groups as unknown_groups
    from baserate.apply._stretches import Stretches as Stretches, stretches as stretches

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
