"""Commands declared by annotations: each option is stated once, as a field of a dataclass.

A command is a function whose parameters are dataclasses of options, or single options. `command` reads their
annotations and makes the click command; a dataclass checks in `__post_init__` how its options go together. The text in
an annotation is the help: `Annotated[bool, "Point estimates alone."]`; `option` states more about it, and an alias such
as `Column` the type that several options have. A `Literal` is a choice of names.
The flags of every command are in `_common_flags`, those of every command that prints results in `Output`.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import click

from baserate.cli._common_flags import CommonFlags
from baserate.cli._errors import refuse_choice, refuse_unknown_name

FORMATS = ("table", "json", "csv", "md")


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """An option as it is declared in an annotation."""

    flags: tuple[str, ...]
    default: str | None
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """An argument as it is declared in an annotation."""

    note: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Variant:
    """Options of a dataclass that one command leaves out, or accepts without listing them in its help."""

    omitted: frozenset[str] = field(default_factory=frozenset)
    hidden: frozenset[str] = field(default_factory=frozenset)


CONTEXT_OBJECT = object()
"""Marks a parameter that the group above the command provides."""


def option(*flags: str, default: str | None = None, **settings: Any) -> OptionSpec:  # noqa: ANN401  (those of click)
    """Declare an option; without flags, the name of the field is its flag.

    Parameters
    ----------
    *flags
        Flags other than the name of the field.
    default
        Description of the default in the help, where that of the field (None, an empty tuple) describes nothing.
    **settings
        Settings of `click.Option`: type, metavar, help, multiple and so on.
    """
    return OptionSpec(flags, default, settings)


def argument(*, note: str = "", **settings: Any) -> ArgumentSpec:  # noqa: ANN401  (those of click)
    """Declare an argument; its note closes the help of every command that has it."""
    return ArgumentSpec(note, settings)


def omit(*names: str) -> Variant:
    """Leave out options of a dataclass: the fields keep their defaults."""
    return Variant(omitted=frozenset(names))


def hide(*names: str) -> Variant:
    """Accept options without listing them, so that the command can refuse them with a remedy."""
    return Variant(hidden=frozenset(names))


def flag_of(name: str) -> str:
    """Return the flag of an option.

    >>> flag_of("n_bootstrap"), flag_of("format_")
    ('--n-bootstrap', '--format')
    """
    return f"--{name.strip('_').replace('_', '-')}"


def given_flags(options: object, names: Iterable[str]) -> list[str]:
    """Return the flags of those options of a dataclass that are on the command line."""
    values = {name: getattr(options, name) for name in names}
    # Not by truth: 0 is a value of an option.
    return [flag_of(name) for name, value in values.items() if value is not False and value not in (None, "", ())]


def given_values(options: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of those options of a dataclass that are not None."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def refuse_given(options: object, names: Iterable[str], message: str) -> None:
    """Refuse the first of some options that is on the command line; {} in the message stands for its flag."""
    flags = given_flags(options, names)
    if flags:
        raise click.UsageError(message.replace("{}", flags[0]))


def missing_option(flag: str) -> click.MissingParameter:
    """Make the error about an option that is required by others, in the words of click."""
    return click.MissingParameter(param_hint=f"'{flag}'", param_type="option", ctx=click.get_current_context())


class NameChoice(click.Choice[str]):
    """A choice that suggests the nearest name when a text is none of the choices."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ANN401, ARG002  (as in click)
        """Return the message about a text that is none of the choices."""
        return refuse_choice(str(value), list(self.choices))


class Option(click.Option):
    """An option whose default is described, and filled in by the dataclass rather than by click."""

    def __init__(self, *args: Any, default_text: str | None, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **settings)
        self.default_text = default_text

    def get_help_extra(self, ctx: click.Context) -> Any:  # noqa: ANN401  (a dictionary of click's)
        """Add the default to the brackets of the help."""
        extra = super().get_help_extra(ctx)
        return extra if self.default_text is None else {**extra, "default": self.default_text}


def make_parameters(bundle: type, variant: Variant | None = None) -> list[click.Parameter]:
    """Make the click parameters of a dataclass of options."""
    left_out = variant.omitted if variant else frozenset()
    hidden = variant.hidden if variant else frozenset()
    # A name that is no longer a field would silently add the option to the command.
    unknown = (left_out | hidden) - {each.name for each in fields(bundle)}
    assert not unknown, f"{bundle.__name__} has no field {', '.join(sorted(unknown))}"  # noqa: S101
    return [
        _make_parameter(each.name, each.type, each.default, hidden=each.name in hidden)
        for each in fields(bundle)
        if each.name not in left_out and _find_spec(each.type) is not None
    ]


def _make_parameter(name: str, annotation: object, default: object, *, hidden: bool) -> click.Parameter:
    spec = _find_spec(annotation)
    choices = _choices(get_args(annotation)[0])
    settings = {"type": NameChoice(choices)} if choices else {}
    if isinstance(spec, ArgumentSpec):
        return click.Argument([name], **{**settings, **spec.settings})
    assert isinstance(spec, OptionSpec)  # noqa: S101  (callers have looked)
    flags = spec.flags or (flag_of(name),)
    is_flag = {"is_flag": True} if get_args(annotation)[0] is bool else {}
    # Click must not get the default: it would convert it, and our types read text.
    return Option(
        [name, *flags],
        default_text=spec.default or _describe_default(default),
        required=default is MISSING,
        hidden=hidden,
        **is_flag,
        **{**settings, **spec.settings},
    )


def _choices(kind: object) -> tuple[str, ...]:
    """Return the texts of a `Literal`, also beside None; nothing for other types."""
    literals = (each for each in (kind, *get_args(kind)) if get_origin(each) is Literal)
    return next((get_args(each) for each in literals), ())


def _find_spec(annotation: object) -> OptionSpec | ArgumentSpec | None:
    """Merge the declarations in an annotation: first that of an alias, then its own, and a text, which is the help."""
    metadata = _metadata(annotation)
    for each in metadata:
        if isinstance(each, ArgumentSpec):
            return each
    specs = [each for each in metadata if isinstance(each, OptionSpec)]
    specs += [OptionSpec((), None, {"help": each}) for each in metadata if isinstance(each, str)]
    return reduce(_merge_specs, specs) if specs else None


def _merge_specs(alias: OptionSpec, own: OptionSpec) -> OptionSpec:
    default = alias.default if own.default is None else own.default
    return OptionSpec(own.flags or alias.flags, default, {**alias.settings, **own.settings})


def _metadata(annotation: object) -> tuple[object, ...]:
    return tuple(getattr(annotation, "__metadata__", ()))


def _describe_default(default: object) -> str | None:
    if default is MISSING or default is None or default is False or default == ():
        return None
    return str(default)


OutputFile = Annotated[
    str | None,
    option("-o", "--output", type=click.Path(allow_dash=True), metavar="FILE", default="stdout", help="Output file."),
]
Quiet = Annotated[bool, option("-q", "--quiet"), "No messages on stderr except errors."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Flags of every command that prints results."""

    format_: Annotated[
        str | None,
        option("--format", type=NameChoice(FORMATS), default="by the ending of -o, or table"),
        "Output format.",
    ] = None
    json: Annotated[bool, "Short for --format json."] = False
    digits: Annotated[
        int, option(type=click.IntRange(1, 17)), "Significant digits in tables; json and csv have all."
    ] = 4
    explain: Annotated[bool, "Definitions and methods in tables; md has them."] = False
    path: OutputFile = None
    quiet: Quiet = False

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that the command can write."""
        return FORMATS

    def __post_init__(self) -> None:
        if self.json and self.format_ not in (None, "json"):
            raise click.UsageError(f"--json and --format {self.format_} are two formats; give one of them.")
        if self.path not in (None, "-"):
            check_place(Path(str(self.path)))
            if not (self.json or self.format_ or self._ending in {*self.formats, "txt", ""}):
                endings = ", ".join(f".{each}" for each in self.formats if each != "table")
                raise click.UsageError(
                    f"the ending .{self._ending} is not an output format; end the name in {endings} or .txt, or state "
                    "the format with --format."
                )

    @property
    def form(self) -> str:
        """The format: that of the flag, else that of the file's ending, else a table."""
        name = "json" if self.json else self.format_
        return name or (self._ending if self._ending in self.formats else "table")

    @property
    def is_page(self) -> bool:
        """Whether the format is for people, so that long results are cut and notes are part of them."""
        return self.form in {"table", "md"}

    @property
    def needs_headline(self) -> bool:
        """Whether stderr needs the headline, since the results on the screen do not begin with it."""
        return self.form in {"json", "csv"} or self.to_file

    @property
    def to_file(self) -> bool:
        """Whether the results go to a file rather than to stdout."""
        return self.path not in {None, "-"}

    @property
    def _ending(self) -> str:
        return Path(self.path or "").suffix.lstrip(".").lower()


def check_place(path: Path, flag: str = "-o") -> None:
    """Refuse a file that cannot be written before the work starts."""
    if path.is_dir():
        raise click.UsageError(f"{path} is a folder; name a file in it with {flag}.")
    if not path.parent.is_dir():
        raise click.UsageError(
            f"there is no folder {path.parent} for the output; make it, or name another file with {flag}."
        )


class _WithExamples(CommonFlags):
    """A command whose help lists examples before the options."""

    def __init__(self, *args: Any, examples: str = "", **settings: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **settings)
        lines = [line.strip() for line in examples.strip().splitlines()]
        self.examples = [*zip([line.removeprefix("# ") for line in lines[::2]], lines[1::2], strict=True)]
        """Purposes and commands."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the options."""
        if self.examples:
            with formatter.section("Examples"):
                for purpose, typed in self.examples:
                    formatter.write_text(f"# {purpose}")
                    formatter.write(f"{'':{formatter.current_indent}}{typed}\n")
        super().format_options(ctx, formatter)


class Command(_WithExamples):
    """A command of ours."""


class CommandGroup(_WithExamples, click.Group):
    """Commands in the order in which they were declared, with the nearest names for slips."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        noun: str = "command",
        aliases: Mapping[str, str] | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **settings)
        self.noun, self.aliases = noun, aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's name)
        """List the names."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest."""
        typed = args[0].lower().replace("_", "-")
        typed = self.aliases.get(typed, typed)
        if typed not in self.commands and not typed.startswith("-") and not ctx.resilient_parsing:
            refuse_unknown_name(ctx, self.noun, typed, self.commands, aliases=self.aliases)
        return super().resolve_command(ctx, [typed, *args[1:]])


def command(name: str, *, examples: str) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command: its parameters are dataclasses of options, or single options.

    Parameters
    ----------
    name
        Name of the command.
    examples
        Lines of a comment on the purpose and a command, in turn.
    """

    def decorate(function: Callable[..., None]) -> Command:
        parameters = inspect.signature(function).parameters.values()
        # The flags of the output come last, wherever the function has them; the sort is stable.
        ordered = sorted(parameters, key=lambda each: issubclass(_bundle_of(each.annotation) or object, Output))
        params = [parameter for each in ordered for parameter in _parameters_of(each)]
        summary = inspect.cleandoc(function.__doc__ or "")
        # The notes close the last paragraph, but not the summary, which stands alone.
        help_ = (" " if "\n\n" in summary else "\n\n").join([summary, *_argument_notes(ordered)])
        return Command(
            name,
            params=params,
            callback=_make_callback(function, list(parameters)),
            help=help_,
            short_help=help_.partition("\n")[0],
            examples=examples,
        )

    return decorate


def group(
    name: str, *, examples: str = "", noun: str = "command", aliases: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], CommandGroup]:
    """Make a function a group of commands; its parameters are options of the group, aliases other names of commands."""

    def decorate(function: Callable[..., None]) -> CommandGroup:
        parameters = list(inspect.signature(function).parameters.values())
        help_ = inspect.cleandoc(function.__doc__ or "")
        return CommandGroup(
            name,
            params=[parameter for each in parameters for parameter in _parameters_of(each)],
            callback=_make_callback(function, parameters),
            help=help_,
            short_help=help_.partition("\n")[0],
            examples=examples,
            noun=noun,
            aliases=aliases,
        )

    return decorate


def _bundle_of(annotation: object) -> type | None:
    """Return the dataclass of options of a parameter, if it has one."""
    if CONTEXT_OBJECT in _metadata(annotation):
        return None
    plain = get_args(annotation)[0] if _metadata(annotation) else annotation
    return plain if isinstance(plain, type) and is_dataclass(plain) else None


def _parameters_of(parameter: inspect.Parameter) -> list[click.Parameter]:
    annotation = parameter.annotation
    bundle = _bundle_of(annotation)
    if bundle is not None:
        return make_parameters(bundle, _merge_variants(annotation))
    if _find_spec(annotation) is None:
        return []
    default = MISSING if parameter.default is parameter.empty else parameter.default
    return [_make_parameter(parameter.name, annotation, default, hidden=False)]


def _merge_variants(annotation: object) -> Variant:
    variants = [each for each in _metadata(annotation) if isinstance(each, Variant)]
    return Variant(
        frozenset().union(*(each.omitted for each in variants)), frozenset().union(*(each.hidden for each in variants))
    )


def _argument_notes(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Yield the notes of arguments, for the help."""
    for parameter in parameters:
        bundle = _bundle_of(parameter.annotation)
        annotations = [each.type for each in fields(bundle)] if bundle else [parameter.annotation]
        specs = map(_find_spec, annotations)
        yield from (spec.note for spec in specs if isinstance(spec, ArgumentSpec) and spec.note)


def _make_callback(function: Callable[..., None], parameters: Sequence[inspect.Parameter]) -> Callable[..., None]:
    """Call a function with the values that click has read."""

    def call(**values: object) -> None:
        # None means not on the command line, so that the dataclass fills in its own default.
        typed = {name: value for name, value in values.items() if value is not None}
        function(**{each.name: value for each in parameters for value in _values_of(each, typed)})

    return call


def _values_of(parameter: inspect.Parameter, typed: Mapping[str, object]) -> Iterator[object]:
    """The value of a parameter; none where its default holds."""
    bundle = _bundle_of(parameter.annotation)
    if bundle is not None:
        # Another dataclass of the command may have a field with the name of an omitted one.
        names = {each.name for each in fields(bundle)} - _merge_variants(parameter.annotation).omitted
        yield bundle(**{name: typed[name] for name in names if name in typed})
    elif parameter.annotation is click.Context:
        yield click.get_current_context()
    elif CONTEXT_OBJECT in _metadata(parameter.annotation):
        yield click.get_current_context().obj
    elif parameter.name in typed:
        yield typed[parameter.name]
