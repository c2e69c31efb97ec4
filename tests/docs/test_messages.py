"""Messages name pages by their titles: the files of the documentation are not installed with the packages."""

from __future__ import annotations

import ast
import inspect
import re

import dmr
import dmr.distributed
import static_graph
from tests.support.paths import ROOT

DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FILE = re.compile(r"\bdocs/")


def _messages(tree: ast.Module) -> list[str]:
    """All strings but docstrings."""
    documented = (node for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and ast.get_docstring(node))
    hidden = {id(node.body[0].value) for node in documented if isinstance(node.body[0], ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in hidden)
    return [node.value for node in strings if isinstance(node.value, str)]


def test_messages_name_no_files_of_the_documentation() -> None:
    files = [path for package in ("dmr", "static_graph") for path in (ROOT / package).rglob("*.py")]
    assert len(files) > 300
    found = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in files
        for text in _messages(ast.parse(path.read_text(encoding="utf-8")))
        if FILE.search(text)
    }
    assert found == set()


def test_help_names_no_files_of_the_documentation() -> None:
    modules = (dmr, dmr.distributed, dmr.domains, dmr.errors, dmr.io, dmr.memory, dmr.sizing, static_graph)
    public = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in modules
        for name in getattr(module, "__all__", ())
    }
    assert len(public) > 150
    assert {name for name, item in public.items() if FILE.search(inspect.getdoc(item) or "")} == set()
