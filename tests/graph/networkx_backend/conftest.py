"""networkx with the backend, also where the package is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import networkx as nx
import pytest
from networkx.utils import backends

from static_graph.networkx_backend.info import backend_info
from tests.graph.networkx_backend.processes import entry_points


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the backend as networkx does when it finds the entry points."""
    name, _, value = entry_points()["networkx.backends"].strip().partition(" = ")
    monkeypatch.setitem(backends.backends, name, EntryPoint(name, value, "networkx.backends"))
    monkeypatch.setitem(backends.backend_info, name, backend_info())
    monkeypatch.setattr(backends._dispatchable, "__call__", backends._dispatchable._call_if_any_backends_installed)


@pytest.fixture
def on_device(registered: None, device_options: dict[str, str | int | None]) -> Iterator[None]:
    """Sends the backend's calls to each device in turn."""
    others = {name: config for name, config in nx.config.backends.items() if name != "static_graph"}
    with nx.config(backends=nx.utils.Config(**others, static_graph=nx.utils.Config(**device_options))):
        yield
