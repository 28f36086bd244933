"""The page reads the compact form of its data without loss."""

from __future__ import annotations

import json
import string
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Costs
from baserate.report._page import fold_zeros, page_payload, render_html
from baserate.report._payload_packing import pack_counts, pack_payload
from tests.report.page.node import Page, find_differences

MOST_BYTES = 175_000
"""Of the data of thirty groups with 20,000 different scores."""


def report_of_towns(groups: int, rows: int, *, weighted: bool = False) -> baserate.Report:
    rng = np.random.default_rng(5)
    truth = rng.random(rows) < 0.3
    risk = 1 / (1 + np.exp(-rng.normal(size=rows) - truth))
    weight = rng.uniform(0.5, 2, rows) if weighted else None
    town = rng.integers(groups, size=rows).astype(str)
    return baserate.evaluate(truth, risk, group={"town": town}, weight=weight, prevalence=0.1, costs=Costs(fp=1, fn=4))


def test_counts_are_read_as_they_were() -> None:
    rng = np.random.default_rng(3)
    page = Page("packing.js")
    for share in (0.01, 0.2, 0.9):
        for most in (2, 5, 90, 10**9):
            row: list[float] = [int(each) for each in rng.integers(1, most, 400) * (rng.random(400) < share)]
            packed = pack_counts(fold_zeros(row))
            if isinstance(packed, str):
                assert set(packed) <= set(string.printable) - set('"\\<>&')
                page.expect(row, "unpackCounts", packed, len(row))
    page.check()


def test_short_rows_and_weights_stay_lists() -> None:
    assert pack_counts([1, -3, 2]) == [1, -3, 2]
    weights = [0.5] * 40
    assert pack_counts(weights) == weights


@pytest.mark.parametrize("weighted", [False, True])
def test_page_unpacks_what_python_packs(*, weighted: bool) -> None:
    payload: dict[str, Any] = json.loads(json.dumps(page_payload(report_of_towns(12, 3000, weighted=weighted))))
    packed = pack_payload(payload)
    page = Page("packing.js", "core.js")
    rows = page.ask("unpackRows", packed["numbers"])
    models = [page.ask("expand", each["models"][0]) for each in (payload, packed)]
    answers = page.answers()
    assert answers[rows.call] == payload["numbers"]
    plain, unpacked = (answers[each.call] for each in models)
    assert find_differences(unpacked, plain, 0) == []
    assert isinstance(packed["models"][0]["positive_mass"][0], list) == weighted


@pytest.mark.slow
def test_thirty_groups_stay_small() -> None:
    text = render_html(report_of_towns(30, 20_000))
    start = text.index('id="payload">')
    assert len(text[start : text.index("</script>", start)]) <= MOST_BYTES
