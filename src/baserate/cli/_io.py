"""Input and output: read predictions and files of ours, describe them, and print results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import click

from baserate._formatting import format_count, format_number, format_pace
from baserate.cli._declarations import Output, check_place, missing_option, option
from baserate.cli._options import FileName, Reading
from baserate.cli._terminal import WIDTH, print_message, print_note, progress_bar, terminal_width, write_output
from baserate.text import Page, describe_files, describe_positive, describe_prevalence, describe_rows, shorten_label

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._files import FileKind
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate._tally import Tallies, Tally
    from baserate.report import MulticlassReport, Plan, Report


def read_tallies(reading: Reading, *, quiet: bool) -> "Tallies":
    """Read predictions as tallies."""
    from baserate import read

    return read.tallies(reading.file, **_reading_arguments(reading, quiet=quiet))


def read_rows(reading: Reading, *, quiet: bool, **columns: str | None) -> "Rows":
    """Read predictions as rows, with a column of IDs or of clusters if named."""
    from baserate import read

    more: dict[str, Any] = {name: value for name, value in columns.items() if value}
    return read.rows(reading.file, **_reading_arguments(reading, quiet=quiet), **more)


def _reading_arguments(reading: Reading, *, quiet: bool) -> dict[str, Any]:
    from baserate import read

    check_truth(reading)
    # A shell has only text: LabelText matches labels by their spelling, whatever their type in the file.
    columns = {name: getattr(reading, name) for name in ("truth", "score", "predicted", "group", "weight", "count")}
    positive, negative = (
        None if each is None else read.LabelText(each) for each in (reading.positive, reading.negative)
    )
    return {
        "positive": positive,
        "negative": negative,
        "missing": reading.missing,
        "watch": partial(progress_bar, quiet=quiet),
        **{name: value for name, value in columns.items() if value},
    }


def check_truth(reading: Reading) -> None:
    """Refuse options without a column of labels, as click does; a confusion matrix needs none."""
    if reading.truth is None:
        raise missing_option("--truth")


def check_stdout(path: str | None, output: Output) -> None:
    """Refuse a policy and results that both go to stdout."""
    if path == "-" and output.form != "table":
        raise click.UsageError("-o - writes the policy to stdout, where the numbers would go; name a file for it.")


def print_results(results: "Results", page: Callable[[], Page], output: Output) -> None:
    """Print results in the format of the options; only a table needs its page."""
    to_file = output.to_file
    notes = tuple(f"note: {note}" for note in results.data.get("notes", ()))

    def page_with_notes() -> Page:
        """Add the notes: a page in a file must contain what the screen shows beside it."""
        laid_out = page()
        return replace(laid_out, footnotes=laid_out.footnotes + notes)

    def table() -> str:
        """Lay out the page for a file, or for the terminal."""
        if to_file:
            return page_with_notes().text(WIDTH, explain=output.explain)
        return page().text(terminal_width(), explain=output.explain)

    texts: dict[str, Callable[[], str]] = {
        "json": results.to_json,
        "csv": results.to_csv,
        "md": lambda: page_with_notes().markdown(),
        "table": table,
    }
    write_output(texts[output.form](), output.path)


def name_as_typed(results: "Results", names: Sequence[str]) -> "Results":
    """Return results of two classes that are shown with the names of measures that the user typed."""
    from baserate.measure import names_as_typed

    typed = names_as_typed([] if "all" in names else names)
    return replace(results, data={**results.data, **typed}) if typed else results


def report_results(
    results: "Results",
    page: Callable[["Results", Reading, int], Page],
    reading: Reading,
    output: Output,
    omissions: Sequence[str] = (),
) -> None:
    """Print messages about results, then the results; omissions are notes on what the page leaves out."""
    print_notes(reading, {**results.data, "notes": [*results.data["notes"], *omissions]}, output)
    print_results(results, lambda: page(results, reading, output.digits), output)


def headline(reading: Reading, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    """One line on what was read, and on the prevalence that results are adjusted to, if any."""
    parts = [
        describe_files(reading.file),
        describe_rows(data),
        *(_describe_classes(data) if "classes" in data else [describe_positive(reading.truth, data)]),
        describe_prevalence(data).replace("\N{NO-BREAK SPACE}", " "),
    ]
    return " · ".join(filter(None, [*parts, *["weighted"] * bool(data["weighted"])]))


def adjust_prevalence(tallies: "Tallies", prevalence: float | Mapping[Any, float] | None) -> "Tallies":
    """Reweight rows to the prevalence in deployment, if one is stated."""
    if prevalence is None:
        return tallies
    from baserate import shift

    adjusted: Tallies = shift.reweigh(tallies, prevalence=prevalence)
    return adjusted


def describe_adjustment(results: "Results", before: "Tallies", to: float | Mapping[str, float] | None) -> "Results":
    """Describe the rows as they were read, and the prevalence that results are adjusted to, if any."""
    if to is None:
        return results
    from baserate import shift

    return shift.describe_deployment(results, before, to)


def _describe_classes(data: Any) -> list[str]:  # noqa: ANN401  (what Results hold)
    shares = data["prevalences"]
    most = max(shares, key=lambda name: shares[name])
    return [f"{len(shares)} classes", f"most frequent: {shorten_label(most)}, {format_number(100 * shares[most], 4)}%"]


def print_notes(reading: Reading, data: Any, output: Output) -> None:  # noqa: ANN401  (what Results hold)
    """Print messages about results on stderr, headed by a line on what was read."""
    inferred = reading.positive is None and "positive" in data
    print_messages(headline(reading, data), data, output, inferred=inferred)


def print_messages(headline: str, data: Any, output: Output, *, inferred: bool) -> None:  # noqa: ANN401
    """Print messages on stderr: the headline and the inferred class; notes follow when the command ends."""
    if output.quiet:
        return
    if output.needs_headline:
        print_message(headline)
    if inferred:
        print_message(f"positive = {data['positive']}, inferred; name it with --positive.")
    # Below the results: a reader wants the numbers first.
    click.get_current_context().call_on_close(partial(_print_notes, tuple(data["notes"])))


def _print_notes(notes: Sequence[str]) -> None:
    """Print notes on stderr, wrapped on a terminal."""
    for note in notes:
        print_note(f"note: {note}")


Content = TypeVar("Content")
ROWS_FILE = "Output file: .parquet, .csv, .tsv or .jsonl, the last three also with .gz; or - for CSV on stdout."

MissingScore = Annotated[
    Literal["refuse", "keep"],
    option("--missing"),
    "Treatment of missing scores: refuse the file, or keep the row without a result.",
]

_LONG = 1.0
"""Seconds of work from which on the pace is printed."""
FEW = 25
"""Points of a curve in a table for people; other formats have all."""


def describe_omission(longest: int) -> str:
    """Note that a table shows a part of each curve."""
    most = format_count(longest, 4)
    return f"at most {FEW} of up to {most} points of each curve are shown; --points N shows more, --format csv all."


def load_calibrator(path: str) -> "Calibrator | MulticlassCalibrator":
    """Read a calibrator; errors name the file."""
    from baserate import load_calibrator

    return open_file(path, "calibrator", load_calibrator)


def open_file(path: str, what: str, load: Callable[[str], Content]) -> Content:
    """Load a file; errors name it and the contents that were expected."""
    from baserate import FileFormatError, NoSuchFileError

    try:
        return load(path)
    except FileFormatError as error:
        reason = error.what.removeprefix("this ") if error.what.startswith("this is ") else ""
        problem = f"{path} {reason}" if reason else f"{path} is not a usable {what}: {error.what}"
        message = error.what if str(path) in error.what else problem
        raise FileFormatError(message, remedy=error.remedy) from error
    except OSError as error:
        raise NoSuchFileError(
            f"the {what} {path} cannot be opened: {error.strerror}", remedy="check the path."
        ) from error


def parse_columns(calibrator: "Calibrator | MulticlassCalibrator", text: str | None) -> str | dict[str, str] | None:
    """Parse the name of a column, or for several classes CLASS=NAME,…."""
    from baserate import MulticlassCalibrator

    if text is None or not isinstance(calibrator, MulticlassCalibrator):
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


def load_policy(path: str) -> "Policy":
    """Read a policy; errors name the file."""
    from baserate import load_policy

    return open_file(path, "policy", load_policy)


def load_calibrator_or_policy(path: str) -> "Calibrator | MulticlassCalibrator | Policy":
    """Read a calibrator or a policy, whichever the file holds; errors name the file."""
    from baserate import FileFormatError
    from baserate._files import CALIBRATOR, MULTICLASS_CALIBRATOR, POLICY

    kind = _find_kind(path, "calibrator or policy")
    if kind not in {CALIBRATOR, MULTICLASS_CALIBRATOR, POLICY}:
        raise FileFormatError(
            f"{path} contains neither a calibrator nor a policy", remedy="name a file that contains one."
        )
    return load_policy(path) if kind == POLICY else load_calibrator(path)


def load_any(path: str) -> "Calibrator | MulticlassCalibrator | Policy | Plan | Report | MulticlassReport | Tally":
    """Read a calibrator, policy, plan, report or tally; errors name the file."""
    from baserate import FileFormatError, MulticlassReport, Report, Tally
    from baserate.report import Plan

    kind = _find_kind(path, "file")
    if kind is None:
        raise FileFormatError(
            f"{path} contains no calibrator, policy, report, plan or tally", remedy="name a file that contains one."
        )
    loaders: dict[FileKind, Callable[[str], Plan | Report | MulticlassReport | Tally]] = {
        Plan.file_kind: Plan.load,
        Report.file_kind: Report.load,
        MulticlassReport.file_kind: MulticlassReport.load,
        Tally.file_kind: Tally.load,
    }
    return open_file(path, kind.noun, loaders[kind]) if kind in loaders else load_calibrator_or_policy(path)


def _find_kind(path: str, noun: str) -> "FileKind | None":
    """Find the kind of a file in its text, so that errors about a broken file name its kind."""
    from baserate._files import find_file_kind, read_text

    return find_file_kind(open_file(path, noun, lambda path: read_text(path, noun)))


def fill_from_policy(reading: Reading, policy: "Policy") -> Reading:
    """Take the columns, the positive class and the groups that were not named from the policy."""
    columns = policy.columns
    score = reading.score or tuple(columns[name] for name in ("score",) if name in columns)
    if not score:
        raise missing_option("--score")
    # A negative label on the command line determines the positive one, which may not be that of the policy.
    positive = policy.positive if reading.positive is None and reading.negative is None else reading.positive
    more = tuple(name for name in reading.group if name not in policy.attributes)
    return replace(
        reading,
        truth=reading.truth or columns.get("truth"),
        score=score,
        positive=positive,
        group=(*policy.attributes, *more),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """Calibrator that is applied first, and the file for the policy."""

    calibrator: Annotated[
        FileName, "Calibrator to apply before the threshold, from `baserate calibrate`; the policy stores it."
    ] = None
    path: Annotated[
        str | None,
        option("-o", "--output", type=click.Path(allow_dash=True), metavar="POLICY"),
        "File for the policy, as JSON.",
    ] = None

    def __post_init__(self) -> None:
        if self.path not in (None, "-"):
            check_place(Path(str(self.path)))

    @property
    def flags(self) -> list[str]:
        """Flags that are on the command line."""
        return [*["-o"] * (self.path is not None), *["--calibrator"] * (self.calibrator is not None)]

    def load_calibrator(self) -> "Calibrator | None":
        """Read the calibrator, if any; one of several classes is refused."""
        if self.calibrator is None:
            return None
        from baserate import Calibrator, OptionError

        calibrator = load_calibrator(self.calibrator)
        if not isinstance(calibrator, Calibrator):
            raise OptionError(
                f"{self.calibrator} is a calibrator of several classes; a threshold has one score",
                remedy="name a calibrator of two classes.",
            )
        return calibrator

    @property
    def name(self) -> str:
        """Name of the calibrator's file."""
        return PurePath(self.calibrator or "").name


def save_policy(policy: "Policy", policy_file: PolicyFile, output: Output) -> None:
    """Write the policy, and print the command that applies it."""
    write_output(policy.to_json(), policy_file.path)
    if policy_file.path != "-" and not output.quiet:
        row_ids = " --id COLUMN" if policy.needs_id else ""
        print_message(
            f"wrote {policy_file.path}: {policy!r}; apply it with: baserate apply {policy_file.path} FILE{row_ids} -o "
            f"OUT"
        )


def write_calibrator(
    calibrator: "Calibrator | MulticlassCalibrator", path: str, *, quiet: bool, files: str = "FILE"
) -> None:
    """Write a calibrator, and print the command that applies it."""
    write_output(calibrator.to_json(), path)
    if path != "-" and not quiet:
        print_message(f"wrote {path}: {calibrator!r}; apply it with: baserate apply {path} {files} -o OUT")
