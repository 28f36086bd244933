"""Options that say how the classes are shared out, there and here."""

import math
from collections.abc import Iterable, Mapping, Sequence

import click

from baserate._domains import PREVALENCE, SHARE
from baserate._errors import OptionError, UnknownNameError
from baserate.cli._options import share

Prior = float | dict[str, float]
"""A prevalence, or the share of every class as it is spelled."""

_NEAR = 1e-6
"""Shares are typed by people: they may add up to so much more or less than 1."""


def prior(text: str) -> Prior:
    """Read a prevalence, or a share for every class: cat=0.2,dog=0.8.

    >>> prior("2%"), prior("cat=0.2, dog=0.8")
    (0.02, {'cat': 0.2, 'dog': 0.8})
    """
    if "=" not in text:
        return share(
            text,
            f"{text!r} is no prevalence; expected {PREVALENCE.words}, such as 0.02 or 2%; of several "
            "classes a share for each, such as cat=0.2,dog=0.8.",
        )
    pairs = [part.rpartition("=") for part in text.split(",")]
    found = {
        name.strip(): share(
            number, f"{number.strip()!r} is no share of the class {name.strip()!r}; expected {SHARE.words}."
        )
        for name, _, number in pairs
    }
    if len(found) < len(pairs):
        raise click.BadParameter("a class is named twice; give each its share once.")
    total = math.fsum(found.values())
    if abs(total - 1) > _NEAR:
        raise click.BadParameter(f"the shares add up to {total:.6g}; they are those of all classes, so make it 1.")
    return {name: each / total for name, each in found.items()}


def of_classes(given: Mapping[str, float], labels: Sequence[object], *, flag: str = "--to") -> dict[object, float]:
    """Find the class that each spelling means; all of them must be there."""
    from baserate.read import Spelled, resolved

    found = {resolved(Spelled(name), labels): each for name, each in given.items()}
    unknown = [str(name) for name in found if name not in labels]
    if unknown:
        from difflib import get_close_matches  # slow to import, and rarely needed

        names = [str(label) for label in labels]
        near = get_close_matches(unknown[0], names, n=2)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UnknownNameError(f"there is no class {unknown[0]!r}.{hint} There are: {_listed(names)}.")
    lacking = [str(label) for label in labels if label not in found]
    if lacking:
        raise click.UsageError(
            f"{flag} has no share for {_listed(lacking)}; give one to each of {len(labels)} classes."
        )
    return found


def gamma(given: float | None, under: float | None, over: float | None) -> float | None:
    """γ that was given, or that of how rows were sampled; None if there is neither."""
    if given is not None and not 0 < given < math.inf:
        raise click.UsageError(f"--gamma is {given:g}; it is how many times as frequent: a finite number above 0.")
    if under is None and over is None:
        return given
    if given is not None:
        raise click.UsageError("--gamma and the sampling say the same thing twice; give one of them.")
    from baserate.shift import gamma_of_sampling

    try:
        return gamma_of_sampling(under=1.0 if under is None else under, over=1.0 if over is None else over)
    except OptionError as error:
        told = str(error).replace("under is", "--under-sampled is").replace("over is", "--over-sampled is")
        raise click.UsageError(told) from error


def _listed(names: Iterable[str], most: int = 10) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


GAMMAS = (
    click.option(
        "--gamma",
        type=float,
        metavar="NUMBER",
        help="Instead: negatives are so many times as frequent there, beside positives, as here.",
    ),
    click.option(
        "--under-sampled",
        type=float,
        metavar="NUMBER",
        help="Instead: negatives were left out here; there were so many for each that was kept, 1 or more.",
    ),
    click.option(
        "--over-sampled",
        type=float,
        metavar="NUMBER",
        help="Instead, or too: positives were repeated here; there were so many for each that is here, at most 1.",
    ),
)
"""Other ways to say how the classes are shared out there."""
