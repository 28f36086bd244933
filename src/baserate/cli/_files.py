"""Files of ours on the command line: calibrators, policies, plans, reports, tallies."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import click

from baserate._formatting import format_count, format_pace
from baserate.cli._declarations import Output, check_place, option
from baserate.cli._options import Reading
from baserate.cli._terminal import print_message, progress_bar, write_output

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._policy import Policy
    from baserate._tally import Tally
    from baserate.report import Plan, Report

Kept = TypeVar("Kept")
ROWS_FILE = "Output file: .parquet, .csv, .tsv or .jsonl, the last three also with .gz; or - for CSV on stdout."

MissingScore = Annotated[
    Literal["refuse", "keep"],
    option(
        "--missing",
        type=click.Choice(["refuse", "keep"]),
        help="Treatment of missing scores: refuse the file, or keep the row without a result.",
    ),
]

_LONG = 1.0
"""Seconds from which on it matters how fast it went."""


def load_calibrator(path: str) -> "Calibrator | MulticlassCalibrator":
    """Read a calibrator; errors name the file."""
    from baserate import load_calibrator

    return open_file(path, "map", load_calibrator)


def open_file(path: str, what: str, load: Callable[[str], Kept]) -> Kept:
    """Load a file; errors name it and what it should hold."""
    from baserate import FileFormatError, NoSuchFileError

    try:
        return load(path)
    except FileFormatError as error:
        told = str(error) if str(path) in str(error) else f"{path} is no {what} to use: {error}"
        raise FileFormatError(told) from error
    except OSError as error:
        raise NoSuchFileError(f"the {what} {path} cannot be opened: {error.strerror}; check the path.") from error


def parse_columns(map_: "Calibrator | MulticlassCalibrator", text: str | None) -> str | dict[str, str] | None:
    """Names as they are typed: one, or for several classes CLASS=NAME,…."""
    from baserate import MulticlassCalibrator

    if text is None or not isinstance(map_, MulticlassCalibrator):
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {label.strip(): name.strip() for label, _, name in pairs}


def write_rows(
    what: "Calibrator | MulticlassCalibrator | Policy",
    files: tuple[str, ...],
    target: str,
    *,
    quiet: bool,
    **settings: Any,  # noqa: ANN401
) -> None:
    """Apply a calibrator or a policy to files of rows; print the number of rows and notes."""
    from baserate.apply import file

    summary = file(what, files, target, watch=partial(progress_bar, quiet=quiet), **settings)
    if quiet:
        return
    for note in summary.notes:
        print_message(f"note: {note}")
    where = "stdout" if target == "-" else target
    rate = f" ({format_pace(summary.rows, summary.seconds)})" if summary.seconds > _LONG else ""
    print_message(f"{format_count(summary.rows, 4)} row{'' if summary.rows == 1 else 's'} written to {where}{rate}.")


_KIND = re.compile(r'"kind":\s*"baserate/(?:class-)?(map|policy|plan|report|tally)"')


def load_policy(path: str) -> "Policy":
    """Read a policy; errors name the file."""
    return open_file(path, "policy", _parse_policy)


def load_calibrator_or_policy(path: str) -> "Calibrator | MulticlassCalibrator | Policy":
    """Read a calibrator or a policy, whichever the file holds; errors name the file."""
    from baserate import FileFormatError

    kind = _find_kind(path, "map or policy")
    if kind not in {"map", "policy"}:
        raise FileFormatError(f"{path} holds neither a map nor a policy", remedy="name a file that holds one.")
    return load_calibrator(path) if kind == "map" else load_policy(path)


def load_any(path: str) -> "Calibrator | MulticlassCalibrator | Policy | Plan | Report | Tally":
    """Read a calibrator, policy, plan, report or tally; errors name the file."""
    from baserate import FileFormatError, Report, Tally
    from baserate.report import Plan

    kind = _find_kind(path, "file")
    loaders: dict[str, Callable[[str], Plan | Report | Tally]] = {
        "plan": Plan.load,
        "report": Report.load,
        "tally": Tally.load,
    }
    if kind in loaders:
        return open_file(path, kind, loaders[kind])
    if kind is None:
        raise FileFormatError(
            f"{path} holds no map, policy, report, plan or tally", remedy="name a file that holds one."
        )
    return load_calibrator_or_policy(path)


def _find_kind(path: str, what: str) -> str | None:
    """Find the kind of a file in its text, so that errors about a broken file name its kind."""
    from baserate._calibrator import read_file_text

    match = _KIND.search(open_file(path, what, lambda path: read_file_text(path, what)))
    return match[1] if match else None


def fill_from_policy(reading: Reading, policy: "Policy") -> Reading:
    """Take from the policy what was not named."""
    known = policy.columns
    score = reading.score or tuple(known[name] for name in ("score",) if name in known)
    if not score:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    positive = policy.positive if reading.positive is None and reading.negative is None else reading.positive
    more = tuple(name for name in reading.group if name not in policy.attributes)
    return replace(
        reading,
        truth=reading.truth or known.get("truth"),
        score=score,
        positive=positive,
        group=(*policy.attributes, *more),
    )


def _parse_policy(path: str) -> "Policy":
    from baserate import FileFormatError, Policy, load_calibrator

    try:
        return Policy.load(path)
    except FileFormatError:
        if not _holds(load_calibrator, path):
            raise
        raise FileFormatError(
            f"{path} holds a map, not a policy; `baserate export` writes maps as SQL or as Python."
        ) from None


def _holds(load: Callable[[str], object], path: str) -> bool:
    from baserate import FileFormatError

    try:
        load(path)
    except FileFormatError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """What scores go through first, and where the policy goes."""

    map: Annotated[
        str | None,
        option(
            type=click.Path(),
            metavar="MAP",
            help="Calibrator to apply before the threshold, from `baserate calibrate`; the policy stores it.",
        ),
    ] = None
    path: Annotated[
        str | None,
        option(
            "-o", "--output", type=click.Path(allow_dash=True), metavar="POLICY", help="File for the policy, as JSON."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.path not in (None, "-"):
            check_place(Path(str(self.path)))

    @property
    def calibrator(self) -> "Calibrator | None":
        """The calibrator, if any; one of several classes is refused."""
        if self.map is None:
            return None
        from baserate import Calibrator, OptionError

        calibrator = load_calibrator(self.map)
        if not isinstance(calibrator, Calibrator):
            raise OptionError(f"{self.map} is a map of several classes; a cut-off is of one score.")
        return calibrator

    @property
    def name(self) -> str:
        """Name of the calibrator's file."""
        return PurePath(self.map or "").name


def save_policy(policy: "Policy", policy_file: PolicyFile, output: Output) -> None:
    """Write the policy, and say how it is used."""
    write_output(policy.to_json(), policy_file.path)
    if policy_file.path != "-" and not output.quiet:
        lots = " --id COLUMN" if policy.needs_id else ""
        print_message(
            f"wrote {policy_file.path}: {policy!r}; apply it with: baserate apply {policy_file.path} FILE{lots} -o OUT"
        )
