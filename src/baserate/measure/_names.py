"""Names of numbers: which one a word means, by aliases of measures and by words of other tools.

Tables of results and views of a report name their numbers by measures. `resolve_name` finds the number that a word
such as "ppv", "ROC AUC" or "brier_score_loss" means among those that there are.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cache

from baserate._errors import nearest
from baserate.measure import multiclass
from baserate.measure._measure import describe, normalize_name
from baserate.measure._registry import MEASURES


def resolve_name(word: str, names: Collection[str]) -> str | None:
    """Return the one of some names that a word means, by itself or by an alias of a measure; None if there is none.

    >>> resolve_name("ppv", ["auc", "precision"]), resolve_name("roc_auc_score", ["auc"]), resolve_name("ppv", ["auc"])
    ('precision', 'auc', None)
    """
    if word in names:
        return word
    return next((name for name in _meanings().get(normalize_name(word), ()) if name in names), None)


def suggest_names(word: str, names: Iterable[str], *, most: int = 3) -> list[str]:
    """Return the names and aliases of some numbers that are spelled most like a word.

    >>> suggest_names("pvv", ["auc", "npv", "precision"])
    ['ppv', 'npv']
    """
    names = set(names)
    spelled = {each.replace(" ", "_") for each, meant in _meanings().items() if not names.isdisjoint(meant)}
    return nearest(normalize_name(word).replace(" ", "_"), sorted(spelled | names), most=most)


@cache
def _meanings() -> Mapping[str, tuple[str, ...]]:
    """Map every spelling to the measures that it may mean; own names come first."""
    from baserate._other_names import OTHER_NAMES  # most names are exact, and need no other words

    words: dict[str, list[str]] = {}
    for among in (MEASURES, multiclass.MEASURES):
        for name, each in among.items():
            for word in (name, *describe(each).aliases):
                words.setdefault(normalize_name(word), []).append(name)
    for word, other in OTHER_NAMES.items():
        found = [name.removeprefix("measure.") for name in other.python if name.startswith("measure.")]
        words.setdefault(normalize_name(word), []).extend(name for name in found if name in MEASURES)
    return {word: tuple(dict.fromkeys(names)) for word, names in words.items()}
