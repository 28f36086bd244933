"""Photograph the page of the demo, as a desk and a phone show it, for the README."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PIL import Image

from baserate._files import draft_file
from baserate.population import simulate_screening
from bench._chromium import chromium
from examples.screening.__main__ import evaluate_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = {"report.png": (1440, 1300), "report-phone.png": (390, 844)}
"""File -> width and height of the window."""
_COLOURS = 128
"""Enough for lines and text, and a third of the bytes."""
_HOME = Path(__file__).parent / "_static"


def main() -> None:
    """Make the page, and a picture of each width."""
    with TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "report.html"
        evaluate_file(simulate_screening(), Path(folder) / "people.csv").save(page)
        for name, size in PICTURES.items():
            picture = taken(browser, page, size)
            with draft_file(_HOME / name) as draft:
                draft.write_bytes(picture)
            print(f"wrote docs/_static/{name}: {len(picture) / 1000:.0f} KB")


def taken(browser: Browser, page: Path, size: tuple[int, int]) -> bytes:
    """Show a page in a window of this size, and return the picture as a small PNG."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="light",
        reduced_motion="reduce",
        device_scale_factor=2,
    )
    window = context.new_page()
    window.goto(page.as_uri())
    window.wait_for_selector("html[data-ready='1']")
    shot = Image.open(io.BytesIO(window.screenshot(animations="disabled", caret="hide")))
    context.close()
    small = io.BytesIO()
    shot.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    main()
