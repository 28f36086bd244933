"""Options that several verbs share, handed over as one value each."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from baserate import _domains
from baserate._domains import Domain
from baserate.cli._failures import debug, no_such

Verb = Callable[..., None]
FORMATS = ("table", "json", "csv", "md")


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read."""

    file: tuple[str, ...]
    truth: str | None
    score: tuple[str, ...]
    predicted: str | None
    positive: str | None
    negative: str | None
    group: tuple[str, ...]
    weight: str | None
    count: str | None
    missing: str


@dataclass(frozen=True, slots=True)
class Writing:
    """How to show it, and where."""

    format_: str | None
    json: bool
    digits: int
    output: str | None
    quiet: bool
    formats: tuple[str, ...]
    """Those that the verb knows."""

    def __post_init__(self) -> None:
        if self.json and self.format_ not in (None, "json"):
            raise click.UsageError(f"--json and --format {self.format_} are two formats; give one.")
        if self.output not in (None, "-"):
            check_place(Path(str(self.output)))
            if not (self.json or self.format_ or self._ending in {*self.formats, "txt", ""}):
                known = ", ".join(f".{each}" for each in self.formats if each != "table")
                raise click.UsageError(
                    f"the ending .{self._ending} is no format of ours; end the name in {known} or .txt, or "
                    "say which with --format."
                )

    @property
    def form(self) -> str:
        """The format: the one named, otherwise what the file's name says, otherwise a table."""
        named = "json" if self.json else self.format_
        return named or (self._ending if self._ending in self.formats else "table")

    @property
    def _ending(self) -> str:
        return Path(self.output or "").suffix.lstrip(".").lower()


def reading(verb: Verb) -> Verb:
    """Add the options that say what to read; the verb gets them as `reading`."""
    return bundled(verb, Reading, "reading", _READING)


def scored(verb: Verb) -> Verb:
    """Add those for scores alone: labels are decided already; the verb gets them as `reading`."""
    options = [each for each in _READING if each is not _PREDICTED]
    return bundled(verb, Reading, "reading", options, predicted=None)


def alone(verb: Verb) -> Verb:
    """Add those for the scores of one model, everybody together; the verb gets them as `reading`."""
    options = [each for each in _READING if each not in (_PREDICTED, _GROUP)]
    return bundled(verb, Reading, "reading", options, predicted=None, group=())


def ungrouped(verb: Verb) -> Verb:
    """Add those for everybody together; --group stays out of help, so that the verb can say what to do instead."""
    options = [_HIDDEN_GROUP if each is _GROUP else each for each in _READING]
    return bundled(verb, Reading, "reading", options)


def grouped(verb: Verb) -> Verb:
    """Add those for groups, of which columns are named with commas or one by one; the verb gets them as `reading`."""
    options = [_GROUPS if each is _GROUP else each for each in _READING]
    return bundled(verb, Reading, "reading", options)


def sampled(verb: Verb) -> Verb:
    """Add those for files that are a sample each, of which there may be none; the verb gets them as `reading`."""
    options = [_FILES, *(each for each in _READING if each not in (_FILE, _GROUP))]
    return bundled(verb, Reading, "reading", options, group=())


def zeros_and_ones(verb: Verb) -> Verb:
    """Add those for one sample of classes 0 and 1, of which there may be none; the verb gets them as `reading`."""
    left_out = (_FILE, _GROUP, _PREDICTED, *_LABELS)
    options = [_FILES, *(each for each in _READING if each not in left_out)]
    return bundled(verb, Reading, "reading", options, group=(), predicted=None, positive=None, negative=None)


def planned(verb: Verb) -> Verb:
    """Add those that a plan may tell already, so that there may be no file; the verb gets them as `reading`."""
    return bundled(verb, Reading, "reading", [_FILES if each is _FILE else each for each in _READING])


def showing(verb: Verb) -> Verb:
    """Add the options that say how to show it on stdout; -o is then for something else."""
    options = [each for each in _WRITING if each is not _OUTPUT]
    return bundled(verb, Writing, "writing", options, output=None, formats=FORMATS)


def writing(verb: Verb) -> Verb:
    """Add the options that say how and where to show it; the verb gets them as `writing`."""
    return bundled(verb, Writing, "writing", _WRITING, formats=FORMATS)


def paged(verb: Verb) -> Verb:
    """Add the same where there is a page for browsers, too; the verb gets them as `writing`."""
    formats = (*FORMATS, "html")
    options = [_format(formats) if each is _FORMAT else each for each in _WRITING]
    return bundled(verb, Writing, "writing", options, formats=formats)


def check_place(path: Path, flag: str = "-o") -> None:
    """Say now, rather than after long work, that a file cannot be written."""
    if path.is_dir():
        raise click.UsageError(f"{path} is a folder; name a file in it with {flag}.")
    if not path.parent.is_dir():
        raise click.UsageError(
            f"there is no folder {path.parent} for the output; make it, or name another file with {flag}."
        )


def bundled(verb: Verb, kind: type, name: str, options: Sequence[Callable[[Verb], Verb]], **fixed: object) -> Verb:
    """Add options that the verb gets as one value, with those that are `fixed`."""

    @wraps(verb)
    def call(**given: object) -> None:
        names = (field.name for field in fields(kind))
        bundle = kind(**{field: fixed[field] if field in fixed else given.pop(field) for field in names})
        verb(**given, **{name: bundle})

    made: Verb = call
    for option in reversed(options):
        made = option(made)
    return made


class Command(click.Command):
    """A command whose help leads with examples."""

    def __init__(self, *args: Any, examples: Sequence[tuple[str, str]] = (), **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the options."""
        _write_examples(self.examples, formatter)
        super().format_options(ctx, formatter)


class Choices(click.Group):
    """Commands in the order in which they were written, with examples, and the nearest names for slips."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        examples: Sequence[tuple[str, str]] = (),
        what: str = "command",
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.what = what
        """What is chosen."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's name)
        """Name them."""
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the options and the commands."""
        _write_examples(self.examples, formatter)
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest."""
        typed = args[0].replace("_", "-")
        if typed not in self.commands and not typed.startswith("-") and not ctx.resilient_parsing:
            no_such(ctx, self.what, typed, self.commands)
        return super().resolve_command(ctx, [typed, *args[1:]])


def _write_examples(examples: Sequence[tuple[str, str]], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            for what, typed in examples:
                formatter.write_text(f"# {what}")
                formatter.write(f"{'':{formatter.current_indent}}{typed}\n")


def command(
    name: str, *, examples: Sequence[tuple[str, str]], summary: str | None = None
) -> Callable[[Verb], click.Command]:
    """Make a verb a command; `examples` are pairs of what it is for and what is typed.

    Lists of commands show the `summary`; without one click takes the first sentence of the help, and cuts it if long.
    """

    def decorate(verb: Verb) -> click.Command:
        made = click.command(name, cls=Command, examples=examples, short_help=summary)
        return made(verb)

    return decorate


def thresholds(text: str) -> tuple[float, ...]:
    """Read numbers, infinite ones too, that scores can be compared with; the minus may be that of our own tables."""
    return tuple(_threshold(part.strip().replace("−", "-").replace("∞", "inf")) for part in text.split(","))


def one_threshold(text: str, remedy: str) -> float:
    """Read one threshold; of several, say what to do instead."""
    found = thresholds(text)
    if len(found) != 1:
        raise click.BadParameter(f"{text!r} are {len(found)} cut-offs; {remedy}")
    return found[0]


def _threshold(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise click.BadParameter(f"{text!r} is not a number that scores can be compared with.")
    return number


class Whole(click.IntRange):
    """A whole number within a range, which also the message about a number that is not whole states."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read the number."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number in the range {self._describe_range()}.", param, ctx)
        return super().convert(value, param, ctx)


def whole(domain: Domain) -> Whole:
    """Make the type of an option that is a whole number; help and messages tell its domain."""
    return Whole(int(domain.low), int(domain.high))


class Number(click.FloatRange):
    """A number within a domain, which help and messages tell; NaN is in none."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain.low, domain.high)

    def _describe_range(self) -> str:
        """Tell the range in as few digits as it has."""
        return f"{self.min:.12g}<=x<={self.max:.12g}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read the number."""
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return found


def level(text: str) -> float:
    """Read a confidence level: a share, or per cent that are called so."""
    return share(
        text,
        f"{text!r} is no confidence level; expected {_domains.LEVEL.words}, such as 0.95 or 95%.",
        domain=_domains.LEVEL,
    )


def share(text: str, otherwise: str, *, ends: bool = False, domain: Domain = _domains.SHARE) -> float:
    """Read a share within a domain, perhaps 0 and 1 too, or per cent that are called so; otherwise say it is none."""
    bare = text.strip().removesuffix("%")
    try:
        found = float(bare) / (100 if bare != text.strip() else 1)
    except ValueError:
        found = math.nan
    if not (domain.holds(found) or (ends and found in (0, 1))):
        raise click.BadParameter(otherwise)
    return found


def numbers(text: str) -> tuple[float, ...]:
    """Read finite numbers, separated by commas."""
    found = thresholds(text)
    if not all(map(math.isfinite, found)):
        raise click.BadParameter(f"{text!r} holds an infinite number; give finite ones.")
    return found


def names(text: str) -> tuple[str, ...]:
    """Split a list at its commas."""
    found = tuple(filter(None, (name.strip() for name in text.split(","))))
    if not found:
        raise click.BadParameter("there is no name in it; `baserate list measures` lists them.")
    return found


def complete_measures(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of a list of measures, or of all of them."""
    from baserate.measure import MEASURES, multiclass

    return _completed(incomplete, {**multiclass.MEASURES, **MEASURES}, {"all": "Every measure."})


def or_none(_context: click.Context, _option: click.Parameter, given: tuple[str, ...] | None) -> tuple[str, ...]:
    """Take names that were not given for none."""
    return given or ()


def each_once(given: Iterable[Iterable[float]]) -> list[float]:
    """Thresholds of an option that may be repeated, each once."""
    return list(dict.fromkeys(each for several in given for each in several))


def complete_two_class(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last name of a list of measures of two classes."""
    from baserate.measure import MEASURES

    return _completed(incomplete, MEASURES, {})


def _completed(incomplete: str, known: Mapping[str, Any], more: Mapping[str, str]) -> list[CompletionItem]:
    from baserate.measure import about

    before, comma, last = incomplete.rpartition(",")
    told = {**more, **{name: about(measure).summary for name, measure in known.items()}}
    return [CompletionItem(f"{before}{comma}{name}", help=told[name]) for name in told if name.startswith(last)]


def check_group(groups: tuple[str, ...]) -> None:
    """Say that no column of groups is named, as click does."""
    if not groups:
        raise click.MissingParameter(param_hint="'--group'", param_type="option", ctx=click.get_current_context())


def _each_column(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that are named with commas or one by one, each once."""
    named = (name.strip() for text in given for name in text.split(","))
    return tuple(dict.fromkeys(filter(None, named)))


_PREDICTED = click.option(
    "--predicted", metavar="COLUMN", help="Column of predicted labels, a model without a threshold."
)
_LABELS = (
    click.option("--positive", metavar="LABEL", help="Label of the positive class; 1 or true if not named."),
    click.option("--negative", metavar="LABEL", help="Label of the other class, where truth has more than two."),
)
_FILE = click.argument("file", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="FILE...")
_FILES = click.argument("file", type=click.Path(allow_dash=True), nargs=-1, metavar="[FILE]...")
_GROUP = click.option("--group", multiple=True, metavar="COLUMN", help="Column of groups; repeat it for combinations.")
_GROUPS = click.option(
    "--group",
    multiple=True,
    callback=_each_column,
    metavar="COLUMNS",
    help="Columns of groups, with commas or repeated; several make groups of their combinations.",
)
_HIDDEN_GROUP = click.option("--group", multiple=True, hidden=True)
_READING = (
    _FILE,
    click.option("--truth", metavar="COLUMN", help="Column of what really is."),
    click.option(
        "--score", multiple=True, metavar="COLUMN", help="Column of scores; repeat it to judge several models."
    ),
    _PREDICTED,
    *_LABELS,
    _GROUP,
    click.option("--weight", metavar="COLUMN", help="Column of how much each row should matter."),
    click.option("--count", metavar="COLUMN", help="Column of how many identical rows each row stands for."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        show_default=True,
        help="What to do with rows in which something is missing or unknown.",
    ),
)
THRESHOLD = click.option(
    "--threshold",
    type=thresholds,
    metavar="NUMBERS",
    multiple=True,
    help="Flag scores at or above it, inf too; several with commas. Otherwise 0.5 if scores are probabilities.",
)
LEVEL = click.option(
    "--level",
    type=level,
    metavar="SHARE",
    default="0.95",
    show_default=True,
    help="Confidence of intervals, from 1e-9 to 1 - 1e-9.",
)
_OUTPUT = click.option(
    "-o", "--output", type=click.Path(allow_dash=True), metavar="FILE", help="Write there instead of to stdout."
)


def _format(formats: Sequence[str]) -> Callable[[Verb], Verb]:
    told = "How to show it: a table to read unless the name of the output says otherwise."
    return click.option("--format", "format_", type=click.Choice(formats), help=told)


_FORMAT = _format(FORMATS)
_WRITING = (
    _FORMAT,
    click.option("--json", is_flag=True, help="Short for --format json."),
    click.option(
        "--digits",
        type=click.IntRange(1, 17),
        default=4,
        show_default=True,
        help="Significant digits in tables; json and csv hold all.",
    ),
    _OUTPUT,
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors."),
    debug,
)
