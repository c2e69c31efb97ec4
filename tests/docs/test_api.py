"""The pages of the API describe every public name once."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from tests.support.paths import ROOT

PAGES = sorted((ROOT / "docs" / "reference" / "api").glob("*.md"))
DIRECTIVE = re.compile(r"^\.\. ([\w:]+):: ([\w.]+)(\(.*\))?$", re.MULTILINE)
PACKAGES = (
    "dmr",
    "dmr.distributed",
    "dmr.domains",
    "dmr.errors",
    "dmr.io",
    "dmr.memory",
    "dmr.sizing",
    "static_graph",
    "static_graph.errors",
)


def described() -> list[str]:
    """Full names of what the pages describe."""
    names = []
    for page in PAGES:
        module = ""
        for directive, argument, _ in DIRECTIVE.findall(page.read_text("utf-8")):
            if directive == "currentmodule":
                module = argument
            else:
                names.append(f"{module}.{argument}")
    return names


def value(name: str) -> Any:
    """The object with a full name."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def test_no_name_is_described_twice() -> None:
    names = described()
    assert len(names) == len(set(names)) > 100


def test_signatures_on_the_pages_are_those_of_the_functions() -> None:
    """A page that gives a signature replaces the two that Sphinx would print of an overloaded function."""
    text = (ROOT / "docs" / "reference" / "api" / "static_graph.md").read_text("utf-8")
    given = {name: signature for _, name, signature in DIRECTIVE.findall(text) if signature}
    assert "rank" in given
    for name, signature in given.items():
        real = inspect.signature(value(f"static_graph.{name}"))
        plain = [each.replace(annotation=inspect.Parameter.empty) for each in real.parameters.values()]
        assert signature == str(inspect.Signature(plain)), name


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_described(package: str) -> None:
    names = described()
    objects = {id(value(name)) for name in names}
    module = import_module(package)
    for name in module.__all__:
        public = getattr(module, name)
        if name == "__version__" or isinstance(public, ModuleType) or f"{package}.{name}" in names:
            continue
        # A name that belongs to another package is described there, or is not part of this one's interface.
        elsewhere = package == "dmr.memory" and not public.__module__.startswith(package)
        assert id(public) in objects or elsewhere, name


def _functions(package: str) -> dict[str, Any]:
    """The public functions of a package, and the methods and constructors of its public classes, by full name."""
    found: dict[str, Any] = {}
    for name in import_module(package).__all__:
        public = getattr(import_module(package), name)
        if inspect.isclass(public) and not issubclass(public, BaseException):
            methods = {key: getattr(each, "__func__", each) for key, each in vars(public).items() if key[0] != "_"}
            found |= {f"{package}.{name}.{key}": each for key, each in methods.items() if inspect.isfunction(each)}
        elif inspect.isfunction(public):
            found[f"{package}.{name}"] = public
    return found


DEFERS = re.compile(r"[Aa]s for `|[Aa]rguments[^.]* are those|as `Mesh.unchecked`|Implements `")


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in ("dmr.errors", "static_graph.errors")])
def test_docstrings_name_every_parameter(package: str) -> None:
    """Or refer to those of another function; the interface of devices, for which kernels are written, is described."""
    missing = {}
    for name, function in _functions(package).items():
        text = inspect.getdoc(function) or ""
        parameters = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
        unnamed = [each for each in parameters if not re.search(rf"\b{each}\b", text)]
        if unnamed and not DEFERS.search(text) and not name.startswith("dmr.memory.Device."):
            missing[name] = unnamed
    assert missing == {}
