"""Pages in a real browser: open them from a file, record requests and errors, and read what they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Dialog, Download, Page, Request

PANELS = (
    "findings",
    "thousand",
    "measures",
    "scores",
    "roc",
    "pr",
    "thresholds",
    "reliability",
    "benefit",
    "prevalence",
    "cost-map",
)
"""Of every page of one model with probabilities; groups and models have one more each."""
CHARTS = ("scores", "roc", "pr", "thresholds", "reliability", "benefit", "prevalence", "cost-map")
SLIDERS = ("threshold", "flag-rate", "prevalence", "ratio", "fp", "fn")
Scheme = Literal["light", "dark"]
Media = Literal["screen", "print"]
_CONTENTS_SCRIPT = """name => {
  const panel = document.getElementById("panel-" + name);
  const keys = ["d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "width", "height", "transform"];
  const drawn = [...panel.querySelectorAll("svg *")];
  const places = drawn.map(each => keys.map(key => each.getAttribute(key)).join(","));
  const numbers = [...panel.querySelectorAll("[data-value]")].map(each => each.dataset.value);
  return [panel.textContent, ...places, ...numbers].join("\\n");
}"""
_NUMBERS_SCRIPT = """panel => [...document.querySelectorAll(`#panel-${panel} [data-number]`)]
  .map(each => [each.dataset.number, each.dataset.value, each.dataset.low, each.dataset.high])"""


class PageOpener:
    """Opens pages, and records requests, dialogs, console messages and errors of all of them."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self._contexts: list[BrowserContext] = []
        self.troubles: list[str] = []

    def __call__(
        self,
        source: str | Path,
        *,
        width: int = 1280,
        scheme: Scheme = "light",
        media: Media = "screen",
        state: str = "",
        calm: bool = False,
    ) -> Page:
        """Open a file, or the text of one, from the disk; `state` is the fragment of its address."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce" if calm else "no-preference",
            accept_downloads=True,
            offline=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(60_000)  # of a busy machine
        self._contexts.append(context)
        page = context.new_page()
        page.emulate_media(media=media)
        address = self._address(source)
        self._watch(page, address)
        page.goto(address + state)
        page.wait_for_selector("html[data-ready='1'][data-drawn='1']")
        return page

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()

    def _address(self, source: str | Path) -> str:
        if isinstance(source, Path):
            return source.as_uri()
        path = self._folder / f"page-{len(self._contexts)}.html"
        path.write_text(source, encoding="utf-8")
        return path.as_uri()

    def _watch(self, page: Page, address: str) -> None:
        def record_request(request: Request) -> None:
            if request.url.partition("#")[0] != address and not request.url.startswith(("about:", "blob:", "data:")):
                self.troubles.append(f"asked for {request.url}")

        def record_dialog(dialog: Dialog) -> None:
            self.troubles.append(f"opened a dialog: {dialog.message}")
            dialog.dismiss()

        page.on("request", record_request)
        page.on("dialog", record_dialog)
        page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.troubles.append(f"threw: {error}"))


def violations(page: Page) -> list[str]:
    """Return the violations of accessibility rules that axe reports, each with the first elements."""
    result = Axe().run(page).response["violations"]
    return [f"{each['id']}: {[node['html'][:120] for node in each['nodes'][:3]]}" for each in result]


def panel_contents(page: Page, *panels: str) -> dict[str, str]:
    """Return the visible content of panels: text, numbers in full, and the coordinates of all lines."""
    return {name: page.evaluate(_CONTENTS_SCRIPT, name) for name in panels}


def changed_panels(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Return the panels whose content changed."""
    return {name for name, observed in before.items() if after[name] != observed}


def panel_numbers(page: Page, panel: str) -> dict[str, list[float]]:
    """Return the numbers of a panel in full, by their names, in the order of the page."""
    result: dict[str, list[float]] = {}
    for name, value, _, _ in page.evaluate(_NUMBERS_SCRIPT, panel):
        result.setdefault(name, []).append(_number(value))
    return result


def panel_intervals(page: Page, panel: str) -> dict[str, list[tuple[float, float]]]:
    """Return the bounds of the intervals of a panel, by the names of their numbers."""
    result: dict[str, list[tuple[float, float]]] = {}
    for name, _, low, high in page.evaluate(_NUMBERS_SCRIPT, panel):
        if low is not None:
            result.setdefault(name, []).append((_number(low), _number(high)))
    return result


def state(page: Page) -> dict[str, Any]:
    """Return the state of the controls."""
    result: dict[str, Any] = page.evaluate("() => window.baserate.state()")
    return result


def current_threshold(page: Page) -> float:
    """Return the current threshold, exactly as in its box."""
    return float(page.input_value("#threshold-number") or "inf")


def open_details(page: Page) -> None:
    """Open all details, such as tables of data."""
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
    wait_until_drawn(page)


def show_all_controls(page: Page) -> None:
    """Show the controls behind the button "More"."""
    if page.locator("#more-controls").is_hidden():
        page.click("#more")
    wait_until_drawn(page)


def change(page: Page, **settings: object) -> None:
    """Set controls by script, and wait until the page is drawn."""
    page.evaluate("settings => window.baserate.set(settings)", settings)
    wait_until_drawn(page)


def wait_until_drawn(page: Page) -> None:
    """Wait until changes are drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    page.wait_for_selector("html[data-drawn='1']", state="attached")


def overflow_width(page: Page) -> float:
    """Return by how many pixels the page is wider than its window."""
    result: float = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return result


@contextmanager
def read_download(page: Page) -> Iterator[list[str]]:
    """Yield a list that contains the text of the file after a click in the body."""
    texts: list[str] = []
    with page.expect_download() as coming:
        yield texts
    texts.append(download_text(coming.value))


def download_text(download: Download) -> str:
    """Return the text of a downloaded file."""
    return download.path().read_text(encoding="utf-8")


def _number(text: str) -> float:
    """Parse a number of an attribute."""
    return float(text.replace("Infinity", "inf") or "nan")
