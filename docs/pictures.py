"""Figures that programs of the documentation end a block with, for Sphinx-Gallery."""

from typing import Any

from sphinx_gallery.scrapers import figure_rst

from baserate.draw import Drawing


def kept(_block: object, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Keep the figure that a block ends with, if it does; `___` is what Sphinx-Gallery calls the last value."""
    drawing = variables["example_globals"].get("___")
    if not isinstance(drawing, Drawing):
        return ""
    path = next(variables["image_path_iterator"])
    drawing.save(path, dpi=140)
    variables["example_globals"]["___"] = None  # shown once
    return str(figure_rst([path], settings["src_dir"]))
