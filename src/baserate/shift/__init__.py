"""The class axis: the same classifier at another prevalence, known or unknown.

May import the nouns, `measure`, `infer`, `calibrate` and `apply`. Where the prevalence is known, `reweigh` changes
masses and never scores, and `reprior` changes scores and never masses. Where it is not, `prevalence` estimates it from
scores without truth. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    pass

_HOMES: dict[str, tuple[str, ...]] = {}

__all__: list[str] = []

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
