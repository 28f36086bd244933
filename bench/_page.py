"""Rows about the page: how large it is, how soon it is there, and how fast it moves, each beside what it may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

import baserate
from baserate import Costs, Report
from bench._chromium import chromium
from bench._row import Outcome, medians
from bench._scores import positive_scores

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SIZES = {1: 300_000, 3: 500_000}
"""Number of groups -> bytes that a page may have."""
_WRITING, _READY, _CHANGE = 0.3, 0.4, 0.016
"""Seconds that it may take."""
_MOVES: dict[str, list[object]] = {
    "threshold": [0.2, 0.35, 0.5, 0.65, 0.8],
    "prevalence": [0.001, 0.01, 0.1, 0.3, None],
    "fp": [1, 2, 3, 5, 8],
    "fn": [1, 5, 10, 20, 50],
    "who": [0, 1, 2, -1, 1],
    "parity": ["own", "demographic-parity", "equal-opportunity", "equalized-odds", "single"],
}
"""Control -> what it is set to, one after the other."""
_READY_AT = """new MutationObserver(() => { window.readyAt ??= performance.now(); })
  .observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] })"""
_MOVED = """([name, values]) => values.map(value => {
  const start = performance.now();
  window.baserate.set({ [name]: value });
  const script = performance.now() - start;
  document.body.getBoundingClientRect();  // what was changed is laid out, too
  return [script, performance.now() - start];
})"""
_KEPT = "() => JSON.parse(document.getElementById('payload').text).models[0].threshold.length"


def made(n: int, *, groups: int) -> Report:
    """Report on n different scores; a single group is none."""
    columns = positive_scores(n)
    site = None if groups == 1 else {"site": np.array(["north", "coast", "hill"])[np.arange(n) % groups]}
    return baserate.evaluate(columns["truth"], columns["score"], group=site, prevalence=0.02, costs=Costs(fp=1, fn=20))


def one(n: int, _repeats: int) -> Outcome:
    """Weigh a page of one model."""
    return Outcome(len(made(n, groups=1).html().encode()), _SIZES[1], "bytes")


def three(n: int, _repeats: int) -> Outcome:
    """Weigh a page of one model in three groups."""
    return Outcome(len(made(n, groups=3).html().encode()), _SIZES[3], "bytes")


def written(n: int, repeats: int) -> Outcome:
    """Write a page to a file, when the report is there."""
    report = made(n, groups=3)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        (seconds,) = medians([lambda: report.save(path)], repeats)
    return Outcome(seconds, _WRITING)


def ready(n: int, repeats: int) -> Outcome:
    """Open a page, until its first drawing is done."""
    with _opened(n) as page:
        times = [_reloaded(page) for _ in range(repeats + 1)][1:]  # the first one warms the browser up
    return Outcome(median(times), _READY)


def moved(n: int, repeats: int) -> Outcome:
    """Change each control: how long scripts take, and until everything is laid out; the slowest control counts."""
    with _opened(n) as page:
        _reloaded(page)
        kept = page.evaluate(_KEPT)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in _MOVES}
        for turn in range(repeats + 1):
            for name, values in _MOVES.items():
                times = page.evaluate(_MOVED, [name, values])
                found[name] += times if turn else []  # the first turn is compiled
    middle = {name: median(script for script, _ in times) for name, times in found.items()}
    told = [
        f"{name} {middle[name]:.1f} (at most {max(times)[0]:.1f}; laid out {median(all_ for _, all_ in times):.1f})"
        for name, times in found.items()
    ]
    return Outcome(
        max(middle.values()) / 1e3, _CHANGE, note=f"{kept} thresholds; milliseconds of script: {', '.join(told)}"
    )


@contextmanager
def _opened(n: int) -> Iterator[Page]:
    """Show a page of three groups in a browser."""
    with chromium() as browser, TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(made(n, groups=3).html(), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(_READY_AT)
        page.goto(path.as_uri())
        yield page
        page.close()


def _reloaded(page: Page) -> float:
    """Seconds from the navigation to the first drawing."""
    page.reload()
    page.wait_for_function("() => window.readyAt")
    return float(page.evaluate("() => window.readyAt")) / 1e3
