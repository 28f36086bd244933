"""Numeric options at the ends of their domains: a usage error or an answer, never a defect."""

import resource
import shlex
import signal
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
import numpy as np
import pytest

from baserate import Cut, Policy
from baserate.cli import app
from tests.cli.shell import run
from tests.tiers import tiered_rows

EXTREMES = ("0", "-1", "1e-320", "1e308", "nan", "inf", "1e21", "1000000000", "", "1e-13")
"""What is typed for every numeric option."""
WORDS = {"COLUMN", "COLUMNS", "NAME", "NAMES", "FILE", "LABEL", "TEXT", "METHOD", "MEASURE", "GROUP", "MAP", "FOLDER"}
"""Metavariables of options that take no numbers."""
PAIRS = {
    "--size",
    "--means",
    "--sds",
    "--negative",
    "--positive",
    "--iso-cost",
    "--band-shares",
    "--band-risks",
    "--bands",
}
"""Options of two numbers, or of several."""
MEMORY = 3 << 30
"""Bytes that a command may take beyond what is in use."""
SECONDS = 60
FILES = {"people": "people.csv", "policy": "policy.json", "out": "out"}
ALIKE = {"--digits", "--seed"}
"""Options that do the same in every line of a command."""
ROWS = 120

READ = "{people} --truth y --score p"
TWO = "{people} --truth y --score p --score q"
BY = "{people} --truth y --score p --group g"
CLASSES = "{people} --truth c --scores k_"
NEW = "{people} --score p --validation {people} --truth y"
COMMANDS: dict[str, list[str]] = {
    "measure": [READ, f"{READ} --interval bootstrap", CLASSES, "{people} --truth y --predicted d"],
    "curve": ["roc {people} --truth y --score p --band", "lift {people} --truth y --score p"],
    "reliability": [READ, f"{READ} --curve binned", CLASSES],
    "calibrate": [f"{READ} -o {{out}}.json", f"{READ} --with histogram -o {{out}}.json"],
    "compare": [TWO, f"{TWO} --measures f1"],
    "reclassify": [TWO, f"{TWO} --thresholds 0.3 --method asymptotic"],
    "groups": [BY],
    "shift": [
        f"{READ} --prevalence 0.1",
        f"{READ} --curve",
        f"{READ} --gamma 2",
        f"{READ} --under-sampled 9 --over-sampled 0.5",
    ],
    "prevalence": [NEW, f"{NEW} --method acc", f"{NEW} --method binned"],
    "prevalence-study": [f"{READ} --validation {{people}} --repeats 1 --prevalences 3 --size 20 --methods acc,pacc"],
    "expect": [f"{NEW} --assume label-shift", f"{NEW} --assume covariate-shift"],
    "reprior": [
        "{people} --score p --sample-prevalence 0.5 --prevalence 0.1 -o {out}.csv",
        "{people} --score p -o {out}.csv --gamma 2",
    ],
    "decide": [READ, f"{READ} --rule cost --fp 1 --fn 5", f"{READ} --n-bootstrap 20", f"{READ} --folds 3"],
    "check": [f"{READ} --threshold 0.5 --require 'npv >= 0.5'"],
    "costs": [f"{READ} --fp 1 --fn 5"],
    "cost-curve": [READ, f"{READ} --prevalence 0.1 --fp 1 --fn 5"],
    "benefit": [READ, f"{READ} --prevalence 0.1"],
    "hull": [READ, TWO],
    "equalize": [f"{BY} --parity equal-opportunity -o {{out}}.json", f"{BY} --parity equal-opportunity --held-out"],
    "size": [
        "auc --half-width 0.03 --expect 0.8 --prevalence 0.1",
        "sensitivity --half-width 0.05 --expect 0.9 --prevalence 0.1",
        "sensitivity --expect 0.9 --goal 0.8 --prevalence 0.1",
        "auc --expect 0.8 --against 0.75 --correlation 0.5 --prevalence 0.1",
    ],
    "report": [READ, BY],
    "list": ["measures"],
    "show": ["{policy}"],
    "population linear": ["measure f1", "curve roc", "study --sizes 30 --repeats 20", "draw 10"],
    "population binormal": ["measure f1", "size f1 --half-width 0.1 --threshold 0.5 --n-simulations 400"],
    "population beta": ["measure f1"],
    "population logit-normal": ["measure f1"],
    "population retrieval": ["--level ER+ measure f1"],
    **{
        f"draw {name}": [f"{READ} -o {{out}}.svg"]
        for name in ("roc", "pr", "gain", "lift", "scores", "thresholds", "prevalence", "reliability")
    },
    **{f"draw {name}": [f"{READ} -o {{out}}.svg"] for name in ("cost-curve", "decision-curve", "likelihood-ratio")},
    "draw groups": [f"{BY} -o {{out}}.svg"],
    "draw population linear": ["-o {out}.svg"],
    "draw population binormal": ["-o {out}.svg"],
}
LINES = [(name, line) for name, several in COMMANDS.items() for line in several]


def is_plain(case: tuple[str, str]) -> bool:
    """Whether a line is the first of its command, and of few figures."""
    name, line = case
    return line == COMMANDS[name][0] and (not name.startswith("draw ") or name in {"draw roc", "draw groups"})


def is_numeric(option: click.Parameter) -> bool:
    """Whether an option takes numbers."""
    if not isinstance(option, click.Option) or option.is_flag or option.hidden:
        return False
    if isinstance(option.type, (click.Choice, click.Path, click.File)) or (option.metavar or "") in WORDS:
        return False
    return not isinstance(option.type, click.types.StringParamType) or option.metavar in {"SHARE", "NUMBER"}


def numeric_options(typed: str) -> list[tuple[str, click.Parameter]]:
    """All numeric options of a command and of the groups above it, each with the word of its command."""
    command: click.Command = app
    result: list[tuple[str, click.Parameter]] = []
    for word in typed.split():
        if not isinstance(command, click.Group):
            break
        inner = command.get_command(click.Context(command), word)
        if inner is None:
            break
        command = inner
        result += [(word, option) for option in command.params if is_numeric(option)]
    return result


def typed_for(option: str) -> Iterator[str]:
    """What is typed for an option; some take two numbers."""
    yield from EXTREMES
    if option in PAIRS:
        yield from (f"{each},{each}" for each in EXTREMES if each and "," not in each)
        yield from (f"0.5,{each}" for each in EXTREMES if each and "," not in each)


@contextmanager
def limit_resources() -> Iterator[None]:
    """Little memory, little time, and no warning."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    before = signal.signal(signal.SIGALRM, _expire)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("extremes")
    rng = np.random.default_rng(1)
    y = (rng.random(ROWS) < 0.4).astype(int)
    p, q = (1 / (1 + np.exp(0.4 - slope * y - rng.normal(size=ROWS))) for slope in (1.5, 1.0))
    group, kind = rng.choice(["a", "b"], ROWS), rng.choice(["u", "v", "w"], ROWS)
    shares = rng.dirichlet([1, 1, 1], ROWS)
    columns = [y, p, q, group, kind, (p > 0.5).astype(int), *shares.T]
    rows = [",".join(map(str, row)) for row in zip(*(column.tolist() for column in columns), strict=True)]
    (folder / "people.csv").write_text("\n".join(["y,p,q,g,c,d,k_u,k_v,k_w", *rows, ""]), encoding="utf-8")
    Policy(by_group={(): Cut((0.5,))}, otherwise="refuse").save(folder / "policy.json")
    return {name: str(folder / file) for name, file in FILES.items()}


@pytest.mark.quick(9)
@pytest.mark.parametrize(("name", "line"), tiered_rows(LINES, is_plain))
def test_every_command_works_with_usual_values(name: str, line: str, files: dict[str, str]) -> None:
    result = run(*shlex.split(f"{name} {line}".format(**files)))
    assert result.exit_code == 0, result.stderr


WORST = ("nan", "-1", "1e308")
"""What every run of the tests types; all extremes in all lines take a minute."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "line"), LINES)
def test_extremes_are_answered_or_refused(name: str, line: str, files: dict[str, str]) -> None:
    """With an exit code that says whose fault it is, within the memory and the time of a small machine."""
    check_extremes(name, line, files, EXTREMES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line"), tiered_rows([(name, lines[0]) for name, lines in COMMANDS.items()], is_plain)
)
def test_the_worst_extremes_are_answered_or_refused(name: str, line: str, files: dict[str, str]) -> None:
    check_extremes(name, line, files, WORST)


def check_extremes(name: str, line: str, files: dict[str, str], extremes: Collection[str]) -> None:
    words = shlex.split(f"{name} {line}".format(**files))
    for word, option in numeric_options(f"{name} {line}"):
        if option.opts[-1] in ALIKE and line != COMMANDS[name][0]:
            continue
        # Options of groups stand before the command within them.
        at = words.index(word) + 1 if word in name.split()[1:] and len(name.split()) == 2 else len(words)
        for typed in (each for each in typed_for(option.opts[-1]) if each.rpartition(",")[2] in extremes):
            given = [*words[:at], f"{option.opts[-1]}={typed}", *words[at:]]
            with limit_resources():
                result = run(*given)
            output = f"{shlex.join(given)}: {result.stderr}"
            assert result.exit_code in {0, 1, 2, 3}, output
            assert not any(bad in result.stderr for bad in ("internal error", "Traceback", "Warning")), output


def test_every_command_with_numeric_options_is_covered() -> None:
    assert {name.split()[0] for name in COMMANDS} >= set(with_numbers(app))


def with_numbers(group: click.Group) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if any(map(is_numeric, command.params)) or (isinstance(command, click.Group) and any(with_numbers(command))):
            yield name


@pytest.mark.parametrize(
    ("typed", "domain"),
    [
        (f"reliability {READ} --bins 1000000000", "1<=x<=10000"),
        (f"reliability {READ} --n-simulations 1000000000", "0<=x<=10000000"),
        (f"groups {BY} --n-permutations 1000000000", "1<=x<=10000000"),
        (f"measure {READ} --level 1e-320", "expected a confidence level from 1e-9 to 1 - 1e-9"),
        (
            f"prevalence {NEW} --no-recalibration --sample-prevalence ''",
            "expected a prevalence from 1e-12 to 1 - 1e-12",
        ),
        (f"shift {READ} --prevalence 5e-324", "expected a prevalence from 1e-12 to 1 - 1e-12"),
        (f"shift {READ} --gamma nan", "--gamma is nan"),
        (f"decide {READ} --n-bootstrap 1e21", "'1e21' is not a whole number in the range 0<=x<=10000000"),
        (f"costs {READ} --fp 1 --fn 1e308", "expected a cost from -1e15 to 1e15, and 0 or at least 1e-15 in size"),
        (f"costs {READ} --fp 1 --fn 1e-320", "expected a cost from -1e15 to 1e15, and 0 or at least 1e-15 in size"),
        (f"benefit {READ} --thresholds 1e-320", "expected 0 or a number from 1e-12 to 1 - 1e-12"),
        (f"draw roc {READ} -o {{out}}.png --size 100,100 --dpi 2400", "make 240,000 dots; expected at most 20,000"),
        ("population linear draw 1000000000", "takes 22.4 GiB of memory; expected at most 4 GiB. Draw fewer rows."),
        ("population beta --negative 1e-320,1 measure f1", "expected a shape from 0.01 to 1e6"),
        ("size auc --half-width 1e-320 --expect 0.8 --prevalence 0.1", "1e-09<=x<="),
    ],
)
def test_errors_state_the_domain(typed: str, domain: str, files: dict[str, str]) -> None:
    with limit_resources():
        result = run(*shlex.split(typed.format(**files)))
    assert result.exit_code == 2, result.stderr
    assert domain in result.stderr


def _expire(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"it took more than {SECONDS} seconds")
