"""`baserate groups --multicalibration`: options, results and page of tests in overlapping groups."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Literal

import click

from baserate._domains import BINS
from baserate._formatting import count_of, format_count, format_level, format_p, format_percent
from baserate.cli._declarations import option, refuse_given
from baserate.cli._values import whole_number
from baserate.text import (
    CellFormatter,
    CellWriter,
    Explanation,
    Page,
    Table,
    TidyRow,
    group_heading,
    list_table,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies

MOST = 20
"""Groups of one model that the table shows: those with the strongest evidence."""
_OF_COMPARISONS = (
    *("threshold", "policy", "measures", "prevalence", "reference"),
    *("ratios", "control", "intersections"),
)
"""Options of comparisons of decisions, which tests of calibration do not have."""
_ADJUSTMENTS = {
    "max": "the greatest statistic of all groups in {} simulations of a calibrated model (family-wise error rate)",
    "holm": "Holm's method (family-wise error rate)",
    "by": "the method of Benjamini and Yekutieli (false discovery rate)",
    "bh": "the method of Benjamini and Hochberg (false discovery rate)",
}
_MEANING = (
    "z: observed less expected positives, over their standard deviation if the model is calibrated. Intervals invert "
    "this test; simultaneous ones hold for all tested groups at once. Adjusted p-values: by {}."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticalibrationOptions:
    """Options of tests of calibration in overlapping groups."""

    multicalibration: Annotated[
        bool, "Tests of calibration in all values of the columns and their intersections, in place of comparisons."
    ] = False
    depth: Annotated[
        int | None,
        option(type=click.IntRange(1), metavar="NUMBER", default="2"),
        "Greatest number of columns that an intersection combines, with --multicalibration.",
    ] = None
    score_bins: Annotated[
        int | None,
        option(type=whole_number(BINS), metavar="NUMBER", default="all scores alone"),
        "Score ranges within which each group is tested, too, with --multicalibration.",
    ] = None
    adjust: Annotated[
        Literal["max", "holm", "by", "bh"] | None,
        option(default="max"),
        "Adjustment of p-values over all groups, with --multicalibration.",
    ] = None

    def __post_init__(self) -> None:
        if not self.multicalibration:
            message = "{} is for --multicalibration; give --multicalibration, too, or leave out {}."
            refuse_given(self, ("depth", "score_bins", "adjust"), message)

    def check(self, others: object) -> None:
        """Refuse options of comparisons."""
        message = "{} is for comparisons; leave out {} or --multicalibration."
        refuse_given(others, _OF_COMPARISONS, message)
        if getattr(others, "relative_to", "reference") != "reference":
            raise click.UsageError(message.replace("{}", "--relative-to"))

    def run(self, tallies: "Tallies", *, level: float, seed: int, min_group: int, n_simulations: int) -> "Results":
        """Test all groups."""
        from baserate import fairness

        return fairness.multicalibration(
            tallies,
            depth=2 if self.depth is None else self.depth,
            bins=self.score_bins,
            adjust=self.adjust or "max",
            min_group=min_group,
            level=level,
            n_simulations=n_simulations,
            seed=seed,
        )


def multicalibration_page(results: "Results", line: str, digits: int) -> Page:
    """Return the page: for each model the groups with the strongest evidence, and the greatest difference."""
    layout = _MulticalibrationPage(results, digits)
    panels: list[Table | str] = []
    for model in dict.fromkeys(row["model"] for row in layout.rows):
        panels += layout.panels(model)
    data = results.data
    how = _ADJUSTMENTS[data["adjust"]].format(format_count(data["simulations"], 4))
    level = f"Intervals: {format_level(data['level'])}% confidence, of each group alone."
    return Page(line, tuple(panels), (level, Explanation(_MEANING.format(how))))


class _MulticalibrationPage:
    """Rows, and the formatter of their cells."""

    def __init__(self, results: "Results", digits: int) -> None:
        self.rows, self.data, self.format = results.rows(), results.data, CellFormatter(digits)
        pairs = {(column, str(label)) for row in self.rows for column, label in (row["group"] or {}).items()}
        n_columns = Counter(label for _, label in pairs)
        self.ambiguous = {label for label, times in n_columns.items() if times > 1}

    def panels(self, model: str | None) -> tuple[Table | str, ...]:
        """Return a sentence on all tests, the table of one model, and the bound of its differences."""
        rows = [row for row in self.rows if row["model"] == model and row["rank"] is not None]
        shown = rows[:MOST]
        of = "" if model is None else f"{shorten_label(model)}: "
        return (
            f"{of}{self._describe_tests(rows)}",
            self._table(shown, f"{len(shown)} of {len(rows)} groups" if len(shown) < len(rows) else "group"),
            self._describe_bound(model),
        )

    def _table(self, rows: Sequence[TidyRow], corner: str) -> Table:
        """Return a line for each group: rows, means, their difference, and the adjusted p-value."""
        columns: dict[str, CellWriter] = {
            "rows": lambda row: format_count(row["rows"], 4),
            "observed": lambda row: self.format.number(row["observed"]),
            "expected": lambda row: self.format.number(row["expected"]),
            "difference": self.format.estimate,
            "adjusted p": lambda row: format_p(row["p_adjusted"], is_bound=row["p_is_bound"]),
        }
        return list_table(rows, columns, label=self._label, corner=corner)

    def _describe_tests(self, rows: Sequence[TidyRow]) -> str:
        """Describe how many groups differ from their scores by more than chance."""
        alpha = 1 - self.data["level"]
        n_significant = sum(row["p_adjusted"] <= alpha + 1e-12 for row in rows)
        return (
            f"{n_significant} of {count_of(len(rows), 'tested group')} {'is' if n_significant == 1 else 'are'} "
            f"miscalibrated at level {alpha:.3g}, adjusted for all of them. The strongest evidence first:"
        )

    def _describe_bound(self, model: str | None) -> str:
        """Describe the greatest difference and the bound of all."""
        largest = self.data["largest"][next(iter(self.data["largest"])) if model is None else model]
        label, ends = self._label(largest), itemgetter("low_simultaneous", "high_simultaneous")(largest)
        low, high = map(self.format.number, ends)
        return (
            f"Greatest difference: {self.format.number(largest['value'])} in {label} (simultaneous interval {low} to "
            f"{high}). No tested group differs by more than {self.format.number(largest['bound'])}, at confidence "
            f"{format_percent(self.data['level'], 0)}."
        )

    def _label(self, row: TidyRow) -> str:
        """Return the labels of a group, with their columns where several have one label, and its range of scores."""
        group = row["group"] or {}
        name = group_heading(row["group"])
        if any(str(label) in self.ambiguous for label in group.values()):
            name = ", ".join(f"{shorten_label(column)} = {shorten_label(label)}" for column, label in group.items())
        lower, upper = (None if row[end] is None else self.format.short(row[end]) for end in ("lower", "upper"))
        if lower is None and upper is None:
            return name
        if lower is None or upper is None:
            return f"{name}, score {f'< {upper}' if lower is None else f'≥ {lower}'}"
        return f"{name}, {lower} ≤ score < {upper}"
