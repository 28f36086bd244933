"""Pivot of tidy rows to tables, and the formatter of cells."""

from operator import itemgetter
from typing import Any

import click
import pytest

from baserate.text import (
    CellFormatter,
    IntervalCell,
    Page,
    Pivot,
    Row,
    confusion_table,
    group_heading,
    group_key,
    list_table,
    mark_cell,
    measure_label,
    split_when_narrow,
)

METHOD = {"level": 0.95, "how": "Wilson", "why": None}


def tidy_rows(**values: dict[str, float | None]) -> list[dict[str, Any]]:
    """Tidy rows from measure -> model -> value."""
    return [
        {"measure": measure, "model": model, "value": value, "low": None, "high": None, "level": None, "why": "0/0"}
        for measure, by_model in values.items()
        for model, value in by_model.items()
    ]


def make_pivot(formatter: CellFormatter, **more: Any) -> Pivot:  # noqa: ANN401  (fields of a pivot)
    return Pivot(line=itemgetter("measure"), column=itemgetter("model"), cell=formatter.estimate, **more)


def test_lines_and_columns_stand_in_the_order_of_their_first_rows() -> None:
    table = make_pivot(CellFormatter(4)).table(
        tidy_rows(auc={"b": 0.75, "a": 0.5}, flag_rate={"a": 0.25}), corner="models"
    )
    assert (table.corner, table.columns) == ("models", ("b", "a"))
    assert table.sections[0].rows == (Row("AUC", ("0.7500", "0.5000")), Row("flag rate", ("", "0.2500")))


def test_columns_can_be_chosen_and_named() -> None:
    tidy = tidy_rows(auc={"b": 0.75, "a": 0.5, "c": 0.25})
    table = make_pivot(CellFormatter(4), heading=str.upper).table(tidy, columns=["a", "b", "d"])
    assert table.columns == ("A", "B", "D")
    assert table.sections[0].rows[0].cells == ("0.5000", "0.7500", "")


def test_sections_have_titles_and_an_alignment_of_their_own() -> None:
    tidy = tidy_rows(tp={"a": 3.0}, auc={"a": 0.5}, fp={"a": 4.0})
    layout = make_pivot(
        CellFormatter(4),
        section=lambda row: "counts" if row["measure"] in {"tp", "fp"} else "ranks",
        title={"counts": "", "ranks": "over all thresholds"}.__getitem__,
        apart={"counts"},
    )
    counts, ranks = layout.table(tidy).sections
    assert [row.name for row in counts.rows] == ["tp", "fp"]
    assert (counts.title, counts.apart) == ("", True)
    assert (ranks.title, ranks.apart, len(ranks.rows)) == ("over all thresholds", False, 1)


def test_meanings_stand_beside_a_single_column_only() -> None:
    layout = make_pivot(CellFormatter(4), meaning=lambda measure: f"What {measure} is.")
    assert layout.table(tidy_rows(auc={"a": 0.5})).sections[0].rows[0].meaning == "What auc is."
    assert layout.table(tidy_rows(auc={"a": 0.5, "b": 0.5})).sections[0].rows[0].meaning == ""


def test_the_last_row_of_a_cell_wins() -> None:
    tidy = tidy_rows(auc={"a": 0.5}) + tidy_rows(auc={"a": 0.75})
    assert make_pivot(CellFormatter(4)).table(tidy).sections[0].rows[0].cells == ("0.7500",)


def test_undefined_numbers_get_footnotes_in_the_order_of_their_cells() -> None:
    formatter = CellFormatter(4)
    tidy = tidy_rows(auc={"a": None, "b": None}, precision={"a": None})
    tidy[1]["why"] = "no negatives"
    table = make_pivot(formatter).table(tidy)
    assert [row.cells for row in table.sections[0].rows] == [("–¹", "–²"), ("–¹", "")]
    assert formatter.footnotes(None, {}) == ("¹ 0/0", "² no negatives")


def test_intervals_are_shorter_beside_others_and_explained_once() -> None:
    formatter = CellFormatter(4)
    row = {"measure": "sensitivity", "value": 0.5, "low": 0.25, "high": 0.75, **METHOD}
    assert formatter.estimate(row) == IntervalCell("0.5000", "0.250", "0.750")
    assert formatter.estimate(row, several=False) == IntervalCell("0.5000", "0.2500", "0.7500")
    assert formatter.value(row) == "0.5000"
    assert formatter.estimate(None) == formatter.value(None) == ""
    data = {"interval": {"level": 0.95, "clusters": False}}
    assert formatter.footnotes(None, data) == ("95% intervals: Wilson.",)
    assert formatter.footnotes([], data) == ()


def test_averages_mark_omitted_classes() -> None:
    formatter = CellFormatter(4)
    row = {"measure": "f1", "value": 0.5, "low": None, "level": None, "how": "macro, without cat", "why": None}
    assert formatter.average(row) == "0.5000¹"
    assert formatter.reasons.footnotes() == ("¹ without cat",)
    assert formatter.average({**row, "value": None, "why": "no rows"}) == "–²"


def test_cells_of_counts_and_p_values() -> None:
    formatter = CellFormatter(4)
    assert formatter.count({"value": 1200.0}) == "1,200"
    assert (formatter.number(0.5), formatter.number(None)) == ("0.5000", "–")
    row = {"p": 0.0123, "p_adjusted": None, "p_is_bound": False}
    assert (formatter.p_value(row), formatter.p_value(row, "p_adjusted")) == ("0.012", "–")
    assert mark_cell(IntervalCell("0.5", "0.4", "0.6"), "*") == IntervalCell("0.5*", "0.4", "0.6")


@pytest.mark.parametrize("referred", [False, True])
def test_a_confusion_matrix_has_truth_in_rows_and_totals(referred: bool) -> None:  # noqa: FBT001  (a parameter of pytest)
    counts = {
        "tp": 5,
        "fn": 3,
        "fp": 2,
        "tn": 10,
        **({"referred_positives": 1, "referred_negatives": 4} if referred else {}),
    }
    classes = {"positive": "sick", "negative": "healthy"}
    table = confusion_table("risk ≥ 0.5", classes, counts, lambda *cells: str(sum(counts[cell] for cell in cells)))
    middle = ("referred",) if referred else ()
    assert table.columns == ("flagged", *middle, "not flagged", "total")
    lines = {row.name: [int(str(cell)) for cell in row.cells] for row in table.sections[0].rows}
    assert lines["sick"] == ([5, 1, 3, 9] if referred else [5, 3, 8])
    assert lines["total"] == [sum(pair) for pair in zip(lines["sick"], lines["healthy"], strict=True)]
    assert table.upright
    assert "risk ≥ 0.5" in Page("", (table,)).text(80)


def test_groups_and_measures_in_words() -> None:
    assert group_key({"group": {"site": "north", "sex": "f"}}) == (("site", "north"), ("sex", "f"))
    assert group_key({"group": None}) is None
    assert [group_heading(group) for group in (None, (("site", "north"),))] == ["everybody", "north"]
    assert group_heading((("site", "everybody"),)) == "'everybody'"
    assert measure_label("flag_rate") == "flag rate"


def test_each_row_of_a_list_has_a_line_in_its_section() -> None:
    formatter = CellFormatter(4)
    tidy = [{"curve": "a", "at": 0.5, "cost": 0.25, "n": 3.0}, {"curve": "b", "at": 10, "cost": None, "n": 4.0}]
    columns = {"cost": formatter.field("cost", why="no cost"), "n": formatter.count_field("n")}
    table = list_table(tidy, columns, label=lambda row: str(row["at"]), section=itemgetter("curve"), corner="at")
    assert (table.corner, table.columns) == ("at", ("cost", "n"))
    assert [section.title for section in table.sections] == ["a", "b"]
    assert table.sections[1].rows == (Row("10", ("–¹", "4")),)
    assert formatter.reasons.footnotes() == ("¹ no cost",)


def test_numbers_that_name_lines_are_aligned_in_each_section() -> None:
    tidy = [{"at": "0.5"}, {"at": "10"}]
    (section,) = list_table(tidy, {}, label=itemgetter("at"), aligned=True).sections
    assert [row.name for row in section.rows] == [" 0.5", "10  "]


def test_a_narrow_terminal_splits_a_table_by_columns() -> None:
    columns = {f"column {at}": lambda _row: "0.1234" for at in range(5)}
    table = list_table([{}, {}], columns, label=lambda _row: "line", meaning=lambda _row: "what it means")
    narrow = split_when_narrow(table).narrow
    assert narrow is not None
    assert [row.meaning for row in narrow.sections[0].rows] == ["", ""]
    shown = click.unstyle(Page("", (split_when_narrow(table),)).text(30))
    assert max(map(len, shown.splitlines())) <= 30
    assert [line.split()[0] for line in shown.splitlines() if "line" in line] == ["line"] * 6


def test_a_short_number_is_exact_and_a_long_one_rounded() -> None:
    assert [CellFormatter(4).short(value) for value in (0.125, 1 / 3)] == ["0.125", "0.3333"]


def test_a_headline_breaks_between_words_where_a_part_is_wider_than_the_terminal() -> None:
    shown = click.unstyle(Page("one.csv · doubtful: estimates of the prevalence disagree", ()).text(30))
    assert max(map(len, shown.splitlines())) <= 30
    assert " ".join(shown.split()) == "one.csv · doubtful: estimates of the prevalence disagree"
