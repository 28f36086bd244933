"""Names -> rules, for names that arrive from a shell, a URL or a file."""

from __future__ import annotations

from collections.abc import Callable

from baserate._errors import UnknownNameError
from baserate._policy import Policy
from baserate.decide import _abstain, _capacity, _cost, _points, _require

RULES: dict[str, Callable[..., Policy]] = {
    "fixed": _points.fixed,
    "youden": _points.youden,
    "closest": _points.closest,
    "balanced": _points.balanced,
    "break-even": _points.break_even,
    "best": _points.best,
    "cost": _cost.cost,
    "actions": _cost.actions,
    "require": _require.require,
    "capacity": _capacity.capacity,
    "bands": _capacity.bands,
    "abstain": _abstain.abstain,
}
"""Every rule by its name."""


def named(name: str) -> Callable[..., Policy]:
    """Find a rule by its name; capitals, spaces and underscores do not matter.

    >>> named("Break even").__name__
    'break_even'
    """
    from difflib import get_close_matches  # slow to import, and rarely needed

    plain = "-".join(name.lower().replace("_", " ").split())
    if plain in RULES:
        return RULES[plain]
    near = get_close_matches(plain, RULES, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownNameError(f"there is no rule {name!r}.{hint} Known are: {', '.join(RULES)}.")
