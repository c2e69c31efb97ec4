"""Path search along segments that rounding has merged, so that their paths share vertices and edges.

Ordinarily a run of an outline is a chain from node to node (`dmr.validation.domain.paths`). This module processes the
remaining runs one by one: it searches for paths among all constrained edges near a segment, and accepts as a crossing's
vertex any vertex that the paths of the segments through the crossing have in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.mesh.types import Mesh
from dmr.validation.domain.outline import Outline
from dmr.validation.triangulation.chains import Arcs
from dmr.validation.triangulation.topology import Mask

Int64 = NDArray[np.int64]


class MergedPaths:
    """Searches for the paths of runs that are not chains from node to node, and moves crossings to where paths meet."""

    def __init__(
        self, mesh: Mesh, outline: Outline, arcs: Arcs, vertex_of_node: Int64, chains: tuple[Int64, Int64]
    ) -> None:
        self._mesh, self._outline, self._arcs = mesh, outline, arcs
        self._vertex = vertex_of_node
        self._way, self._edge = chains
        self._tails, self._heads = outline.ends()
        first = outline.first_edges()
        self._first, self._stop = first[:-1], first[1:]
        # The path of each run processed here, and the subpath of each of its edges.
        self._paths: dict[int, list[int]] = {}
        self._parts: dict[int, list[int]] = {}

    def untie(self, found: Mask, fits: Mask) -> None:
        """Find paths and move crossings (`vertex_of_node`).

        Args:
            found: (w,) mask of the wanted edges that have a chain; updated in place to the meaning it has in `Paths`.
            fits: (w,) mask of the wanted edges whose chains stay close to their segment.
        """
        outline = self._outline
        search = _Search(self._mesh, outline, self._arcs, self._way)
        tied = distinct(outline.run[~(found & fits)])
        edges = np.flatnonzero(np.isin(outline.run, tied))
        crossings = distinct(self._tails[edges], self._heads[edges])
        crossings = crossings[crossings >= outline.first_crossing]
        around = np.flatnonzero(np.isin(self._tails, crossings) | np.isin(self._heads, crossings))
        for run in np.setdiff1d(outline.run[around], tied).tolist():
            self._paths[run] = self._chains_of(run)
        # The ends of runs are fixed: other runs must go through the same vertex.
        fixed = set(np.concatenate([self._tails[self._first], self._heads[self._stop - 1]]).tolist())
        for run in tied.tolist():
            path = self._search_run(search, run, fixed)
            if path is not None:
                self._paths[run] = path
            elif found[self._first[run] : self._stop[run]].all():
                self._paths[run] = self._chains_of(run)
        self._move({int(node) for node in crossings} - fixed)
        found[edges] = False
        for run in self._paths:
            self._share_out(run, found)

    def _chains_of(self, run: int) -> list[int]:
        low, high = np.searchsorted(self._edge, (self._first[run], self._stop[run]))
        chains: list[int] = self._way[low:high].tolist()
        return chains

    def by_run(self) -> tuple[Int64, Int64]:
        """Return the arcs of the paths of all runs, and the run of each arc."""
        rest = ~np.isin(self._outline.run[self._edge], list(self._paths))
        return _joined(self._way[rest], self._outline.run[self._edge[rest]], self._paths)

    def by_edge(self) -> tuple[Int64, Int64]:
        """Return the arcs of all wanted edges, and the edge of each arc."""
        rest = ~np.isin(self._outline.run[self._edge], list(self._paths))
        return _joined(self._way[rest], self._edge[rest], self._parts)

    def segments(self) -> Int64:
        """Return the segments whose paths were searched for."""
        lines: Int64 = distinct(self._outline.line[self._first[list(self._paths)]])
        return lines

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
        """Move each crossing to the nearest vertex that all paths through it have in common."""
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
        """Assign to every edge of a run its subpath."""
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
                # The paths have no common vertex at the crossing. This does not matter if both sides are in the domain.
                found[i] = self._outline.sides[i] == 0


def _joined(arcs: Int64, numbers: Int64, more: dict[int, list[int]]) -> tuple[Int64, Int64]:
    """Merge labelled arcs with more labelled paths, in the order of the labels."""
    parts = [arcs, *(np.array(path, np.int64) for path in more.values())]
    labels = [numbers, *(np.full(len(path), number, np.int64) for number, path in more.items())]
    label = np.concatenate(labels)
    order = np.argsort(label, kind="stable")
    return np.concatenate(parts)[order], label[order]


class _Search:
    """Searches for paths of constrained edges along a segment, one at a time, in exact arithmetic."""

    def __init__(self, mesh: Mesh, outline: Outline, arcs: Arcs, used: Int64) -> None:
        self._mesh = mesh
        self._outline = outline
        self._arcs = arcs
        self._order = np.argsort(arcs.tails, kind="stable")
        self._starts = np.searchsorted(arcs.tails[self._order], np.arange(len(mesh.vertices) + 1))
        present = (arcs.half_edges >= 0).astype(np.int64)
        self._sides = present - present[np.arange(len(present)) ^ 1]
        self._used = set((used // 2).tolist())

    def path(self, run: int, start: int, stop: int) -> list[int] | None:
        """Find the arcs of a path from one vertex to another along the segment of a run; None if there is none.

        Among several paths, prefer one that has triangles on the sides where the run has the domain, and that no other
        path uses.
        """
        if start == stop:
            return []
        first, end = np.searchsorted(self._outline.run, (run, run + 1))
        sides = set(self._outline.sides[first:end].tolist())
        leads_on = _Along(self._mesh, self._outline, int(self._outline.line[first]), stop)

        def leaving(vertex: int) -> Iterator[int]:
            arcs: list[int] = self._order[self._starts[vertex] : self._starts[vertex + 1]].tolist()
            return iter(sorted(arcs, key=lambda arc: (int(self._sides[arc]) not in sides, arc // 2 in self._used)))

        # Depth-first search; a vertex that leads nowhere is not tried again.
        path: list[int] = []
        seen = {start}
        waiting = [leaving(start)]
        here = [start]
        while waiting:
            arc = next(waiting[-1], None)
            if arc is None:
                waiting.pop()
                here.pop()
                if path:
                    path.pop()
                continue
            head = int(self._arcs.heads[arc])
            if head in seen or not leads_on(here[-1], head):
                continue
            path.append(arc)
            if head == stop:
                self._used.update(arc // 2 for arc in path)
                return path
            seen.add(head)
            waiting.append(leaving(head))
            here.append(head)
        return None


class _Along:
    """Tests whether a step leads forward along a segment towards a vertex, within the segment's tolerance."""

    def __init__(self, mesh: Mesh, outline: Outline, line: int, stop: int) -> None:
        self._vertices = mesh.vertices
        (a,), (b,) = outline.oriented(np.array([line]))
        self._a = self._at(int(a))
        bx, by = self._at(int(b))
        self._d = bx - self._a[0], by - self._a[1]
        self._reach = Fraction(float(outline.reaches[line]))
        self._width = self._reach * (abs(self._d[0]) + abs(self._d[1]))
        self._tied = bool(outline.tied[line])
        self._stop = stop

    def __call__(self, tail: int, head: int) -> bool:
        if head != self._stop:
            x, y = self._at(head)
            if abs(self._d[0] * (y - self._a[1]) - self._d[1] * (x - self._a[0])) > self._width:
                return False
            if not self._forward(head, self._stop):
                return False
        return self._forward(tail, head)

    def _forward(self, tail: int, head: int) -> bool:
        (px, py), (qx, qy) = self._at(tail), self._at(head)
        if self._tied and max(abs(qx - px), abs(qy - py)) <= self._reach:
            return True
        return self._d[0] * (qx - px) + self._d[1] * (qy - py) > 0

    def _at(self, vertex: int) -> tuple[Fraction, Fraction]:
        x, y = self._vertices[vertex].tolist()
        return Fraction(x), Fraction(y)
