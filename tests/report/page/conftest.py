"""Fixtures of the page: a browser for each worker, and pages."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from bench._chromium import MISSING, chromium, find_chromium
from tests.report.page.browser import PageOpener, change, show_all_controls, state
from tests.report.page.pages import ScreeningReport, hostile_report, screening_report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if find_chromium() is None:
        if os.environ.get("BASERATE_BROWSER") == "required":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with chromium() as started:
        yield started


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[PageOpener]:
    """Open pages; at the end, none of them may have sent a request, logged a message or thrown an error."""
    pages = PageOpener(browser, tmp_path)
    yield pages
    pages.close()
    assert pages.troubles == []


@pytest.fixture(scope="session")
def screening(tmp_path_factory: pytest.TempPathFactory) -> ScreeningReport:
    return screening_report(tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="session")
def screening_page(screening: ScreeningReport) -> str:
    return screening.report.html()


@pytest.fixture(scope="module")
def shared_opener(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageOpener]:
    pages = PageOpener(browser, tmp_path_factory.mktemp("shared"))
    yield pages
    pages.close()


@pytest.fixture(scope="module")
def shared_page(shared_opener: PageOpener, screening_page: str) -> tuple[Page, dict[str, Any]]:
    page = shared_opener(screening_page)
    show_all_controls(page)
    return page, state(page)


@pytest.fixture
def page(shared_opener: PageOpener, shared_page: tuple[Page, dict[str, Any]]) -> Iterator[Page]:
    """The page of the screening, with its first state, for tests that change controls and save few files."""
    shared, start = shared_page
    change(shared, **start)
    assert state(shared) == start
    yield shared
    assert shared_opener.troubles == []


@pytest.fixture(scope="session")
def hostile_page() -> str:
    return hostile_report().html()


@pytest.fixture(scope="session")
def compas() -> dict[str, Any]:
    """COMPAS: labels, deciles in tenths, and races."""
    folder = os.environ.get("BASERATE_REFERENCE_DATA")
    if not folder:
        pytest.skip("BASERATE_REFERENCE_DATA is not set")
    with (Path(folder) / "compas.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    return {
        "again": [row["two_year_recid"] == "1" for row in rows],
        "decile": [float(row["decile_score"]) / 10 for row in rows],
        "race": [row["race"] for row in rows],
        "published": json.loads((Path(folder) / "compas_reference.json").read_text())["published_propublica"],
    }
