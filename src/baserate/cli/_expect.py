"""`baserate expect`: read rows without truth, say what is assumed, measure what probabilities promise."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from baserate._formatting import count_of
from baserate.cli._ask import answer, remark
from baserate.cli._deployed import (
    AS_THEY_ARE,
    Deployed,
    deployed,
    header,
    headline,
    read_many,
    read_two,
    renamed,
    shares_at,
)
from baserate.cli._options import (
    LEVEL,
    THRESHOLD,
    Verb,
    Writing,
    bundled,
    command,
    complete_two_class,
    each_once,
    names,
    share,
    writing,
)
from baserate.cli._settings import Stated, stated

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies
    from baserate._target import Target
    from baserate.text import Page

_EXAMPLES = (
    (
        "only the prevalence has changed: what do decisions cost us there?",
        "baserate expect new.csv --score risk --assume label-shift --validation old.csv --truth sick",
    ),
    (
        "other patients, the same chance at the same score",
        "baserate expect new.csv --score risk --assume covariate-shift --validation old.csv --truth sick",
    ),
    (
        "many classes, a probability for each",
        "baserate expect new.csv --scores p_ --assume label-shift --validation old.csv --truth is",
    ),
    (
        "the probabilities are right: take them at their word",
        "baserate expect new.csv --score risk --assume covariate-shift --threshold 0.2,0.5 --measures precision,auc",
    ),
)
_LABEL_SHIFT = "label-shift"


@dataclass(frozen=True, slots=True)
class Expecting:
    """What is assumed, and what is wanted."""

    assume: str
    no_recalibration: bool
    at: str | None
    threshold: tuple[tuple[float, ...], ...]
    measure: tuple[tuple[str, ...], ...]
    level: float

    def __post_init__(self) -> None:
        if self.at and not (self.no_recalibration and self.assume == _LABEL_SHIFT):
            raise click.UsageError(
                "--at is for probabilities taken as they are and carried to another prevalence; it needs "
                "--assume label-shift and --no-recalibration."
            )

    def check(self, asked: Deployed) -> None:
        """Refuse what cannot be read so."""
        if asked.scores and self.threshold:
            raise click.UsageError("--threshold is for two classes; of many the highest score decides: leave it out.")
        if not asked.validation and self.assume == _LABEL_SHIFT:
            raise click.UsageError(
                "under label shift the prevalence is estimated first; give rows with a truth with --validation."
            )
        if not asked.validation and self.no_recalibration:
            raise click.UsageError("--no-recalibration is for --validation; without it nothing is recalibrated.")

    @property
    def assumed(self) -> Literal["label shift", "covariate shift"]:
        """The same in words."""
        return "label shift" if self.assume == _LABEL_SHIFT else "covariate shift"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the posteriors."""
        given = {} if self.at is None else {"at": share(self.at, f"{self.at!r} is no prevalence between 0 and 1.")}
        return {**given, "recalibrate": False} if self.no_recalibration else given


def _expecting(verb: Verb) -> Verb:
    return bundled(verb, Expecting, "expecting", _EXPECTING)


_EXPECTING = (
    click.option(
        "--assume",
        type=click.Choice([_LABEL_SHIFT, "covariate-shift"]),
        required=True,
        help="What has changed since validation: the prevalence alone, or the scores alone while each means the same "
        "chance as before. Nothing in the target can tell.",
    ),
    *AS_THEY_ARE,
    THRESHOLD,
    click.option(
        "--measures",
        "measure",
        type=names,
        metavar="NAMES",
        shell_complete=complete_two_class,
        multiple=True,
        help="Measures by any of their names, separated by commas, or all; otherwise the usual ones.",
    ),
    LEVEL,
)


@command("expect", examples=_EXAMPLES)
@deployed
@_expecting
@stated
@writing
def expect(deployed: Deployed, expecting: Expecting, stated: Stated, writing: Writing) -> None:
    """Tell what to expect of rows without truth: measures without labels.

    Under label shift --validation is measured at the prevalence that is estimated. Under covariate shift a row with
    probability 0.3 is 0.3 of a positive; probabilities are recalibrated on --validation, and without it taken as right.
    Which of both holds is yours to say with --assume. TARGET is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder
    or a pattern of such files, or - for stdin.
    """
    expecting.check(deployed)
    if deployed.scores:
        from baserate.cli._classes import require_costs

        stated.refuse_for_classes()
        require_costs([name for each in expecting.measure for name in each], None)
        _of_many(deployed, expecting, writing)
    else:
        _of_two(deployed, expecting, stated, writing)


def _of_two(deployed: Deployed, expecting: Expecting, stated: Stated, writing: Writing) -> None:
    from baserate.cli._summary import chosen

    options = expecting.options
    wanted = stated.bind(chosen([name for each in expecting.measure for name in each]))
    target, validation = read_two(deployed, quiet=writing.quiet)
    from baserate import shift

    found = shift.performance(
        target,
        validation,
        assume=expecting.assumed,
        measures=wanted,
        threshold=each_once(expecting.threshold) or None,
        level=expecting.level,
        **options,
    )
    results = _told(found, target, validation, expecting)
    line = _line(deployed, results.data)
    inferred = validation is not None and deployed.positive is None
    remark(line, results.data, writing, inferred=inferred)
    answer(results, lambda: _page(results, deployed, line, writing.digits), writing)


def _of_many(deployed: Deployed, expecting: Expecting, writing: Writing) -> None:
    from baserate import Results, shift
    from baserate.cli._classes import known, page
    from baserate.measure.multiclass import header as seen

    wanted = known([name for each in expecting.measure for name in each])
    target, validation = read_many(deployed, quiet=writing.quiet)
    options: dict[str, Any] = {"measures": wanted, "level": expecting.level}
    if expecting.no_recalibration:
        options["recalibrate"] = False
    if expecting.at and validation is not None:
        options["at"] = shares_at(expecting.at, validation)
    found = shift.performance(target, validation, assume=expecting.assumed, **options)
    own = {} if validation is None else seen(validation, validation.decided(), [])
    data = {
        **header(target.intake, len(target)),
        **found.data,
        "validation": own or None,
        "interval": {"level": expecting.level, "method": None, "seed": None, "clusters": None},
        "notes": list(dict.fromkeys([*found.data["notes"], *own.pop("notes", [])])),
    }
    results = Results(found.columns, data)
    line = _line(deployed, results.data)
    remark(line, results.data, writing, inferred=False)
    answer(results, lambda: page(results, deployed.reading, line, writing.digits), writing)


def _page(found: "Results", deployed: Deployed, line: str, digits: int) -> "Page":
    """Lay out the prevalence, then measures as they always are."""
    from baserate._formatting import format_number
    from baserate.cli._summary import page
    from baserate.text import Footnotes, Row, Section, Table, estimate_cell, interval_heading

    data = found.data
    share = {"value": data["prevalence"], "level": None} | (data["estimate"] or {})
    told = estimate_cell(share, Footnotes(), digits=digits, several=False)
    rows = [Row("expected", (told,), "Share of positives in the target.")]
    if data["validation"]:
        seen = format_number(data["validation"]["prevalence"], digits)
        rows.append(Row("in validation", (seen,), "Share that was seen there."))
    head = interval_heading(data) if data["estimate"] else ""
    made = page(found, deployed.reading, digits, line)
    return replace(made, panels=(Table("", (head,), (Section("prevalence", tuple(rows)),)), *made.panels))


def _line(deployed: Deployed, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    return f"expected under {data['assume']} · {headline(deployed, data)}"


def _told(found: "Results", target: "Target", validation: "Tallies | None", expecting: Expecting) -> "Results":
    """The numbers, with what both sets of rows are."""
    from baserate import Results
    from baserate.measure import header as seen

    intake = target.intake if validation is None else validation.intake
    unknown = validation is None and not target.intake.labelled
    own = {} if validation is None else seen(validation, [])
    notes = [*found.data["notes"], *own.pop("notes", [])]
    if target.intake.labelled and expecting.assume != _LABEL_SHIFT:
        labelled = count_of(
            target.intake.labelled,
            "row of the target has a truth; it was left out.",
            "rows of the target have a truth; they were left out.",
        )
        notes.append(labelled)
    data = {
        **header(target.intake, len(target)),
        **{name: None if unknown else getattr(intake, name) for name in ("positive", "negative")},
        **found.data,
        "validation": own or None,
        "interval": {"level": expecting.level, "method": None, "seed": None, "clusters": None},
        "notes": renamed(notes, str(target.intake.columns["score"][0])),
    }
    return Results(found.columns, data)
