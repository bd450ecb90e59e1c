"""Sphinx's settings: `make docs` builds the manual from the pages of this folder."""

project = "adcore"
author = "the adcore developers"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "adcore"
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # pages link to files of the repository, which the manual does not have
