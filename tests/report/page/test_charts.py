"""Marks of charts: scales, paths, cells, names and the points that are described."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

from tests.report.page.node import Page

LINEAR = {"domain": [0, 1], "format": "percent", "label": "rate"}


def test_intervals_across_have_caps_and_arrows_where_they_leave_the_axis() -> None:
    page = Page("paths.js")
    across, up = (page.keep("scaleOf", LINEAR, room) for room in ([0, 100], [100, 0]))
    mark = {"x": [0.5, nan], "y": [0.5, 0.1], "left": [0.2, 0], "right": [1.5, 1], "look": "series-1 dash-1"}
    page.ask("dotsPaths", mark, across, up)
    dots, lines = page.answers()[-1]
    assert dots == "M50.0 50.0m-3.3 -3.3h6.6v6.6h-6.6Z"  # the marker of series 1; a point without a value has none
    assert lines == "M20.0 50.0H100.0M20.0 47.0v6M95.0 46.0l5 4l-5 4"


def test_series_differ_in_marker_and_further_series_are_gray() -> None:
    page = Page("paths.js")
    for at in range(10):
        page.ask("seriesLook", at)
        page.ask("markerPath", 0, 0, at)
    answers = page.answers()
    looks, markers = answers[::2], answers[1::2]
    assert looks[:8] == [f"series-{at} dash-{at}" for at in range(8)]
    assert looks[8:] == ["other", "other"]
    assert len(set(markers[:8])) == 8


def test_cells_become_darker_with_their_value_and_undefined_ones_are_absent() -> None:
    page = Page("paths.js")
    across, up = (page.keep("scaleOf", {"domain": [0, 2]}, room) for room in ([0, 100], [100, 0]))
    mark: dict[str, Any] = {"edgesX": [0, 1, 2], "edgesY": [0, 1, 2], "values": [0, 1, nan, 0.5]}
    page.expect(
        [
            ["above shade-0", "M0.0 100.0H50.0V50.0H0.0Z"],
            ["above shade-5", "M50.0 50.0H100.0V0.0H50.0Z"],
            ["above shade-9", "M50.0 100.0H100.0V50.0H50.0Z"],
        ],
        "cellPaths",
        mark | {"colors": {"domain": [0, 1]}},
        across,
        up,
        10,
    )
    both_sides = mark | {"values": [-1, -0.4, 0.4, 2], "colors": {"domain": [-1, 2], "middle": 0}}
    page.ask("cellPaths", both_sides, across, up, 10)
    *_, looks = page.check()
    assert [look for look, _ in looks] == ["above shade-2", "above shade-9", "below shade-2", "below shade-5"]


def test_names_on_the_vertical_axis_run_downwards() -> None:
    page = Page("paths.js")
    up = page.keep("scaleOf", page.keep("categoryAxis", ["a", "b"], "up"), [100, 0])
    page.ask("scaleOf", page.keep("categoryAxis", ["a", "b"], "across", "predicted"), [0, 100])
    line = page.ask("pathOf", [0, 1], [0, 1], page.keep("scaleOf", LINEAR, [0, 10]), up, False)  # noqa: FBT003
    answers = page.answers()
    assert answers[line.call] == "M0 25L10 75"
    across = next(each for each in answers if isinstance(each, dict))
    assert [tick["text"] for tick in across["ticks"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ([50, 10, 90], [50, 10, 90]),
        ([50, 50, 50], [50, 63, 76]),
        ([99, 98, 97], [100, 87, 74]),
        ([], []),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [10 * at for at in range(11)]),
    ],
)
def test_labels_are_a_line_apart_and_in_order(wanted: list[float], places: list[float]) -> None:
    page = Page("marks.js")
    page.expect(places, "spread", wanted, 0, 100)
    page.check()


@pytest.mark.parametrize(
    ("mark", "index", "text"),
    [
        ({"kind": "dots", "label": "now", "x": [0.25], "y": [0.5]}, 0, "now\nrate: 25.0%\nloss: 0.5000"),
        (
            {"kind": "dots", "label": "bin", "x": [0.25], "y": [0.5], "low": [0.4], "high": [0.625]},
            0,
            "bin\nrate: 25.0%\nloss: 0.5000 (0.4000 to 0.6250)",
        ),
        (
            {"kind": "intervals", "x": [0.25], "y": [0.5], "left": [0.2], "right": [0.4]},
            0,
            "rate: 25.0% (20.0 to 40.0)\nloss: 0.5000",
        ),
        ({"kind": "line", "x": [nan, 0.1], "y": [0.2, 0.3]}, 0, "rate: 10.0%\nloss: 0.3000"),
        (
            {"kind": "bars", "label": "positives", "edges": [0, 0.5, 1], "heights": [0.1, 0.2]},
            1,
            "positives\nrate: 75.0%\nloss: 0.2000",
        ),
        (
            {"kind": "cells", "label": "cost", "edgesX": [0, 0.5, 1], "edgesY": [0, 1], "values": [3, 4.5],
             "colors": {"domain": [0, 5]}},
            1,
            "rate: 75.0%\nloss: 0.5000\ncost: 4.500",
        ),
    ],
)  # fmt: skip
def test_points_of_every_mark_are_described(mark: dict[str, Any], index: int, text: str) -> None:
    page = Page("probe.js")
    spec = {"x": LINEAR, "y": {"domain": [0, 1], "label": "loss"}, "marks": []}
    page.expect(text, "describePoint", spec, page.keep("pointsOf", {"key": "a", **mark}).part(index))
    page.check()


def test_names_are_described_without_the_label_of_their_axis() -> None:
    page = Page("probe.js", "paths.js")
    names = page.keep("categoryAxis", ["north", "south"], "up", "site")
    mark = {"key": "a", "kind": "intervals", "label": "FPR", "x": [0.2, 0.3], "y": [0, 1], "left": [0, 0.1]}
    points = page.keep("pointsOf", mark | {"right": [0.5, 0.6]})
    page.expect("FPR\nsouth\nrate: 30.0% (10.0 to 60.0)", "describePoint", {"x": LINEAR, "y": names}, points.part(1))
    ticks = LINEAR | {"ticks": [{"at": 0.5, "text": "half"}]}
    dots = page.keep("pointsOf", {"kind": "dots", "x": [0.5], "y": [0]})
    page.expect("north\nrate: half", "describePoint", {"x": ticks, "y": names}, dots.part(0))
    page.check()


def test_reference_lines_are_not_described() -> None:
    page = Page("probe.js")
    line = {"key": "a", "x": [0, 1], "y": [0, 1]}
    page.ask("pointsOf", {**line, "kind": "line", "look": "faint"})
    page.ask("pointsOf", {**line, "kind": "rule", "look": "series-0"})
    page.ask("pointsOf", {**line, "kind": "line", "look": "series-0 dash-0"})
    page.ask("pointsOf", {"kind": "line", "x": list(range(1000)), "y": list(range(1000))})
    *references, own, long = page.answers()
    assert references == [[], []]
    assert len(own) == 2
    assert len(long) == 60
    assert long[-1]["at"] == 999
