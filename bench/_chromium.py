"""The browser that pages are measured, tested and photographed in: a Chromium of this machine, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench._row import AbsentError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_RUNNING: list[Browser] = []
ABSENT = f"there is no Chromium on this machine ({', '.join(_NAMES)}); on Debian: apt-get install chromium"


def where() -> str | None:
    """Path of the first Chromium that a shell would find."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start it without a window, and end it; or take the one that runs, since a process can drive one alone."""
    if _RUNNING:
        yield _RUNNING[0]
        return
    from playwright.sync_api import sync_playwright

    path = where()
    if path is None:
        raise AbsentError(ABSENT)
    with sync_playwright() as driver:
        _RUNNING.append(driver.chromium.launch(executable_path=path))
        try:
            yield _RUNNING[0]
        finally:
            _RUNNING.pop().close()
