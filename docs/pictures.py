"""Image scraper for Sphinx-Gallery: saves the figure that a block of code returns."""

from typing import Any

from sphinx_gallery.scrapers import figure_rst

from baserate.draw import Drawing


def scrape_drawing(_block: object, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save the figure that a block ends with, if any; Sphinx-Gallery stores the last value as `___`."""
    drawing = variables["example_globals"].get("___")
    if not isinstance(drawing, Drawing):
        return ""
    path = next(variables["image_path_iterator"])
    drawing.save(path, dpi=140)
    variables["example_globals"]["___"] = None  # otherwise Sphinx-Gallery shows it twice
    return str(figure_rst([path], settings["src_dir"]))
