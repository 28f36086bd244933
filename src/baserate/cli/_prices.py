"""What outcomes cost, and where: options that several verbs share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import COST, PREVALENCE, is_cost
from baserate.cli._options import numbers, share

if TYPE_CHECKING:
    from baserate._costs import Costs

CELLS = ("fp", "fn", "tp", "tn")


def price(text: str) -> float:
    """Read one cost."""
    found = numbers(text)
    if len(found) != 1:
        raise click.BadParameter(f"{text!r} are {len(found)} numbers; a cost is one.")
    if not is_cost(found[0]):
        raise click.BadParameter(f"{text!r} is no cost; expected {COST.words}. State costs in another unit.")
    return found[0]


def prevalence(text: str) -> float:
    """Read a share of positives."""
    return share(text, f"{text!r} is no prevalence; expected {PREVALENCE.words}, such as 0.02 or 2%.")


def each_or_all(text: str, read: Callable[[str], float]) -> float | dict[str, float]:
    """Read one number for all, or a number for each of several names.

    >>> each_or_all("0.02", float), each_or_all("f=0.1, m=0.2", float)
    (0.02, {'f': 0.1, 'm': 0.2})
    """
    if "=" not in text:
        return read(text)
    pairs = [part.rpartition("=") for part in text.split(",")]
    lacking = [value for name, _, value in pairs if not name.strip()]
    if lacking:
        raise click.BadParameter(f"{lacking[0]!r} is for nobody; write NAME=NUMBER for each, or one number for all.")
    return {name.strip(): read(value) for name, _, value in pairs}


def prevalences(text: str) -> float | dict[str, float]:
    """Read a share of positives, or one for each of several groups."""
    return each_or_all(text, prevalence)


def costs_of(bundle: object) -> "Costs | None":
    """Costs, if any of them were given."""
    from baserate import Costs

    given = {name: getattr(bundle, name) for name in CELLS if getattr(bundle, name) is not None}
    return Costs(**given) if given else None


def _option(name: str, what: str, otherwise: str) -> Any:  # noqa: ANN401  (a decorator of click)
    told = f"What {what} costs, a gain if negative; otherwise {otherwise}."
    return click.option(f"--{name}", type=price, metavar="COST", help=told)


PRICES = (
    _option("fp", "a false alarm", "1"),
    _option("fn", "a missed positive", "1"),
    _option("tp", "a found positive", "0"),
    _option("tn", "a passed negative", "0"),
)
