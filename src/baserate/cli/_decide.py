"""`baserate decide`: read, choose a cut-off by a rule, say what it gives, and what other rules would have said."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from baserate._errors import BaserateError
from baserate._formatting import count_of, format_count
from baserate.cli._ask import answer, carried, carried_line, remark, tallies
from baserate.cli._deciding import Deciding, deciding
from baserate.cli._intervals import Intervals, independent
from baserate.cli._kept import Keeping, keep, keeping
from baserate.cli._options import Reading, Writing, command, scored, showing
from baserate.cli._say import say
from baserate.cli._several import Several, decided, several
from baserate.text import describe_files

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator
    from baserate._results import Results
    from baserate._tally import Tallies

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
        "calibrate, choose on calibrated risks, keep the policy, and decide new rows by it",
        "baserate decide people.csv --truth sick --score risk --map map.json --fp 1 --fn 20 -o policy.json",
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
@keeping
@independent
@showing
def decide(
    reading: Reading, deciding: Deciding, several: Several, keeping: Keeping, intervals: Intervals, writing: Writing
) -> None:
    """Choose a cut-off: by costs, requirements, capacity or a rule of your choice.

    A score at or above the cut-off is flagged. Shown are the cut-off with its interval, the 2×2 table, measures as they
    look and optimism-corrected, and what other rules would have said; -o writes the policy, to be applied to new rows.
    Of several classes, with --scores and --costs, each row gets the class that costs least by its probabilities, or is
    referred. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for
    stdin.
    """
    from baserate.cli._decided import page

    if several.scores:
        _check_several(keeping)
        decided(reading, deciding, several, intervals, writing)
        return
    _check(reading, deciding, intervals)
    _check_kept(reading, keeping, writing)
    _ = deciding.choose, deciding.asked  # before reading, so that a slip is told at once
    asked = _Asked(reading, deciding, intervals, keeping.loaded, writing.quiet)
    here = tallies(reading, quiet=writing.quiet)
    found = _found(asked, here)
    if deciding.rule is None and not writing.quiet:
        say(f"rule = {deciding.taken}, inferred; name it with --rule.")
    line = _line(reading, keeping, found.data)
    remark(line, found.data, writing, inferred=reading.positive is None)
    if keeping.output is not None:
        from baserate.decide import chosen

        keep(chosen(_carried(here, deciding), deciding.choose, map=asked.map), keeping, writing)
    if keeping.output != "-":
        answer(found, lambda: page(found, reading, line, writing.digits), writing)


class _Asked(NamedTuple):
    """What to choose by, how sure it shall be, and what scores go through first."""

    reading: Reading
    deciding: Deciding
    intervals: Intervals
    map: "Calibrator | None"
    quiet: bool


def _check(reading: Reading, deciding: Deciding, intervals: Intervals) -> None:
    """Refuse what cannot be decided so."""
    if not reading.score:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    if [*reading.file, *deciding.judge_on].count("-") > 1:
        raise click.UsageError("stdin can be read once; name a file to choose on, or one for --judge-on.")
    if intervals.no_interval and deciding.draws:
        raise click.UsageError("--draws is for intervals; leave out either it or --no-interval.")


def _check_kept(reading: Reading, keeping: Keeping, writing: Writing) -> None:
    """Refuse what makes no policy."""
    for flag, given in (("-o", keeping.output), ("--map", keeping.map)):
        if given is not None and len(reading.score) > 1:
            raise click.UsageError(f"{flag} is of one model; give one --score.")
    if keeping.output == "-" and writing.form != "table":
        raise click.UsageError("-o - writes the policy to stdout, where the numbers would go; name a file for it.")


def _check_several(keeping: Keeping) -> None:
    """Several classes are decided from all their probabilities, by no cut."""
    for flag, given in (("-o", keeping.output), ("--map", keeping.map)):
        if given is not None:
            raise click.UsageError(
                f"{flag} is for policies of one score; what costs least among several classes is a function of their "
                "probabilities: decide.least_cost in Python."
            )


def _found(asked: _Asked, here: "Tallies") -> "Results":
    from baserate import Curve, decide as room

    deciding, (mapped, told) = asked.deciding, _mapped(here, asked.map)
    read = _carried(mapped, deciding)
    of: dict[str, Any] = {"measures": deciding.asked, "costs": deciding.costs, "interval": asked.intervals.chosen}
    found = room.summary(read, deciding.choose, draws=deciding.trial, **of)
    data = {**found.data, "costs": None if deciding.costs is None else asdict(deciding.costs)}
    data |= {"notes": [*data["notes"], *told]} | ({} if asked.map is None else {"map": asked.map.method})
    found = carried(replace(found, data=data), here, deciding.prevalence)
    if not deciding.judge_on:
        return found
    policies = {model: deciding.choose(Curve(read.pooled(model))) for model in read.models}
    there, _ = _mapped(_other_rows(asked, data), asked.map)
    held = room.judge(_carried(there, deciding), policies, **of)
    return _together(found, held, deciding.judge_on)


def _mapped(read: "Tallies", map_: "Calibrator | None") -> "tuple[Tallies, tuple[str, ...]]":
    """What a map makes of the scores, if there is one, and what to know of that."""
    if map_ is None:
        return read, ()
    from baserate import Tallies, infer

    after = infer.mapped(read, map_)
    assert isinstance(after.data, Tallies)  # noqa: S101  (for the type checker)
    return after.data, after.notes


def _carried(read: "Tallies", deciding: Deciding) -> "Tallies":
    """Carry rows to the prevalence that was stated, if one was."""
    if deciding.prevalence is None:
        return read
    from baserate import shift

    return shift.reweigh(read, to=deciding.prevalence)


def _other_rows(asked: _Asked, data: Mapping[str, Any]) -> "Tallies":
    """Read rows to judge by; what is positive where the choice was made is so there."""
    positive, negative = (None if data[name] is None else str(data[name]) for name in ("positive", "negative"))
    others = replace(asked.reading, file=asked.deciding.judge_on, positive=positive, negative=negative)
    try:
        return tallies(others, quiet=asked.quiet)
    except BaserateError as error:
        raise type(error)(f"--judge-on: {error}") from error


def _together(found: "Results", held: "Results", files: Sequence[str]) -> "Results":
    """Put numbers of other rows behind those that the choice was made on; what flatters is then told of both."""
    from baserate._results import Results
    from baserate.cli._decided import CHOICE, HELD_OUT
    from baserate.decide import FLATTERED

    rows = [row | {"set": CHOICE} for row in found.rows()]
    rows += [row | {"set": HELD_OUT} for row in held.rows() if row["measure"] != "threshold"]
    name = describe_files(files)
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


def _line(reading: Reading, keeping: Keeping, data: Mapping[str, Any]) -> str:
    """One line on what was read, and on where it is carried."""
    parts = [carried_line(reading, data), *[f"mapped by {keeping.name} ({data.get('map')})"] * ("map" in data)]
    if "held_out" in data:
        held = data["held_out"]
        parts.append(f"judged on {held['name']}, {count_of(held['rows'], 'row', shown=format_count(held['rows'], 4))}")
    return " · ".join(parts)
