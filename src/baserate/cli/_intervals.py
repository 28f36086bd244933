"""Options for intervals, handed over as one value."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from baserate.cli._options import Verb, bundled, level

if TYPE_CHECKING:
    from baserate.infer import Interval


@dataclass(frozen=True, slots=True)
class Intervals:
    """What kind of intervals are wanted, or that none are."""

    level: float | None
    interval: str | None
    no_interval: bool
    seed: int | None
    cluster: str | None

    def __post_init__(self) -> None:
        given = {
            f"--{name}": getattr(self, name)
            for name in ("level", "interval", "seed", "cluster")
            if getattr(self, name) is not None
        }
        if self.no_interval and given:
            raise click.UsageError(f"{next(iter(given))} is for intervals; leave out either it or --no-interval.")
        if self.interval and self.cluster:
            raise click.UsageError(
                f"--interval {self.interval} takes rows as independent, --cluster does not; leave out one of them."
            )

    @property
    def chosen(self) -> "Interval | None":
        """What the library is to be asked for."""
        if self.no_interval:
            return None
        from baserate.infer import Interval

        level = {} if self.level is None else {"level": self.level}
        return Interval(method=self.interval, seed=self.seed or 0, **level)

    @property
    def sure(self) -> float | None:
        """The level, if there are to be intervals."""
        chosen = self.chosen
        return None if chosen is None else chosen.level


def intervals(verb: Verb) -> Verb:
    """Add the options for intervals; the verb gets them as `intervals`."""
    return bundled(verb, Intervals, "intervals", _INTERVALS)


def independent(verb: Verb) -> Verb:
    """Add those that take rows as independent, where clusters have no use; the verb gets them as `intervals`."""
    options = [each for each in _INTERVALS if each is not _CLUSTER]
    return bundled(verb, Intervals, "intervals", options, cluster=None)


def always(verb: Verb) -> Verb:
    """Add those of independent rows where numbers alone would not do; the verb gets them as `intervals`."""
    options = [each for each in _INTERVALS if each not in (_CLUSTER, _NONE)]
    return bundled(verb, Intervals, "intervals", options, cluster=None, no_interval=False)


def closed(verb: Verb) -> Verb:
    """Add those of intervals that are made in one way, without draws; the verb gets them as `intervals`."""
    return bundled(verb, Intervals, "intervals", (_LEVEL, _NONE), interval=None, seed=None, cluster=None)


def _method(context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    """See that there is such a method; the nearest is named otherwise."""
    if given is None:
        return None
    from baserate.cli._failures import no_such
    from baserate.infer import METHODS

    typed = given.strip().lower().replace("_", "-").replace("–", "-")
    if typed not in METHODS:
        no_such(context, "kind of interval", given, METHODS)
    return typed


def _complete(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from baserate.infer import METHODS

    return [CompletionItem(name) for name in METHODS if name.startswith(incomplete)]


_CLUSTER = click.option(
    "--cluster", metavar="COLUMN", help="Column of what rows belong together, such as patient; intervals know it."
)
_LEVEL = click.option(
    "--level",
    type=level,
    metavar="SHARE",
    help="Confidence of the intervals, such as 0.9 or 90%, from 1e-9 to 1 - 1e-9; otherwise 0.95.",
)
_NONE = click.option("--no-interval", is_flag=True, help="Numbers alone, without intervals.")
_INTERVALS = (
    _LEVEL,
    click.option(
        "--interval",
        metavar="METHOD",
        callback=_method,
        shell_complete=_complete,
        help="Method for those measures that know it, such as wilson, delong or bootstrap; otherwise what suits each.",
    ),
    _NONE,
    click.option("--seed", type=click.IntRange(0), metavar="NUMBER", help="Seed of random draws; otherwise 0."),
    _CLUSTER,
)
