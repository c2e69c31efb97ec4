"""Paths along segments that rounding has tied together: they share vertices and edges, and meet where they can.

Ordinarily a run of an outline is a chain from node to node (`dmr.checks.paths`). The rest is looked at here, one by
one: paths are searched for among all constrained edges near a segment, and a crossing's vertex is any that the paths of
the segments through it have in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dmr.checks.chains import Arcs
from dmr.checks.outline import Outline
from dmr.checks.topology import Mask
from dmr.meshes import Mesh

Int64 = NDArray[np.int64]


class Knots:
    """Runs that are no chains from node to node: paths are searched for, and crossings moved to where they meet."""

    def __init__(
        self, mesh: Mesh, outline: Outline, arcs: Arcs, vertex_of_node: Int64, chains: tuple[Int64, Int64]
    ) -> None:
        self._mesh, self._outline, self._arcs = mesh, outline, arcs
        self._vertex = vertex_of_node
        self._way, self._edge = chains
        self._tails, self._heads = outline.ends()
        self._first = np.flatnonzero(np.diff(outline.run, prepend=-1))  # the first edge of each run
        self._stop = np.append(self._first[1:], len(outline.run))
        # What is looked at: the path of each run, and the part of it that each of its edges has.
        self._paths: dict[int, list[int]] = {}
        self._parts: dict[int, list[int]] = {}

    def untie(self, found: Mask) -> None:
        """Finds paths and moves crossings (`vertex_of_node`); `found` becomes what it is in `Paths`."""
        outline = self._outline
        search = _Search(self._mesh, outline, self._arcs, self._way)
        tied = np.unique(outline.run[~found])
        edges = np.flatnonzero(np.isin(outline.run, tied))
        crossings = np.unique(np.concatenate([self._tails[edges], self._heads[edges]]))
        crossings = crossings[crossings >= outline.first_crossing]
        around = np.flatnonzero(np.isin(self._tails, crossings) | np.isin(self._heads, crossings))
        for run in np.setdiff1d(outline.run[around], tied).tolist():
            low, high = np.searchsorted(self._edge, (self._first[run], self._stop[run]))
            self._paths[run] = self._way[low:high].tolist()
        # Where runs end, they end: others go through the same vertex.
        fixed = set(np.concatenate([self._tails[self._first], self._heads[self._stop - 1]]).tolist())
        for run in tied.tolist():
            path = self._search_run(search, run, fixed)
            if path is not None:
                self._paths[run] = path
        self._move({int(node) for node in crossings} - fixed)
        found[edges] = False
        for run in self._paths:
            self._share_out(run, found)

    def by_run(self) -> tuple[Int64, Int64]:
        """The arcs of the paths of all runs, and the run of each."""
        rest = ~np.isin(self._outline.run[self._edge], list(self._paths))
        return _joined(self._way[rest], self._outline.run[self._edge[rest]], self._paths)

    def by_edge(self) -> tuple[Int64, Int64]:
        """The arcs of all wanted edges, and the edge of each."""
        rest = ~np.isin(self._outline.run[self._edge], list(self._paths))
        return _joined(self._way[rest], self._edge[rest], self._parts)

    def _search_run(self, search: _Search, run: int, fixed: set[int]) -> list[int] | None:
        path: list[int] = []
        start = int(self._vertex[self._tails[self._first[run]]])
        for i in range(self._first[run], self._stop[run]):
            if i + 1 < self._stop[run] and int(self._heads[i]) not in fixed:
                continue
            stop = int(self._vertex[self._heads[i]])
            part = search.path(run, start, stop) if min(start, stop) >= 0 else None
            if part is None:
                return None
            path += part
            start = stop
        return path

    def _move(self, crossings: set[int]) -> None:
        """Puts crossings where the paths through them meet, as near as may be."""
        places = self._mesh.vertices
        through: dict[int, list[set[int]]] = {node: [] for node in crossings}
        for run, path in self._paths.items():
            vertices = set(self._arcs.tails[path].tolist()) | set(self._arcs.heads[path].tolist())
            for node in self._heads[self._first[run] : self._stop[run] - 1].tolist():
                if node in crossings:
                    through[node].append(vertices)
        for node, paths in through.items():
            common = sorted(set.intersection(*paths)) if paths else []
            if common and int(self._vertex[node]) not in common:
                x, y = map(float, self._outline.arrangement.crossings[node - self._outline.first_crossing])
                away = np.abs(places[common] - (x, y)).max(axis=1)
                self._vertex[node] = common[int(away.argmin())]

    def _share_out(self, run: int, found: Mask) -> None:
        """Gives every edge of a run its part of the path."""
        path = self._paths[run]
        first = int(self._vertex[self._tails[self._first[run]]])
        position = {first: 0} | {int(head): i + 1 for i, head in enumerate(self._arcs.heads[path].tolist())}
        for i in range(self._first[run], self._stop[run]):
            start, stop = (position.get(int(self._vertex[nodes[i]]), -1) for nodes in (self._tails, self._heads))
            if min(start, stop) >= 0:
                found[i] = True
                forward = start <= stop
                self._parts[i] = path[start:stop] if forward else [arc ^ 1 for arc in reversed(path[stop:start])]
            else:
                # The crossing has no vertex in common. Where both sides are the domain's, nothing hangs on it.
                found[i] = self._outline.sides[i] == 0


def _joined(arcs: Int64, numbers: Int64, more: dict[int, list[int]]) -> tuple[Int64, Int64]:
    """Arcs by number, with more of them, in the order of the numbers."""
    parts = [arcs, *(np.array(path, np.int64) for path in more.values())]
    labels = [numbers, *(np.full(len(path), number, np.int64) for number, path in more.items())]
    label = np.concatenate(labels)
    order = np.argsort(label, kind="stable")
    return np.concatenate(parts)[order], label[order]


class _Search:
    """Paths of constrained edges along a segment, one by one, exactly."""

    def __init__(self, mesh: Mesh, outline: Outline, arcs: Arcs, used: Int64) -> None:
        self._mesh = mesh
        self._outline = outline
        self._arcs = arcs
        self._order = np.argsort(arcs.tails, kind="stable")
        self._starts = np.searchsorted(arcs.tails[self._order], np.arange(len(mesh.vertices) + 1))
        self._reach = outline.reach()
        present = (arcs.half_edges >= 0).astype(np.int64)
        self._sides = present - present[np.arange(len(present)) ^ 1]
        self._used = set((used // 2).tolist())

    def path(self, run: int, start: int, stop: int) -> list[int] | None:
        """The arcs of a path from one vertex to another along the segment of a run, None where there is none.

        Of several ways, one is preferred that has triangles on the sides where the run has the domain, and is new.
        """
        if start == stop:
            return []
        outline = self._outline
        i, end_of_run = np.searchsorted(outline.run, (run, run + 1))
        sides = set(outline.sides[i:end_of_run].tolist())

        def leaving(vertex: int) -> Iterator[int]:
            arcs: list[int] = self._order[self._starts[vertex] : self._starts[vertex + 1]].tolist()
            return iter(sorted(arcs, key=lambda arc: (int(self._sides[arc]) not in sides, arc // 2 in self._used)))

        a, b = outline.segments[outline.line[i]].tolist()
        if self._at(a) > self._at(b):
            a, b = b, a
        (ax, ay), (bx, by) = self._at(a), self._at(b)
        dx, dy = bx - ax, by - ay
        width = Fraction(float(self._reach[i])) * (abs(dx) + abs(dy))

        def along(vertex: int) -> Fraction:
            x, y = self._at(vertex)
            return dx * x + dy * y

        end = along(stop)

        def leads_on(vertex: int, before: Fraction) -> bool:
            x, y = self._at(vertex)
            place = dx * x + dy * y
            if vertex != stop and (place >= end or abs(dx * (y - ay) - dy * (x - ax)) > width):
                return False
            return place > before

        # Depth first; a vertex that led nowhere is not tried again. Progress is strict, so no path runs in a circle.
        path: list[int] = []
        seen = {start}
        waiting = [leaving(start)]
        here = [along(start)]
        while waiting:
            arc = next(waiting[-1], None)
            if arc is None:
                waiting.pop()
                here.pop()
                if path:
                    path.pop()
                continue
            head = int(self._arcs.heads[arc])
            if head in seen or not leads_on(head, here[-1]):
                continue
            path.append(arc)
            if head == stop:
                self._used.update(arc // 2 for arc in path)
                return path
            seen.add(head)
            waiting.append(leaving(head))
            here.append(along(head))
        return None

    def _at(self, vertex: int) -> tuple[Fraction, Fraction]:
        x, y = self._mesh.vertices[vertex].tolist()
        return Fraction(x), Fraction(y)
