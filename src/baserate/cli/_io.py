"""Read predictions, describe what was read, and print results."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from baserate._formatting import format_number
from baserate.cli._declarations import Output
from baserate.cli._options import Reading
from baserate.cli._terminal import WIDTH, print_message, progress_bar, terminal_width, write_output
from baserate.text import Page, describe_files, describe_positive, describe_rows, shorten_label

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate._tally import Tallies


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
    """Say that the truth is not named, as click does; a cross-table alone needs none."""
    if reading.truth is None:
        raise click.MissingParameter(param_hint="'--truth'", param_type="option", ctx=click.get_current_context())


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

    texts: dict[str, Callable[[], str]] = {
        "json": results.to_json,
        "csv": results.to_csv,
        "md": lambda: page_with_notes().markdown(),
        "table": lambda: page_with_notes().text(WIDTH) if to_file else page().text(terminal_width()),
    }
    write_output(texts[output.form](), output.path)


def headline(reading: Reading, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    """One line on what was read."""
    parts = [
        describe_files(reading.file),
        describe_rows(data),
        *(
            _classes(data)
            if "classes" in data
            else [describe_positive(reading.truth, data), f"prevalence {format_number(100 * data['prevalence'], 4)} %"]
        ),
    ]
    return " · ".join([*parts, *["weighted"] * bool(data["weighted"])])


def describe_adjustment(results: "Results", before: "Tallies", to: float | Mapping[str, float] | None) -> "Results":
    """Describe the rows as they were read, and the prevalence that results are adjusted to, if any."""
    if to is None:
        return results
    pooled = before.pooled(next(iter(before.models)))
    where = {"prevalences": dict(to)} if isinstance(to, Mapping) else {"prevalence": to}
    header = {"prevalence": pooled.prevalence, "weighted": pooled.weighted, "to": where}
    return replace(results, data={**results.data, **header})


def adjusted_headline(reading: Reading, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    """One line on what was read, and on the prevalence it is adjusted to."""
    if "to" not in data:
        return headline(reading, data)
    each = data["to"].get("prevalences") or {"": data["to"]["prevalence"]}
    where = ", ".join(
        f"{shorten_label(name)} {format_number(100 * share, 4)} %".strip() for name, share in each.items()
    )
    return f"{headline(reading, data)} · adjusted to {where}"


def _classes(data: Any) -> list[str]:  # noqa: ANN401  (what Results hold)
    shares = data["prevalences"]
    most = max(shares, key=lambda name: shares[name])
    return [f"{len(shares)} classes", f"most frequent: {shorten_label(most)}, {format_number(100 * shares[most], 4)} %"]


def print_notes(reading: Reading, data: Any, output: Output) -> None:  # noqa: ANN401  (what Results hold)
    """Print messages about results on stderr, headed by a line on what was read."""
    inferred = reading.positive is None and "positive" in data
    print_messages(headline(reading, data), data, output, inferred=inferred)


def print_messages(headline: str, data: Any, output: Output, *, inferred: bool) -> None:  # noqa: ANN401
    """Print messages on stderr: the headline, the inferred class, notes."""
    if not output.quiet:
        for line in _messages(headline, data, output, inferred=inferred):
            print_message(line)


def _messages(headline: str, data: Any, output: Output, *, inferred: bool) -> Iterator[str]:  # noqa: ANN401
    # A table on the screen begins with this line itself.
    if output.form in {"json", "csv"} or output.to_file:
        yield headline
    if inferred:
        yield f"positive = {data['positive']}, inferred; name it with --positive."
    yield from (f"note: {note}" for note in data["notes"])
