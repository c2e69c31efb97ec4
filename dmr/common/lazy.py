"""Packages as users see them: names imported on first use, so that importing a package is fast, and a silent log."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from dmr.common.moved import keep_old_names


def lazy_names(
    package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns `__getattr__` and `__dir__` for a package (PEP 562).

    Args:
        package: its name; homes: the module of each public name; modules: submodules that are public themselves.
    """

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            # With the module, Python suggests the name that may have been meant.
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get, names


def set_up_package(
    package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Prepares a package that users import; arguments and result are those of `lazy_names`.

    Without logging set up, a program sees no messages of the package; its own handlers receive all of them. The old
    names of modules become importable.
    """
    logging.getLogger(package).addHandler(logging.NullHandler())
    keep_old_names()
    return lazy_names(package, homes, modules)
