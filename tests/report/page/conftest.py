"""A browser for the tests that look at the page, one for each worker."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from bench._chromium import MISSING, chromium, find_chromium
from tests.report.page.browser import Opened, change, state
from tests.report.page.pages import Screened, hostile, screened


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if find_chromium() is None:
        if os.environ.get("BASERATE_BROWSER") == "required":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Open pages; in the end, none of them may have asked for anything, complained, or thrown."""
    pages = Opened(browser, tmp_path)
    yield pages
    pages.close()
    assert pages.troubles == []


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Screened:
    return screened(tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="session")
def page_of_people(people: Screened) -> str:
    return people.report.html()


@pytest.fixture(scope="module")
def shared_pages(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    pages = Opened(browser, tmp_path_factory.mktemp("shared"))
    yield pages
    pages.close()


@pytest.fixture(scope="module")
def shared_page(shared_pages: Opened, page_of_people: str) -> tuple[Page, dict[str, Any]]:
    page = shared_pages(page_of_people)
    return page, state(page)


@pytest.fixture
def page(shared_pages: Opened, shared_page: tuple[Page, dict[str, Any]]) -> Iterator[Page]:
    """The page of people, its controls as when it was opened, for tests that move controls and save little."""
    shared, start = shared_page
    change(shared, **start)
    assert state(shared) == start
    yield shared
    assert shared_pages.troubles == []


@pytest.fixture(scope="session")
def page_of_harm() -> str:
    return hostile().html()
