"""The site of the documentation.

    python -m sphinx -W --keep-going -c docs . build/site        # build/site/docs/index.html

The source folder is the checkout, so that links between the pages in docs and those beside it (README, CONTRIBUTING,
...) are the same on the site and in a checkout. Needs the extra [docs].
"""

from dmr import __version__

project = "dmr"
release = __version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "meshes/README.md"]
exclude_patterns = [".*", "build", "dist", "study", "**/__pycache__"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
highlight_language = "text"  # indented blocks are command lines; Python is marked as such
default_role = "py:obj"  # a name in a docstring, between single backticks, is a link if the site describes it

autodoc_member_order = "bysource"
maximum_signature_line_length = 100
napoleon_use_ivar = True  # attributes of a class as a list, in its docstring's words

html_theme = "furo"
html_title = f"dmr {release}"
