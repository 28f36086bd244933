"""Pages in a real browser: opened from a file, watched all the while, and asked for what they show."""

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
)
"""Of every page of one model with probabilities; groups and models have one more each."""
CHARTS = ("scores", "roc", "pr", "thresholds", "reliability", "benefit", "prevalence")
SLIDERS = ("threshold", "flag-rate", "prevalence", "fp", "fn")
Scheme = Literal["light", "dark"]
Media = Literal["screen", "print"]
_SHOWN = """name => {
  const panel = document.getElementById("panel-" + name);
  const keys = ["d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "width", "height", "transform"];
  const drawn = [...panel.querySelectorAll("svg *")];
  const places = drawn.map(each => keys.map(key => each.getAttribute(key)).join(","));
  const numbers = [...panel.querySelectorAll("[data-value]")].map(each => each.dataset.value);
  return [panel.textContent, ...places, ...numbers].join("\\n");
}"""
_NUMBERS = """panel => [...document.querySelectorAll(`#panel-${panel} [data-number]`)]
  .map(each => [each.dataset.number, each.dataset.value, each.dataset.low, each.dataset.high])"""


class Opened:
    """Opens pages, and keeps a list of all that went wrong in any of them."""

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
        """Open a file, or the text of one, from the disk; `state` is what stands behind the # of its address."""
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
        page.wait_for_selector("html[data-ready='1']")
        return page

    def close(self) -> None:
        """Close what was opened."""
        for context in self._contexts:
            context.close()

    def _address(self, source: str | Path) -> str:
        if isinstance(source, Path):
            return source.as_uri()
        path = self._folder / f"page-{len(self._contexts)}.html"
        path.write_text(source, encoding="utf-8")
        return path.as_uri()

    def _watch(self, page: Page, address: str) -> None:
        def asked(request: Request) -> None:
            if request.url.partition("#")[0] != address and not request.url.startswith(("about:", "blob:", "data:")):
                self.troubles.append(f"asked for {request.url}")

        def spoke(dialog: Dialog) -> None:
            self.troubles.append(f"opened a dialog: {dialog.message}")
            dialog.dismiss()

        page.on("request", asked)
        page.on("dialog", spoke)
        page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.troubles.append(f"threw: {error}"))


def violations(page: Page) -> list[str]:
    """What axe finds, each with the places where."""
    result = Axe().run(page).response["violations"]
    return [f"{each['id']}: {[node['html'][:120] for node in each['nodes'][:3]]}" for each in result]


def shown(page: Page, *panels: str) -> dict[str, str]:
    """All that can be seen of panels: their words, numbers in full, and where every line lies."""
    return {name: page.evaluate(_SHOWN, name) for name in panels}


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Panels that look otherwise now."""
    return {name for name, observed in before.items() if after[name] != observed}


def numbers(page: Page, panel: str) -> dict[str, list[float]]:
    """Numbers of a panel in full, by their names, in the order of the page."""
    result: dict[str, list[float]] = {}
    for name, value, _, _ in page.evaluate(_NUMBERS, panel):
        result.setdefault(name, []).append(_number(value))
    return result


def intervals(page: Page, panel: str) -> dict[str, list[tuple[float, float]]]:
    """Ends of the intervals of a panel, by the names of their numbers."""
    result: dict[str, list[tuple[float, float]]] = {}
    for name, _, low, high in page.evaluate(_NUMBERS, panel):
        if low is not None:
            result.setdefault(name, []).append((_number(low), _number(high)))
    return result


def state(page: Page) -> dict[str, Any]:
    """What the controls say."""
    result: dict[str, Any] = page.evaluate("() => window.baserate.state()")
    return result


def cut(page: Page) -> float:
    """The cut-off that is in use: the exact score in the box."""
    return float(page.input_value("#threshold-number") or "inf")


def unfolded(page: Page) -> None:
    """Open all that can be opened, tables too."""
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
    settled(page)


def change(page: Page, **settings: object) -> None:
    """Set controls from outside, and wait until it is drawn."""
    page.evaluate("settings => window.baserate.set(settings)", settings)
    settled(page)


def settled(page: Page) -> None:
    """Wait until what was changed is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def wider(page: Page) -> float:
    """Pixels that the page is wider than its window."""
    result: float = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return result


@contextmanager
def downloading(page: Page) -> Iterator[list[str]]:
    """Click within, and find the text of the file afterwards."""
    texts: list[str] = []
    with page.expect_download() as coming:
        yield texts
    texts.append(text_of(coming.value))


def text_of(download: Download) -> str:
    """The text of a file that was saved."""
    return download.path().read_text(encoding="utf-8")


def _number(text: str) -> float:
    """A number as an attribute spells it."""
    return float(text.replace("Infinity", "inf") or "nan")
