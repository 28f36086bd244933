"""`baserate decide`: read, choose a cut-off by a rule, say what it gives, and what other rules would have said."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from baserate._errors import BaserateError
from baserate.cli._ask import answer, carried, carried_line, files_told, remark, tallies
from baserate.cli._deciding import Deciding, deciding
from baserate.cli._intervals import Intervals, independent
from baserate.cli._numbers import amount
from baserate.cli._options import Reading, Writing, command, scored, writing
from baserate.cli._say import say
from baserate.cli._several import Several, decided, several

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tallies import Tallies

_EXAMPLES = (
    (
        "a miss is worse than a false alarm, where one in fifty is sick",
        "baserate decide people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 2%",
    ),
    (
        "the most sensitivity that a requirement leaves",
        "baserate decide people.csv --truth sick --score risk --require 'specificity >= 0.9' --maximize sensitivity",
    ),
    ("no more than a hundred can be called", "baserate decide people.csv --truth sick --score risk --capacity 100"),
    (
        "leave doubtful cases to a person, at a price",
        "baserate decide people.csv --truth sick --score risk --fp 1 --fn 5 --abstain-cost 0.3",
    ),
    (
        "three bands of risk",
        "baserate decide people.csv --truth sick --score risk --band-risks 5%,20% --band-names low,medium,high",
    ),
    (
        "choose here, judge there",
        "baserate decide train.csv --truth sick --score risk --rule youden --judge-on test.csv",
    ),
    (
        "several classes, each row by least cost",
        "baserate decide pets.csv --truth is --scores p_ --costs costs.csv --abstain-cost 0.4",
    ),
)


@command("decide", examples=_EXAMPLES)
@scored
@deciding
@several
@independent
@writing
def decide(reading: Reading, deciding: Deciding, several: Several, intervals: Intervals, writing: Writing) -> None:
    """Choose a cut-off: by costs, requirements, capacity or a rule of your choice.

    A score at or above the cut-off is flagged. Shown are the cut-off with its interval, the 2×2 table, measures as they
    look and without the optimism of the choice, and what other rules would have said. Of several classes, with --scores
    and --costs, each row gets the class that costs least by its probabilities, or is referred. FILE is a CSV, TSV,
    Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._decided import page

    if several.scores:
        decided(reading, deciding, several, intervals, writing)
        return
    _check(reading, deciding, intervals)
    _ = deciding.choose, deciding.asked  # before reading, so that a slip is told at once
    found = _found(reading, deciding, intervals, quiet=writing.quiet)
    if deciding.rule is None and not writing.quiet:
        say(f"rule = {deciding.taken}, inferred; name it with --rule.")
    line = _line(reading, found.data)
    remark(line, found.data, writing, inferred=reading.positive is None)
    answer(found, lambda: page(found, reading, line, writing.digits), writing)


def _check(reading: Reading, deciding: Deciding, intervals: Intervals) -> None:
    """Refuse what cannot be decided so."""
    if not reading.score:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    if [*reading.file, *deciding.judge_on].count("-") > 1:
        raise click.UsageError("stdin can be read once; name a file to choose on, or one for --judge-on.")
    if intervals.no_interval and deciding.draws:
        raise click.UsageError("--draws is for intervals; leave out either it or --no-interval.")


def _found(reading: Reading, deciding: Deciding, intervals: Intervals, *, quiet: bool) -> "Results":
    from baserate import Curve
    from baserate import decide as room

    here = tallies(reading, quiet=quiet)
    read = _carried(here, deciding)
    of: dict[str, Any] = {"measures": deciding.asked, "costs": deciding.costs, "interval": intervals.chosen}
    found = room.summary(read, deciding.choose, draws=deciding.trial, **of)
    data = {**found.data, "costs": None if deciding.costs is None else asdict(deciding.costs)}
    found = carried(replace(found, data=data), here, deciding.prevalence)
    if not deciding.judge_on:
        return found
    policies = {model: deciding.choose(Curve(read.pooled(model))) for model in read.models}
    there = _other_rows(reading, deciding, data, quiet=quiet)
    held = room.judge(_carried(there, deciding), policies, **of)
    return _together(found, held, deciding.judge_on)


def _carried(read: "Tallies", deciding: Deciding) -> "Tallies":
    """Carry rows to the prevalence that was stated, if one was."""
    if deciding.prevalence is None:
        return read
    from baserate import shift

    return shift.reweigh(read, to=deciding.prevalence)


def _other_rows(reading: Reading, deciding: Deciding, data: Mapping[str, Any], *, quiet: bool) -> "Tallies":
    """Read rows to judge by; what is positive where the choice was made is so there."""
    positive, negative = (None if data[name] is None else str(data[name]) for name in ("positive", "negative"))
    asked = replace(reading, file=deciding.judge_on, positive=positive, negative=negative)
    try:
        return tallies(asked, quiet=quiet)
    except BaserateError as error:
        raise type(error)(f"--judge-on: {error}") from error


def _together(found: "Results", held: "Results", files: Sequence[str]) -> "Results":
    """Put numbers of other rows behind those that the choice was made on; what flatters is then told of both."""
    from baserate._results import Results
    from baserate.cli._decided import CHOICE, HELD_OUT
    from baserate.decide._summary import FLATTERED

    rows = [row | {"set": CHOICE} for row in found.rows()]
    rows += [row | {"set": HELD_OUT} for row in held.rows() if row["measure"] != "threshold"]
    name = files_told(files)
    known = {*FLATTERED, *found.data["notes"]}
    notes = [note for note in found.data["notes"] if note not in FLATTERED]
    if held.data["same"]:
        notes.append(f"{name} holds the very rows that the cut-off was chosen on, so it is no test of it.")
    elif found.data["same"]:
        notes.append(f"{name} was not looked at for the choice; the rows that it was made on flatter it.")
    notes += [f"{name}: {note}" for note in held.data["notes"] if note not in known]
    told = {key: held.data[key] for key in ("rows", "read", "refused", "prevalence", "digest", "same")}
    data = {**found.data, "notes": notes, "held_out": {"name": name, **told}}
    return Results({key: [row[key] for row in rows] for key in (*found.columns, "set")}, data)


def _line(reading: Reading, data: Mapping[str, Any]) -> str:
    """One line on what was read, and on where it is carried."""
    parts = [carried_line(reading, data)]
    if "held_out" in data:
        parts.append(f"judged on {data['held_out']['name']}, {amount(data['held_out']['rows'], 4)} rows")
    return " · ".join(parts)
