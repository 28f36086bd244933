"""Options are declared once: every command has the common flags, and help follows the style guide."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click
import pytest
from click.testing import CliRunner

from baserate import cli
from baserate.cli import GROUPS, VERBS, app
from baserate.cli._common_flags import COMMON
from baserate.cli._declarations import Output, argument, command, hide, make_parameters, omit, option

WITHOUT = {
    "apply": "it writes rows, whose format is that of the file: -o and --quiet are its own",
    "reprior": "it writes rows, whose format is that of the file: -o and --quiet are its own",
    "export": "it writes code: -o is its own",
    "completion": "it prints a script",
    "list": "it shows definitions alone, so that it has no --explain",
    "demo": "it shows other commands",
    "draw": "it writes figures, whose format is that of the file: -o and --quiet are its own",
    "calibrate": "-o is for the calibrator",
    "decide": "-o is for the policy",
    "equalize": "-o is for the policy",
}
"""Command -> why it has not all flags of the output."""
MENDABLE = {"calibrate", "decide", "equalize"}
"""Those that lack nothing else."""


def list_commands(
    result: click.Command, typed: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, as it is typed."""
    if not isinstance(result, click.Group):
        yield typed, result
        return
    context = click.Context(result)
    for name in result.list_commands(context):
        below = result.get_command(context, name)
        assert below
        yield from list_commands(below, (*typed, name))


COMMANDS = dict(list_commands(app))


def parameters_of(result: click.Command) -> list[click.Parameter]:
    # Click keeps the help option that it makes first, so the context must be as it is in the program.
    return result.get_params(click.Context(result, help_option_names=["-h", "--help"]))


def flags_of(result: click.Command) -> set[str]:
    return {flag for each in parameters_of(result) for flag in each.opts}


@pytest.mark.parametrize("typed", COMMANDS, ids=" ".join)
def test_every_command_has_the_common_flags(typed: tuple[str, ...]) -> None:
    flags = flags_of(COMMANDS[typed])
    assert flags >= {"--debug", "-h", "--help"}
    common = {flag for each in make_parameters(Output) for flag in each.opts}
    assert common == {"--format", "--json", "--digits", "--explain", "-o", "--output", "-q", "--quiet"}
    if typed[0] not in WITHOUT:
        assert flags >= common
    if typed[0] in MENDABLE:
        assert flags >= common


def test_common_flags_are_declared_once() -> None:
    folder = Path(cli.__file__).parent
    for flag in ("--format", "--json", "--digits", "--explain", "--quiet", "--debug"):
        name = flag.removeprefix("--")
        declared = re.compile(
            rf'^    {name}_?: Annotated|option\((?:"-\w", )?"{flag}"|Option\(\["{flag}"', re.MULTILINE
        )
        homes = {path.name for path in folder.glob("*.py") if declared.search(path.read_text(encoding="utf-8"))}
        # The page for browsers is one more format.
        home = "_common_flags.py" if flag == "--debug" else "_declarations.py"
        assert homes - ({"_options.py"} if flag == "--format" else set()) == {home}, flag


def test_common_flags_reach_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    more = (*COMMON, click.Option(["--trace"], is_flag=True, expose_value=False))
    monkeypatch.setattr("baserate.cli._common_flags.COMMON", more)
    assert all("--trace" in flags_of(each) for each in (app, *COMMANDS.values()))


@pytest.mark.parametrize("verb", VERBS)
def test_summaries_are_short_and_those_of_the_commands(verb: str) -> None:
    _, summary = VERBS[verb]
    result = app.get_command(click.Context(app), verb)
    assert result
    assert (result.help or "").partition("\n")[0] == summary
    assert len(summary) <= 60
    assert summary.endswith(".")


def test_commands_are_grouped_by_job() -> None:
    shown = CliRunner().invoke(app, ["--help"]).stdout
    jobs = ["Evaluate", "Calibrate", "Prevalence", "Decide", "Fairness", "Deploy", "Plan a study", "Learn"]
    assert re.findall(r"^([A-Z][a-z ]+):$", shown, re.MULTILINE) == ["Options", *jobs]
    assert list(GROUPS) == jobs


@pytest.mark.parametrize("typed", COMMANDS, ids=" ".join)
def test_help_follows_the_style_guide(typed: tuple[str, ...]) -> None:
    result = COMMANDS[typed]
    assert len((result.help or "").partition("\n")[0]) <= 60
    for each in parameters_of(result):
        if isinstance(each, click.Option) and not each.hidden:
            assert each.help, each.opts
            assert each.help.endswith("."), each.help
            # Without a metavar, click shows the name of the function that reads the value.
            assert each.metavar or not isinstance(each.type, click.types.FuncParamType) or each.type.func is float, (
                each.opts
            )
            assert not re.search(r"\b(otherwise|so many|told|tells|who is|what is)\b", each.help, re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Options of a command that is made up."""

    file: Annotated[tuple[str, ...], argument(nargs=-1, required=True, note="FILE is a file.")]
    size: Annotated[int | None, option(type=int, default="all", help="Number of rows.")] = None
    ratio: Annotated[float, option(type=float, help="Ratio.")] = 0.5
    loud: Annotated[bool, "Noise."] = False
    kind: Annotated[str, option("-k", "--kind-of", help="Kind.")] = "plain"


@command("plain", examples="")
def plain(sample: Sample, *, also: Annotated[str | None, "More."] = None) -> None:
    """Print the options."""
    click.echo(f"{sample} {also}")


@command("less", examples="")
def less(sample: Annotated[Sample, omit("kind"), hide("loud")]) -> None:
    """Print some of the options."""
    click.echo(f"{sample}")


def test_fields_become_options() -> None:
    shown = CliRunner().invoke(plain, ["a", "b", "--size", "3", "--loud", "-k", "odd", "--also", "this"]).stdout
    assert shown == "Sample(file=('a', 'b'), size=3, ratio=0.5, loud=True, kind='odd') this\n"
    assert CliRunner().invoke(plain, ["a"]).stdout == (
        "Sample(file=('a',), size=None, ratio=0.5, loud=False, kind='plain') None\n"
    )
    help_ = CliRunner().invoke(plain, ["--help"]).stdout
    assert "Print the options.\n\n  FILE is a file.\n" in help_
    assert re.search(r"--size INTEGER +Number of rows\. +\[default: all\]", help_)
    assert re.search(r"--ratio FLOAT +Ratio\. +\[default: 0\.5\]", help_)


def test_variants_leave_out_or_hide_options() -> None:
    help_ = CliRunner().invoke(less, ["--help"]).stdout
    assert "--kind-of" not in help_
    assert "--loud" not in help_
    assert "loud=True, kind='plain'" in CliRunner().invoke(less, ["a", "--loud"]).stdout
    assert "there is no option -k" in CliRunner().invoke(less, ["a", "-k", "odd"]).output.lower()


def test_variants_name_fields_that_exist() -> None:
    with pytest.raises(AssertionError, match="Sample has no field kinds"):
        make_parameters(Sample, omit("kinds"))


Size = Annotated[int | None, option("--rows", type=int, metavar="ROWS", default="all", help="Rows.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasSample:
    """Options of a type with an alias."""

    size: Size = None
    least: Annotated[Size, option("--least", default="none"), "Least number of rows."] = None


def test_annotations_merge_with_their_alias() -> None:
    size, least = make_parameters(AliasSample)
    assert isinstance(size, click.Option)
    assert isinstance(least, click.Option)
    assert (size.opts, size.metavar, size.help) == (["--rows"], "ROWS", "Rows.")
    assert (least.opts, least.metavar, least.help) == (["--least"], "ROWS", "Least number of rows.")
    assert least.type is size.type
    context = click.Context(plain)
    assert [each.get_help_extra(context)["default"] for each in (size, least)] == ["all", "none"]
