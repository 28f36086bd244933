"""Chromium, driven by Playwright, for benchmarks, tests and screenshots of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench._benchmark import MissingToolError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_RUNNING: list[Browser] = []
MISSING = f"Chromium is not installed ({', '.join(_PROGRAMS)}). On Debian: apt-get install chromium"


def find_chromium() -> str | None:
    """Return the path of the first Chromium on the PATH."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless browser and close it afterwards; nested uses share the browser."""
    # Playwright starts an event loop, and refuses a second one in the same thread.
    if _RUNNING:
        yield _RUNNING[0]
        return
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        raise MissingToolError(MISSING)
    with sync_playwright() as driver:
        _RUNNING.append(driver.chromium.launch(executable_path=path))
        try:
            yield _RUNNING[0]
        finally:
            _RUNNING.pop().close()
