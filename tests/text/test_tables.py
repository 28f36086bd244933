"""Tables of many rows."""

import pytest

from baserate.text import IntervalCell, Page, Row, Section, Table, _tables


def test_a_row_is_measured_equally_often_in_a_table_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, measured = [], _tables.display_width

    def count(text: str) -> int:
        calls.append(text)
        return measured(text)

    monkeypatch.setattr(_tables, "display_width", count)
    means = []
    for size in (20, 200):
        calls.clear()
        rows = tuple(Row(f"row {at}", (IntervalCell("0.5000", "0.4", "0.60"), "1")) for at in range(size))
        Page("", (Table("corner", ("value", "p"), (Section("", rows),)),)).text(100)
        means.append(len(calls) / size)
    assert means[1] <= means[0]
