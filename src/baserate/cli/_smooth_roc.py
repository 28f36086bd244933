"""`baserate curve roc --smooth`: options and page of smooth ROC curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._formatting import format_level, format_number
from baserate.cli._declarations import flag_of, given_values, option
from baserate.cli._io import headline
from baserate.cli._options import Reading
from baserate.text import CellFormatter, Page, Table, TidyRow, describe_group, list_table, shorten_label

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies

METHODS = ("binormal-ml", "binormal", "normal", "density", "logcondens", "logcondens-smooth")
_BANDWIDTHS = "nrd0, nrd or sj, also with -pooled; a number; or two, of negatives and positives"
Smooth = Annotated[
    str | None,
    option("--smooth", metavar="METHOD", default="none"),
    f"Smooth curve by {', '.join(METHODS[:-1])} or {METHODS[-1]}.",
]


def read_bandwidth(text: str) -> str | float | tuple[float, float]:
    """Read a rule of bandwidths, a number, or two numbers with a comma between them."""
    parts = text.split(",")
    try:
        numbers = [float(each) for each in parts]
    except ValueError:
        if len(parts) == 1:
            return text
        raise click.BadParameter(f"{text!r} is not a bandwidth; expected {_BANDWIDTHS}.") from None
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    if len(numbers) != 1:
        raise click.BadParameter(f"{text!r} is not a bandwidth; expected {_BANDWIDTHS}.")
    return numbers[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothOptions:
    """Options of smooth ROC curves."""

    smooth: Smooth = None
    bandwidth: Annotated[
        str | float | tuple[float, float] | None,
        option(type=read_bandwidth, metavar="BANDWIDTH", default="nrd0"),
        f"Bandwidth of --smooth density: {_BANDWIDTHS}.",
    ] = None
    n_bootstrap: Annotated[
        int | None,
        option(type=click.IntRange(0, 10**7), metavar="NUMBER", default="1000"),
        "Number of bootstrap samples of smooth curves; 0 for none.",
    ] = None
    seed: Annotated[int | None, option(type=click.IntRange(0), metavar="NUMBER", default="0"), "Random seed."] = None

    def check(self, what: str) -> None:
        """Refuse options that have no use."""
        if self.smooth is not None and what != "roc":
            raise click.UsageError(f"--smooth is for roc; leave it out for {what}.")
        stated = given_values(self, ("bandwidth", "n_bootstrap", "seed"))
        if self.smooth is None and stated:
            raise click.UsageError(
                f"{flag_of(next(iter(stated)))} is for smooth curves; add --smooth, or leave it out."
            )

    def compute(self, tallies: "Tallies", *, points: int, level: float) -> "Results":
        """Tabulate the curves."""
        from baserate.infer import smooth_roc_curves

        assert self.smooth is not None  # noqa: S101  (callers have looked)
        stated = given_values(self, ("bandwidth", "n_bootstrap", "seed"))
        return smooth_roc_curves(tallies, method=self.smooth, level=level, points=points, **stated)


def smooth_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of smooth curves: their areas and parameters, then the points of each."""
    format_ = CellFormatter(digits)
    curves: dict[tuple[str | None, str], list[TidyRow]] = {}
    for row in results.rows():
        curves.setdefault((row["model"], str(row["group"])), []).append(row)
    fits = results.data["fits"]
    panels = [_fit_table(fits, results, format_, reading)]
    panels += [
        _point_table(rows, format_, _title(rows[0], reading)) for rows in curves.values() if rows[0]["fpr"] is not None
    ]
    return Page(headline(reading, results.data), tuple(panels), (*format_.reasons.footnotes(), *_describe(results)))


def _fit_table(fits: Sequence[Any], results: "Results", format_: CellFormatter, reading: Reading) -> Table:
    """Return the AUC and the parameters of each curve."""
    rows = [{**each, **each["auc"], "measure": "auc"} for each in fits]
    names = dict.fromkeys(name for each in fits for name in each["parameters"])

    def parameter(name: str, row: TidyRow) -> str:
        value = row["parameters"].get(name)
        return "" if value is None else str(value) if isinstance(value, int) else format_number(value, format_.digits)

    columns: dict[str, Any] = {"AUC": format_.estimate}
    columns |= {name.replace("_", " "): partial(parameter, name) for name in names}
    return list_table(rows, columns, label=lambda row: _title(row, reading), corner=results.data["method"])


def _point_table(rows: Sequence[TidyRow], format_: CellFormatter, title: str) -> Table:
    """Return the points of one curve, a line for each false positive rate."""
    names = {"sensitivity": "TPR", "low": "low", "high": "high", "threshold": "threshold"}
    shown = {name: label for name, label in names.items() if any(row[name] is not None for row in rows)}

    def cell(name: str, row: TidyRow) -> str:
        return format_.mark_undefined(row["why"]) if row[name] is None else format_.number(row[name])

    columns = {label: partial(cell, name) for name, label in shown.items()}
    return list_table(
        rows, columns, label=lambda row: format_number(row["fpr"], format_.digits), corner=f"{title}, FPR", aligned=True
    )


def _title(row: TidyRow, reading: Reading) -> str:
    model = shorten_label(row["model"] or next(iter(reading.score), reading.predicted))
    return f"{describe_group(row['group'])}: {model}" if reading.group else str(model)


def _describe(results: "Results") -> tuple[str, ...]:
    """Describe the columns low and high."""
    if all(fit["auc"]["low"] is None for fit in results.data["fits"]):
        return ()
    level = format_level(results.data["level"])
    return (f"low, high: bounds of TPR at that FPR, pointwise with {level}% confidence ({results.data['how']})",)
