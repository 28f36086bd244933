"""Scraper of Sphinx-Gallery: it saves the drawing that a block of a program ends with."""

from typing import Any

from sphinx_gallery.scrapers import figure_rst

from baserate.draw import Drawing


def scrape_drawing(_block: object, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save the drawing that a block ends with; Sphinx-Gallery stores the last value of a block as `___`."""
    drawing = variables["example_globals"].get("___")
    if not isinstance(drawing, Drawing):
        return ""
    path = next(variables["image_path_iterator"])
    drawing.save(path, dpi=140)
    variables["example_globals"]["___"] = None  # a later block without a value would show it again
    return str(figure_rst([path], settings["src_dir"]))
