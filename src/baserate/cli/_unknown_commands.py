"""Commands for the words of other tools, also where a word is one of several, as in `baserate confusion matrix`."""

from collections.abc import Collection, Sequence

from baserate._errors import nearest
from baserate._other_names import OTHER_NAMES, find_other_name

_LONGEST = 3
"""Words of a name, as in `roc auc score`."""


def suggest_commands(typed: Sequence[str], commands: Collection[str]) -> tuple[str, ...]:
    """Return the commands that some typed words mean: those of other tools first, then those that are spelled alike.

    >>> suggest_commands(["confusion", "matrix", "people.csv"], ["measure", "compare"])
    ('measure', 'draw confusion-matrix')
    >>> suggest_commands(["mesure", "people.csv"], ["measure", "compare"])
    ('measure',)
    """
    words = [each for each in typed[:_LONGEST] if not each.startswith("-")]
    for length in range(len(words), 0, -1):
        other = find_other_name(" ".join(words[:length]))
        if other is not None and other.commands:
            return other.commands
    word = typed[0].lower()
    near = nearest(word, commands, most=2)
    others = (OTHER_NAMES[each].commands for each in nearest(word, OTHER_NAMES))
    return tuple(near) or next(others, ())
