"""Benchmarks of the HTML page beside fixed limits: its size, its loading time and its response to controls."""

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
from bench._benchmark import Outcome, median_seconds
from bench._chromium import chromium
from bench._scores import positive_scores

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SIZE_LIMITS = {1: 200_000, 30: 350_000}
"""Number of groups -> greatest size of a page, in bytes."""
_WRITE_LIMIT, _LOAD_LIMIT, _CONTROL_LIMIT = 0.3, 0.1, 0.012
"""Greatest times in seconds; a frame at 60 frames per second takes 16 ms."""
_CONTROLS: dict[str, list[object]] = {
    "threshold": [0.2, 0.35, 0.5, 0.65, 0.8],
    "prevalence": [0.001, 0.01, 0.1, 0.3, None],
    "fp": [1, 2, 3, 5, 8],
    "fn": [1, 5, 10, 20, 50],
    "who": [0, 1, 2, -1, 1],
    "parity": ["own", "demographic-parity", "equal-opportunity", "equalized-odds", "single"],
}
"""Control -> the values that it is set to in turn."""
# `performance.now()` counts from the navigation, so the time of the first `data-ready` is the loading time.
_READY_AT = """new MutationObserver(() => { window.readyAt ??= performance.now(); })
  .observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] })"""
_CHANGE_CONTROL = """([name, values]) => values.map(value => {
  const start = performance.now();
  window.baserate.set({ [name]: value });
  document.body.getBoundingClientRect();  // forces the browser to compute the layout now
  return performance.now() - start;
})"""
_SECTIONS = "() => [...document.querySelectorAll('.part')].filter(each => !each.hidden).map(each => each.id)"
_SCROLL = """id => new Promise(done => {
  document.getElementById(id).scrollIntoView({ block: "start", behavior: "instant" });
  setTimeout(done, 100);  // the browser reports a little later which panels are in view
})"""
_COUNT_THRESHOLDS = "() => JSON.parse(document.getElementById('payload').text).models[0].threshold.length"


def make_report(n: int, *, groups: int) -> Report:
    """Evaluate n distinct scores, with an attribute where there are several groups."""
    columns = positive_scores(n)
    names = np.array([f"site {at + 1}" for at in range(groups)])
    site = None if groups == 1 else {"site": names[np.arange(n) % groups]}
    return baserate.evaluate(columns["truth"], columns["score"], group=site, prevalence=0.02, costs=Costs(fp=1, fn=20))


def model_size(n: int, _repeats: int) -> Outcome:
    """Return the size of the page of one model."""
    return Outcome(len(make_report(n, groups=1).html().encode()), _SIZE_LIMITS[1], "bytes")


def groups_size(n: int, _repeats: int) -> Outcome:
    """Return the size of the page of one model and thirty groups."""
    return Outcome(len(make_report(n, groups=30).html().encode()), _SIZE_LIMITS[30], "bytes")


def write_time(n: int, repeats: int) -> Outcome:
    """Time writing the page of a report to a file."""
    report = make_report(n, groups=3)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        (seconds,) = median_seconds([lambda: report.save(path)], repeats)
    return Outcome(seconds, _WRITE_LIMIT)


def load_time(n: int, repeats: int) -> Outcome:
    """Time opening a page, until its controls react and the first panels are drawn."""
    with _open_page(n) as page:
        times = [_time_reload(page) for _ in range(repeats + 1)][1:]  # without the warm-up of the browser
    return Outcome(median(times), _LOAD_LIMIT)


def control_time(n: int, repeats: int) -> Outcome:
    """Time one move of each control and the layout, with each section in view; the result is the slowest median."""
    with _open_page(n) as page:
        _time_reload(page)
        n_thresholds = page.evaluate(_COUNT_THRESHOLDS)
        medians: dict[str, dict[str, float]] = {}
        for section in page.evaluate(_SECTIONS):
            page.evaluate(_SCROLL, section)
            medians[section.removeprefix("part-")] = _time_controls(page, repeats)
    slowest = {section: max(times, key=times.__getitem__) for section, times in medians.items()}
    texts = [f"{section} {medians[section][name]:.1f} ({name})" for section, name in slowest.items()]
    note = f"{n_thresholds} thresholds; milliseconds of the slowest control by section: {', '.join(texts)}"
    return Outcome(max(max(times.values()) for times in medians.values()) / 1e3, _CONTROL_LIMIT, note=note)


def _time_controls(page: Page, repeats: int) -> dict[str, float]:
    """Return the median milliseconds of one move of each control."""
    times: dict[str, list[float]] = {name: [] for name in _CONTROLS}
    for turn in range(repeats + 1):
        for name, values in _CONTROLS.items():
            moves = page.evaluate(_CHANGE_CONTROL, [name, values])
            times[name] += moves if turn else []  # warm-up: the first turn compiles the scripts
    return {name: median(moves) for name, moves in times.items()}


@contextmanager
def _open_page(n: int) -> Iterator[Page]:
    """Open the page of a model and three groups in a browser."""
    with chromium() as browser, TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(make_report(n, groups=3).html(), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(_READY_AT)
        page.goto(path.as_uri())
        yield page
        page.close()


def _time_reload(page: Page) -> float:
    """Return the seconds from the navigation to the end of the first drawing."""
    page.reload()
    page.wait_for_function("() => window.readyAt")
    return float(page.evaluate("() => window.readyAt")) / 1e3
