"""Options -> Tallies or Rows, and what a person should hear about them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from baserate._formatting import format_number
from baserate.cli._failures import in_flags
from baserate.cli._options import Reading, Writing
from baserate.cli._progress import shown
from baserate.cli._say import WIDTH, put, room, say
from baserate.text import Page, describe_files, describe_positive, describe_rows, shorten_label

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate._tally import Tallies


def tallies(asked: Reading, *, quiet: bool) -> "Tallies":
    """Read what was asked for."""
    from baserate import read

    return read.tallies(asked.file, **_given(asked, quiet=quiet))


def rows(asked: Reading, *, quiet: bool, **columns: str | None) -> "Rows":
    """Read it row by row, with a column of names or of clusters if asked for."""
    from baserate import read

    more: dict[str, Any] = {name: value for name, value in columns.items() if value}
    return read.rows(asked.file, **_given(asked, quiet=quiet), **more)


def _given(asked: Reading, *, quiet: bool) -> dict[str, Any]:
    from baserate import read

    check_truth(asked)
    columns = {name: getattr(asked, name) for name in ("truth", "score", "predicted", "group", "weight", "count")}
    positive, negative = (None if each is None else read.Spelled(each) for each in (asked.positive, asked.negative))
    return {
        "positive": positive,
        "negative": negative,
        "missing": asked.missing,
        "watch": partial(shown, quiet=quiet),
        **{name: value for name, value in columns.items() if value},
    }


def check_truth(asked: Reading) -> None:
    """Say that the truth is not named, as click does; a cross-table alone needs none."""
    if asked.truth is None:
        raise click.MissingParameter(param_hint="'--truth'", param_type="option", ctx=click.get_current_context())


def answer(results: "Results", page: Callable[[], Page], writing: Writing) -> None:
    """Hand over the results in the format that was asked for; a page is laid out only for people."""
    to_file = writing.output not in {None, "-"}
    notes = tuple(f"note: {in_flags(note)}" for note in results.data.get("notes", ()))

    def noted() -> Page:
        """A page that is kept must itself say what is said on the screen beside it."""
        made = page()
        return replace(made, footnotes=made.footnotes + notes)

    texts: dict[str, Callable[[], str]] = {
        "json": results.to_json,
        "csv": results.to_csv,
        "md": lambda: noted().markdown(),
        "table": lambda: noted().text(WIDTH) if to_file else page().text(room()),
    }
    put(texts[writing.form](), writing.output)


def headline(asked: Reading, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    """One line on what was read."""
    parts = [
        describe_files(asked.file),
        describe_rows(data),
        *(
            _classes(data)
            if "classes" in data
            else [describe_positive(asked.truth, data), f"prevalence {format_number(100 * data['prevalence'], 4)} %"]
        ),
    ]
    return " · ".join([*parts, *["weighted"] * bool(data["weighted"])])


def carried(found: "Results", before: "Tallies", to: float | Mapping[str, float] | None) -> "Results":
    """Tell of rows as they were read, and where they were carried, if they were: all of them, or groups by name."""
    if to is None:
        return found
    pooled = before.pooled(next(iter(before.models)))
    where = {"prevalences": dict(to)} if isinstance(to, Mapping) else {"prevalence": to}
    told = {"prevalence": pooled.prevalence, "weighted": pooled.weighted, "to": where}
    return replace(found, data={**found.data, **told})


def carried_line(asked: Reading, data: Any) -> str:  # noqa: ANN401  (what Results hold)
    """One line on what was read, and on where it was carried."""
    if "to" not in data:
        return headline(asked, data)
    each = data["to"].get("prevalences") or {"": data["to"]["prevalence"]}
    where = ", ".join(
        f"{shorten_label(name)} {format_number(100 * share, 4)} %".strip() for name, share in each.items()
    )
    return f"{headline(asked, data)} · carried to {where}"


def _classes(data: Any) -> list[str]:  # noqa: ANN401  (what Results hold)
    shares = data["prevalences"]
    most = max(shares, key=lambda name: shares[name])
    return [f"{len(shares)} classes", f"most frequent: {shorten_label(most)}, {format_number(100 * shares[most], 4)} %"]


def explain(asked: Reading, data: Any, writing: Writing) -> None:  # noqa: ANN401  (what Results hold)
    """Say on stderr what the reader of the numbers should know, unless told to be quiet."""
    inferred = asked.positive is None and "positive" in data
    remark(headline(asked, data), data, writing, inferred=inferred)


def remark(headline: str, data: Any, writing: Writing, *, inferred: bool) -> None:  # noqa: ANN401
    """Do that, where the line on what was read is another."""
    if not writing.quiet:
        for line in _remarks(headline, data, writing, inferred=inferred):
            say(line)


def _remarks(headline: str, data: Any, writing: Writing, *, inferred: bool) -> Iterator[str]:  # noqa: ANN401
    # A table on the screen begins with this line itself.
    if writing.form in {"json", "csv"} or writing.output not in {None, "-"}:
        yield headline
    if inferred:
        yield f"positive = {data['positive']}, inferred; name it with --positive."
    yield from (f"note: {in_flags(note)}" for note in data["notes"])
