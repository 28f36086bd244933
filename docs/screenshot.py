"""Take screenshots of the demo report for the README, at the widths of a desktop and a phone."""

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

SCREENSHOTS = {"report.png": (1440, 1300), "report-phone.png": (390, 844)}
"""File -> width and height of the window."""
_COLORS = 128
"""Colors of the palette: enough for lines and text, at a third of the file size."""
_STATIC = Path(__file__).parent / "_static"


def main() -> None:
    """Write the page, and take a screenshot of each size."""
    with TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "report.html"
        evaluate_file(simulate_screening(), Path(folder) / "people.csv").save(page)
        for name, size in SCREENSHOTS.items():
            screenshot = take_screenshot(browser, page, size)
            with draft_file(_STATIC / name) as draft:
                draft.write_bytes(screenshot)
            print(f"wrote docs/_static/{name}: {len(screenshot) / 1000:.0f} KB")


def take_screenshot(browser: Browser, page: Path, size: tuple[int, int]) -> bytes:
    """Open the page in a window of this size, and return a screenshot as a compressed PNG."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="light",
        reduced_motion="reduce",
        device_scale_factor=2,
    )
    window = context.new_page()
    window.goto(page.as_uri())
    window.wait_for_selector("html[data-drawn='1']")
    image = Image.open(io.BytesIO(window.screenshot(animations="disabled", caret="hide")))
    context.close()
    png = io.BytesIO()
    image.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE).save(png, "PNG", optimize=True)
    return png.getvalue()


if __name__ == "__main__":
    main()
