"""Names of regions and markers in what commands print."""

from __future__ import annotations

from dmr.mesh.names import Names


def name_rows(names: Names) -> list[list[str]]:
    """Rows of the names of regions and of markers, if there are any: "1 steel, 2 air"."""
    lists = {kind: ", ".join(f"{number} {name}" for number, name in names[kind].items()) for kind in names}
    return [[kind, text] for kind, text in lists.items() if text]


def named(names: Names) -> dict[str, Names]:
    """The entry of names in JSON, if there are any."""
    return {"names": names} if any(names.values()) else {}
