"""Types of option values: text on the command line to numbers, names, shares and costs."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from baserate import _domains
from baserate._domains import COST, PREVALENCE, SHARE, Domain, is_cost, parse_share
from baserate._errors import OptionError, UnknownNameError, unknown_name
from baserate.cli._errors import refuse_choice


def read_thresholds(text: str) -> tuple[float, ...]:
    """Read thresholds, infinite ones too; the minus may be the sign of our tables rather than a hyphen."""
    return tuple(_read_number(part.strip().replace("−", "-").replace("∞", "inf")) for part in text.split(","))


def read_threshold(text: str, remedy: str) -> float:
    """Read one threshold; refuse several with a remedy."""
    values = read_thresholds(text)
    if len(values) != 1:
        raise click.BadParameter(f"{text!r} are {len(values)} thresholds; {remedy}")
    return values[0]


def single_threshold(remedy: str) -> Callable[[str], float]:
    """Make the type of an option that takes one threshold; of several, the message states the remedy."""

    def read(text: str) -> float:
        return read_threshold(text, remedy)

    return read


def _read_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise click.BadParameter(f"{text!r} is not a number that scores can be compared with.")
    return number


class WholeNumber(click.IntRange):
    """A whole number within a range, which also the message about a number that is not whole states."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read the number."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number in the range {self._describe_range()}.", param, ctx)
        return super().convert(value, param, ctx)


def whole_number(domain: Domain) -> WholeNumber:
    """Make the type of a whole-number option; help and messages contain its domain."""
    return WholeNumber(int(domain.low), int(domain.high))


class Number(click.FloatRange):
    """A number within a domain, which help and messages contain; NaN is in none."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain.low, domain.high)

    def _describe_range(self) -> str:
        """Format the range in as few digits as possible."""
        return f"{self.min:.12g}<=x<={self.max:.12g}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):  # which passes click's check: it is neither below nor above an end
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


def read_level(text: str) -> float:
    """Read a confidence level: a share, or a percentage with its sign."""
    return read_share(
        text,
        f"{text!r} is not a confidence level; expected {_domains.LEVEL.words}, such as 0.95 or 95%.",
        domain=_domains.LEVEL,
    )


def read_share(text: str, message: str, *, ends: bool = False, domain: Domain = _domains.SHARE) -> float:
    """Read a share within a domain, with 0 and 1 if `ends`, or a percentage with its sign; refuse it with a message."""
    number = parse_share(text)
    if not (domain.holds(number) or (ends and number in (0, 1))):
        raise click.BadParameter(message)
    return float(number)


def read_numbers(text: str) -> tuple[float, ...]:
    """Read finite numbers, separated by commas."""
    values = read_thresholds(text)
    if not all(map(math.isfinite, values)):
        raise click.BadParameter(f"{text!r} holds an infinite number; give finite ones.")
    return values


def read_names(text: str) -> tuple[str, ...]:
    """Split a list at its commas."""
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    if not names:
        raise click.BadParameter("there is no name in it; `baserate list measures` lists them.")
    return names


def read_label(text: str) -> tuple[str, str]:
    """Read the name of a model and its name for readers.

    >>> read_label("risk=Model A")
    ('risk', 'Model A')
    """
    name, _, label = text.partition("=")
    if not name.strip() or not label.strip():
        raise click.BadParameter(f"{text!r} is not MODEL=TEXT; write a model and its label, such as risk='Model A'.")
    return name.strip(), label.strip()


def complete_measures(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of a list of measures, or of all of them."""
    from baserate.measure import MEASURES, multiclass

    return _complete_names(incomplete, {**multiclass.MEASURES, **MEASURES}, {"all": "Every measure."})


def join_lists(_context: click.Context, _option: click.Parameter, lists: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    """Join the lists of an option that may be repeated."""
    return tuple(each for several in lists for each in several)


def join_distinct(context: click.Context, option: click.Parameter, lists: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    """Join the lists of an option that may be repeated, each value once."""
    return tuple(dict.fromkeys(join_lists(context, option, lists)))


def complete_two_class(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of a list of measures of two classes."""
    from baserate.measure import MEASURES

    return _complete_names(incomplete, MEASURES, {})


def _complete_names(incomplete: str, measures: Mapping[str, Any], more: Mapping[str, str]) -> list[CompletionItem]:
    from baserate.measure import describe

    before, comma, last = incomplete.rpartition(",")
    meanings = {**more, **{name: describe(measure).summary for name, measure in measures.items()}}
    return [CompletionItem(f"{before}{comma}{name}", help=meanings[name]) for name in meanings if name.startswith(last)]


class RegisteredName(click.ParamType):  # type: ignore[type-arg]  # generic only in recent releases of click
    """A name in a registry, which is loaded only to read or complete a name: help must not load NumPy.

    Parameters
    ----------
    list_names
        Returns the names with their descriptions.
    find_name
        Returns the name that a text means, such as that of an alias; raises `UnknownNameError` where there is none.
    """

    name = "name"

    def __init__(self, list_names: Callable[[], Mapping[str, str]], find_name: Callable[[str], str]) -> None:
        self.list_names = list_names
        self.find_name = find_name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401
        """Return the name in the registry, or refuse the text as `NameChoice` does."""
        entries = self.list_names()
        try:
            name = self.find_name(value)
        except UnknownNameError:
            name = ""
        if name not in entries:
            self.fail(refuse_choice(value, list(entries)), param, ctx)
        return name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete a name."""
        entries = self.list_names()
        return [CompletionItem(name, help=entries[name]) for name in entries if name.startswith(incomplete)]


CELLS = ("fp", "fn", "tp", "tn")


def read_cost(text: str) -> float:
    """Read one cost."""
    values = read_numbers(text)
    if len(values) != 1:
        raise click.BadParameter(f"{text!r} are {len(values)} numbers; a cost is one.")
    if not is_cost(values[0]):
        raise click.BadParameter(f"{text!r} is not a cost; expected {COST.words}. State costs in another unit.")
    return values[0]


_GREATEST = 1e15


def read_setting(text: str) -> float:
    """Read one number that a measure depends on, such as β."""
    try:
        number = float(text.strip().replace("−", "-"))
    except ValueError:
        number = math.nan
    if not abs(number) <= _GREATEST:
        raise click.BadParameter(f"{text!r} is not a number from -{_GREATEST:g} to {_GREATEST:g}.")
    return number


def read_prevalence(text: str) -> float:
    """Read a share of positives."""
    return read_share(text, f"{text!r} is not a prevalence; expected {PREVALENCE.words}, such as 0.02 or 2%.")


def read_by_name(text: str, read: Callable[[str], float]) -> float | dict[str, float]:
    """Read one number for all, or a number for each of several names.

    >>> read_by_name("0.02", float), read_by_name("f=0.1, m=0.2", float)
    (0.02, {'f': 0.1, 'm': 0.2})
    """
    if "=" not in text:
        return read(text)
    pairs = [part.rpartition("=") for part in text.split(",")]  # a name may contain =, a number cannot
    lacking = [value for name, _, value in pairs if not name.strip()]
    if lacking:
        raise click.BadParameter(f"{lacking[0]!r} has no name; write NAME=NUMBER for each, or one number for all.")
    return {name.strip(): read(value) for name, _, value in pairs}


def read_prevalences(text: str) -> float | dict[str, float]:
    """Read a share of positives, or one for each of several groups."""
    return read_by_name(text, read_prevalence)


Prior = float | dict[str, float]
"""A prevalence, or the share of each class by its text."""
_NEAR = 1e-6
"""Tolerance of the sum of shares, which people round."""


def read_prior(text: str) -> Prior:
    """Read a prevalence, or a share for every class: cat=0.2,dog=0.8.

    >>> read_prior("2%"), read_prior("cat=0.2, dog=0.8")
    (0.02, {'cat': 0.2, 'dog': 0.8})
    """
    if "=" not in text:
        return read_share(
            text,
            f"{text!r} is not a prevalence; expected {PREVALENCE.words}, such as 0.02 or 2%; of several "
            "classes a share for each, such as cat=0.2,dog=0.8.",
        )
    pairs = [part.rpartition("=") for part in text.split(",")]
    shares_by_class = {
        name.strip(): read_share(
            number, f"{number.strip()!r} is not a share of the class {name.strip()!r}; expected {SHARE.words}."
        )
        for name, _, number in pairs
    }
    if len(shares_by_class) < len(pairs):
        raise click.BadParameter("a class is named twice; give each its share once.")
    total = math.fsum(shares_by_class.values())
    if abs(total - 1) > _NEAR:
        raise click.BadParameter(f"the shares add up to {total:.6g}; expected 1. Give those of all classes.")
    return {name: each / total for name, each in shares_by_class.items()}


def match_classes(
    shares: Mapping[str, float], labels: Sequence[object], *, flag: str = "--prevalence"
) -> dict[object, float]:
    """Match each name with a class; all classes must occur."""
    from baserate.read import LabelText, resolve_label

    shares_by_label = {resolve_label(LabelText(name), labels): each for name, each in shares.items()}
    unknown = [str(name) for name in shares_by_label if name not in labels]
    if unknown:
        names = [str(label) for label in labels]
        raise unknown_name("class", unknown[0], names, listing=f"There are: {_join_names(names)}.")
    lacking = [str(label) for label in labels if label not in shares_by_label]
    if lacking:
        raise click.UsageError(
            f"{flag} has no share for {_join_names(lacking)}; give one to each of {len(labels)} classes."
        )
    return shares_by_label


def combine_ratios(gamma: float | None, under: float | None, over: float | None) -> float | None:
    """γ of the option, or of the sampling ratios; None without any."""
    if gamma is not None and not 0 < gamma < math.inf:
        raise click.UsageError(f"--gamma is {gamma:g}; expected a finite number above 0.")
    if under is None and over is None:
        return gamma
    if gamma is not None:
        raise click.UsageError("--gamma and the sampling ratios state the same; give one of them.")
    from baserate.shift import gamma_of_sampling

    try:
        return gamma_of_sampling(under=1.0 if under is None else under, over=1.0 if over is None else over)
    except OptionError as error:
        message = str(error).replace("under is", "--under-sampled is").replace("over is", "--over-sampled is")
        raise click.UsageError(message) from error


def _join_names(names: Iterable[str], most: int = 10) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def read_probability(text: str) -> float:
    """Read a threshold probability."""
    return read_share(
        text, f"{text!r} is not a probability; give a number between 0 and 1, both excluded, such as 0.1 or 10%."
    )


def read_rate(text: str) -> float:
    """Read a rate, with both ends: a share, or a percentage with its sign."""
    return read_share(text, f"{text!r} is not a rate; give a number from 0 to 1, such as 0.9 or 90%.", ends=True)
