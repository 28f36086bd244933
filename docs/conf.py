"""Sphinx configuration."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

import baserate

sys.path.insert(0, str(Path(__file__).parent))  # for pictures.py

project = "baserate"
author = "The baserate developers"
project_copyright = f"2026, {author}"
version = release = baserate.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
exclude_patterns = ["_build", "generate.py", "figures", "tutorials", "made/**/*.ipynb", "made/**/*.py"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = "baserate"
html_sidebars: dict[str, list[str]] = {"**": []}  # there are no sections to navigate
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 3,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
html_math_renderer = "mathml"  # browsers draw it themselves, also without a network

GALLERIES = {"tutorials": "made/tutorials", "figures": "made/figures"}
"""Folders of programs -> folders of the pages that Sphinx makes of them."""
sphinx_gallery_conf = {
    "examples_dirs": list(GALLERIES),
    "gallery_dirs": list(GALLERIES.values()),
    "filename_pattern": "/",  # every program is run
    "abort_on_example_error": True,
    "image_scrapers": ("pictures.scrape_drawing",),
    "ignore_repr_types": "baserate.draw",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
}


def _inline(writer: Any, node: nodes.Element) -> None:  # noqa: ANN401  (Sphinx's HTML writer)
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:  # noqa: ANN401  (Sphinx's HTML writer)
    writer.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise nodes.SkipNode


def link_galleries(_app: Any, _name: str, source: list[str]) -> None:  # noqa: ANN401  (Sphinx)
    """Lead links to the programs of a gallery, which are in the repository, to the pages that Sphinx makes of them."""
    for programs, gallery in GALLERIES.items():
        source[0] = source[0].replace(f"]({programs}/README.rst)", f"]({gallery}/index.rst)")


def setup(app: Any) -> None:  # noqa: ANN401  (Sphinx)
    """Write formulas as MathML, and link the galleries."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("source-read", link_galleries)
