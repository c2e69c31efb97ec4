"""The site of the documentation.

    python -m sphinx -W --keep-going -c docs . build/site        # build/site/docs/index.html

The source folder is the checkout, so that links between the pages in docs and those beside it (README, CONTRIBUTING,
...) are the same on the site and in a checkout. Needs the extra [docs].
"""

import re

from sphinx.application import Sphinx

from dmr import __version__

project = "dmr"
release = __version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "meshes/README.md"]
exclude_patterns = [".*", "build", "dist", "study", "**/__pycache__"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
highlight_language = "text"  # indented blocks are command lines; Python is marked as such
default_role = "code"  # single backticks in docstrings, as in Markdown

autodoc_member_order = "bysource"
_ALIASES = ("ArrayLike", "DTypeLike", "DomainLike", "MeshLike", "NDArray", "Number", "PathLike", "Progress", "Size")
autodoc_type_aliases = {name: name for name in _ALIASES}
maximum_signature_line_length = 100
napoleon_custom_sections = [("Attributes", "params_style")]  # a list, in the words of the docstring

html_theme = "furo"
html_title = f"dmr {release}"


# How Sphinx shows type aliases in unions, types of arrays, and default factories; and a short form.
_SHORTER = (
    (r"TypeAliasForwardRef\('(\w+)'\)", r"\1"),
    (r"[~.\w]*ndarray\[tuple\[[^]]*\], [~.\w]*dtype\[[~.\w]*?(\w+)\]\]", r"NDArray[\1]"),
    (r"<factory>", "..."),
)


def shortened(text: str | None) -> str | None:
    """Part of a signature in its short form."""
    for pattern, short in _SHORTER:
        text = text and re.sub(pattern, short, text)
    return text


def setup(app: Sphinx) -> None:
    """Shortens the signatures."""
    app.connect("autodoc-process-signature", lambda *event: (shortened(event[-2]), shortened(event[-1])))
