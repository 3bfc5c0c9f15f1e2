"""How the site is made: `make docs`. Nothing is fetched, and what is generated is not kept."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from rexmit.version import version as rexmit_version

project = "rexmit"
author = "the authors of rexmit"
version = release = rexmit_version()

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "rexmit_site",
]
exclude_patterns = ["_ext"]
nitpicky = True
# Types of other packages, whose documentation is not read: nothing is fetched.
nitpick_ignore_regex = [
    ("py:(class|data|exc|obj)", r"(?!rexmit\.\w+$).*"),
]

myst_enable_extensions = ["attrs_block", "colon_fence"]
# Links within a document, as GitHub makes their names.
myst_heading_anchors = 4

# Options begin with two dashes.
smartquotes = False
# Docstrings have code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
html_title = "rexmit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
