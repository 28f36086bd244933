"""Sphinx configuration."""

import baserate

project = "baserate"
author = "The baserate developers"
project_copyright = f"2026, {author}"
version = release = baserate.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
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
