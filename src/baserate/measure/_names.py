"""Measures by their names: how a registry is looked up and searched."""

import re
from collections.abc import Mapping
from difflib import get_close_matches

from baserate._errors import UnknownNameError
from baserate.measure._about import Measure, about


def find(name: str, among: Mapping[str, Measure]) -> Measure:
    """Find a measure by its name or any other name of it."""
    if name in among:  # which needs no reading of what all are called
        return among[name]
    names = _all_names(among)
    plain = _plain(name)
    if plain in names:
        return among[names[plain]]
    near = [names[match] for match in get_close_matches(plain, names, n=3)]
    hint = f"Did you mean {' or '.join(dict.fromkeys(near))}? " if near else ""
    raise UnknownNameError(f"there is no measure {name!r}. {hint}Known are: {', '.join(among)}.")


def search(words: str, among: Mapping[str, Measure]) -> list[str]:
    """Names of the measures whose name, other names or summary contain all these words."""
    wanted = words.lower().split()
    texts = {name: " ".join([name, *about(m).also, about(m).summary]).lower() for name, m in among.items()}
    return [name for name, text in texts.items() if all(word in text for word in wanted)]


def _plain(name: str) -> str:
    return re.sub(r"[\s_‐–-]+", " ", name.strip().lower().replace("−", "-")).strip() or name


def _all_names(among: Mapping[str, Measure]) -> dict[str, str]:
    """Every spelling, own names last so that they win."""
    also = {_plain(other): name for name, m in among.items() for other in about(m).also}
    return also | {_plain(name): name for name in among}
