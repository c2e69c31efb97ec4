"""The exact check of a mesh in parts, by tasks over its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import accumulate
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from dmr.common.arguments import real_option, switch, whole_option
from dmr.common.text import option
from dmr.common.threads import thread_count
from dmr.distributed.engines import Engine, chosen_engine
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.task import Resources, Task
from dmr.distributed.output.parts import Parts
from dmr.distributed.output.scratch import scratch_store
from dmr.distributed.validation.area_check import check_region_limits
from dmr.distributed.validation.findings import unite
from dmr.distributed.validation.ghost_check import check_ghosts
from dmr.distributed.validation.number_check import check_numbers
from dmr.distributed.validation.part_check import MAX_EDGE, check_part
from dmr.distributed.validation.union_check import check_union
from dmr.errors import OptionError
from dmr.mesh.types import Mesh, Pslg, check_indices
from dmr.meshing.conversion import MeshLike, as_mesh_or_domain
from dmr.sizing.functions import size_source
from dmr.sizing.source import SizeSource
from dmr.sizing.storing import sizes_as_arrays
from dmr.validation.checker import check_options
from dmr.validation.report import Findings, Report, SmallAngle

Summary = Mapping[str, Any]


def validate(
    parts: Parts | str | PathLike[str],
    *,
    input: MeshLike | None = None,
    min_angle: float | None = None,
    max_area: float | None = None,
    max_edge: SizeSource | float | None = None,
    convex_hull: bool = False,
    executor: Any = None,
    workers: int = 1,
    threads: int | None = None,
) -> Report:
    """Validates a mesh in parts, exactly, without loading the whole.

    Each part is checked with its ghosts, and the union by its borders and its segments. Checks have the names of those
    of `dmr.validate`, and four more: "parts", "shared vertices", "shared edges" and "ghosts". Elements have the numbers
    of the whole.

    Args:
        parts: the parts, or their folder, in which temporary files are written.
        input: as for `dmr.validate`; it must fit in memory.
        min_angle: degrees, 0 to 60; max_area; convex_hull: as for `dmr.validate`.
        max_edge: upper bound of the edge lengths, a number or a `SizeField`.
        executor: an executor of `concurrent.futures`, or a Dask client, that checks parts.
        workers: instead of an executor, the number of processes of this machine; 1 for this process alone.
        threads: the number of threads of each; None for all cores available to this process, a worker's share of them,
            or one with an executor. The report depends on none of these.

    Returns:
        The checks made and their failures; invalid or missing parts raise no exception.

    Raises:
        OptionError: an invalid bound or number of workers or threads; several engines.
        LostWorkerError: a worker died, and its task could not be done by another one.
        FileError: the folder holds no parts, or temporary files cannot be written.
        WrongTypeError: `input` is not something that `refine` accepts.
    """
    parts = parts if isinstance(parts, Parts) else Parts(parts)
    workers = whole_option("workers", workers)
    if workers < 1:
        raise OptionError(f"{option('workers')} must be 1 or more, not {workers}")
    thread_count(threads)
    if executor is not None and threads is None:
        threads = 1
    engine = chosen_engine(Resources("cpu", threads), executor=executor, workers=None if workers == 1 else workers)
    return validate_by(
        engine, parts, input=input, min_angle=min_angle, max_area=max_area, max_edge=max_edge, convex_hull=convex_hull
    )


def validate_by(
    engine: Engine,
    parts: Parts,
    *,
    input: MeshLike | None,
    min_angle: float | None,
    max_area: float | None,
    max_edge: SizeSource | float | None,
    convex_hull: bool,
) -> Report:
    """Validates a mesh in parts by an engine; arguments, result and errors are those of `validate`."""
    given: Mesh | Pslg | None = None
    if input is not None:
        given, convex_hull = as_mesh_or_domain(input, "input", convex_hull=convex_hull)
        check_indices(given)
    sizes = None if max_edge is None else size_source(max_edge, "max_edge")
    if sizes is not None and not sizes.by_kernels:
        raise OptionError(f"{option('max_edge')} must be a number or a SizeField: other processes check the parts")
    options = {"min_angle": min_angle, "max_area": max_area}
    bounds = {name: real_option(name, value) for name, value in options.items() if value is not None}
    check_options(given, bounds.get("min_angle"), bounds.get("max_area"), switch("convex_hull", convex_hull))
    findings = Findings()
    findings.start("triangles")
    if not parts.counts["triangles"]:
        findings.add("triangles", "mesh", [None], lambda i: "has no triangles")
        return _report(parts, findings, [], [])
    with scratch_store(parts.folder) as store, engine(store) as runner:
        return _Checks(runner, parts, given, bounds, sizes, convex_hull=convex_hull).report(findings)


class _Checks:
    """The tasks of one validation."""

    def __init__(
        self,
        runner: Runner,
        parts: Parts,
        given: Mesh | Pslg | None,
        bounds: Mapping[str, float],
        max_edge: SizeSource | None,
        *,
        convex_hull: bool,
    ) -> None:
        self._runner, self._parts, self._given = runner, parts, given
        self._bounds, self._convex_hull = bounds, convex_hull
        self._entries: list[dict[str, Any]] = parts.manifest["parts"]
        self._firsts = list(accumulate((entry["triangles"] for entry in self._entries), initial=0))
        self._source = [] if given is None else [runner.store.put(_arrays(given))]
        self._sizes = [] if max_edge is None else [runner.store.put(sizes_as_arrays(max_edge, MAX_EDGE))]
        self._bounded = bool(bounds) or max_edge is not None
        self._areas = self._bounded and isinstance(given, Pslg) and bool((given.regions[:, 3] > 0).any())

    def report(self, findings: Findings) -> Report:
        """Runs the tasks, and adds what they find to findings."""
        checks = [self._check_part(index) for index in range(len(self._parts))]
        found = self._runner.run(checks)
        if not all(each["usable"] for each in found):
            unite(findings, found)
            for name in ("shared vertices", "shared edges", "ghosts", "overlap"):
                findings.skip(name, "parts failed")
            return _report(self._parts, findings, found, [])
        sound = not any({"orientation", "edges"} & each["counts"].keys() for each in found)
        union = self._check_union(checks, sound=sound)
        ghosts = [self._check_ghosts(checks, index, each["owners"]) for index, each in enumerate(found)]
        (whole, *rest) = self._runner.run([union, *ghosts, *self._check_numbers(found)])
        if self._areas:
            rest += self._runner.run(
                [
                    Task.of(check_region_limits, [check.name, union.name], file=str(self._parts.path(index).absolute()))
                    for index, check in enumerate(checks)
                ]
            )
        unite(findings, [*found, *rest, whole])
        if self._given is not None and "regions" in whole["skipped"]:  # the input has none
            _drop(findings, "regions", whole["skipped"]["regions"])
        return _report(self._parts, findings, [*found, whole], whole["exceptions"])

    def _check_part(self, index: int) -> Task:
        return Task.of(
            check_part,
            [*self._source, *self._sizes],
            folder=str(self._parts.folder.absolute()),
            index=index,
            entry=self._entries[index],
            firsts=self._firsts,
            vertices=self._parts.counts["vertices"],
            bounds=self._bounds,
            source=self._kind,
            refined=self._bounded,
            faces=self._areas,
        )

    def _check_union(self, checks: list[Task], *, sound: bool) -> Task:
        return Task.of(
            check_union,
            [*(check.name for check in checks), *self._source],
            firsts=self._firsts,
            source=self._kind,
            names={} if self._given is None else self._given.names,
            convex_hull=self._convex_hull,
            min_angle=self._bounds.get("min_angle"),
            sound=sound,
            faces=self._areas,
        )

    @property
    def _kind(self) -> str:
        """The kind of the input, for `check_part` and `check_union`: "mesh", "outline", or "" without an input."""
        return "" if self._given is None else {Mesh: "mesh", Pslg: "outline"}[type(self._given)]

    def _check_ghosts(self, checks: list[Task], index: int, owners: list[int]) -> Task:
        inputs = [checks[k].name for k in (index, *owners)]
        return Task.of(check_ghosts, inputs, index=index, owners=owners)

    def _check_numbers(self, found: Sequence[Summary]) -> Iterator[Task]:
        """Yields tasks over ranges of numbers, as many as there are parts."""
        paths = [str(self._parts.path(index).absolute()) for index in range(len(found))]
        for k in range(len(found)):
            slices = [
                (path, *rows[k : k + 2]) for path, each in zip(paths, found, strict=True) for rows in each["rows"]
            ]
            yield Task.of(check_numbers, slices=[each for each in slices if each[1] < each[2]])


def _arrays(given: Mesh | Pslg) -> dict[str, NDArray[Any]]:
    """The arrays of a mesh or outline by name, without its names."""
    arrays = {each.name: getattr(given, each.name) for each in fields(given) if each.name != "names"}
    return {name: array for name, array in arrays.items() if array is not None}


def _drop(findings: Findings, check: str, reason: str) -> None:
    """Removes a check that turns out not to apply."""
    findings.failures = [failure for failure in findings.failures if failure.check != check]
    findings.counts.pop(check, None)
    findings.checked = [each for each in findings.checked if each != check]
    findings.skip(check, reason)


def _report(
    parts: Parts, findings: Findings, summaries: Sequence[Summary], exceptions: Sequence[Mapping[str, Any]]
) -> Report:
    found = [each["statistics"] for each in summaries if "statistics" in each]
    unrefined: dict[str, list[int]] = {}
    for each in summaries:
        for reason, triangles in each.get("unrefined", {}).items():
            unrefined.setdefault(reason, []).extend(triangles)
    measured: dict[str, Any] = {name: value for each in found for name, value in each.items()}
    for extreme in (min, max):
        for name in (f"{extreme.__name__}_angle", f"{extreme.__name__}_area"):
            measured[name] = extreme((each[name] for each in found if each.get(name) is not None), default=None)
    return Report(
        failures=tuple(findings.failures),
        counts=findings.counts,
        checked=tuple(findings.checked),
        skipped=findings.skipped,
        statistics={"segments": 0, **parts.counts, **measured},
        exceptions=tuple(SmallAngle(**each) for each in exceptions),
        unrefined={reason: tuple(triangles) for reason, triangles in unrefined.items()},
    )
