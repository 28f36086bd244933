"""Policies that are named in a shell."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from baserate.cli._maps import opened

if TYPE_CHECKING:
    from baserate._policy import Policy


def loaded(path: str) -> "Policy":
    """Read a policy; what is wrong with it is told with its name."""
    return opened(path, "policy", _load)


def _load(path: str) -> "Policy":
    from baserate import BadFile, Policy, load_map

    try:
        return Policy.load(path)
    except BadFile:
        if not _holds(load_map, path):
            raise
        raise BadFile(f"{path} holds a map, not a policy; `baserate export` writes maps as SQL or as Python.") from None


def _holds(load: Callable[[str], object], path: str) -> bool:
    from baserate import BadFile

    try:
        load(path)
    except BadFile:
        return False
    return True
