"""Policies that are named in a shell."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from baserate.cli import _maps
from baserate.cli._maps import opened
from baserate.cli._options import Reading

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._policy import Policy

_KIND = re.compile(r'"kind":\s*"baserate/(?:class-)?(map|policy)"')


def loaded(path: str) -> "Policy":
    """Read a policy; what is wrong with it is told with its name."""
    return opened(path, "policy", _load)


def loaded_either(path: str) -> "Calibrator | MulticlassCalibrator | Policy":
    """Read a map or a policy, whichever the file holds; what is wrong with it is told with its name."""
    from baserate import FileFormatError
    from baserate._calibrator import read_file_text

    text = opened(path, "map or policy", lambda path: read_file_text(path, "map or policy"))
    kind = _KIND.search(text)  # in the text, so that a broken file is told as what it was
    if kind is None:
        raise FileFormatError(f"{path} holds neither a map nor a policy; name a file that holds one.")
    return _maps.loaded(path) if kind[1] == "map" else loaded(path)


def filled(reading: Reading, policy: "Policy") -> Reading:
    """Take from the policy what was not named."""
    known = policy.columns
    score = reading.score or tuple(known[name] for name in ("score",) if name in known)
    if not score:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    positive = policy.positive if reading.positive is None and reading.negative is None else reading.positive
    more = tuple(name for name in reading.group if name not in policy.attributes)
    return replace(
        reading,
        truth=reading.truth or known.get("truth"),
        score=score,
        positive=positive,
        group=(*policy.attributes, *more),
    )


def _load(path: str) -> "Policy":
    from baserate import FileFormatError, Policy, load_calibrator

    try:
        return Policy.load(path)
    except FileFormatError:
        if not _holds(load_calibrator, path):
            raise
        raise FileFormatError(
            f"{path} holds a map, not a policy; `baserate export` writes maps as SQL or as Python."
        ) from None


def _holds(load: Callable[[str], object], path: str) -> bool:
    from baserate import FileFormatError

    try:
        load(path)
    except FileFormatError:
        return False
    return True
