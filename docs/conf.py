"""Sphinx configuration."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

import baserate

project = "baserate"
author = "The baserate developers"
project_copyright = f"2026, {author}"
version = release = baserate.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
exclude_patterns = ["_build", "generate.py"]
html_theme = "pydata_sphinx_theme"
html_title = "baserate"
html_sidebars: dict[str, list[str]] = {"**": []}  # there are no sections to navigate
html_show_sourcelink = False
html_theme_options = {"secondary_sidebar_items": ["page-toc"], "show_prev_next": False}
html_math_renderer = "mathml"  # browsers draw it themselves, also without a network


def _inline(writer: Any, node: nodes.Element) -> None:  # noqa: ANN401  (Sphinx's HTML writer)
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:  # noqa: ANN401  (Sphinx's HTML writer)
    writer.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise nodes.SkipNode


def setup(app: Any) -> None:  # noqa: ANN401  (Sphinx)
    """Write formulas as MathML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
