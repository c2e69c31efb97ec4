"""The tasks that make parts."""

from __future__ import annotations

from dmr.distributed.jobs.task import Task
from dmr.distributed.output.finish import border_tasks
from dmr.distributed.tiles.result.sections import PieceSource


def test_the_border_of_the_last_band_is_found_without_counting_its_triangles():
    counts = [Task("tasks:summarize", (name,)) for name in "ab"]
    finish = Task("core_file:finish_core", ("b",))
    tile = PieceSource(counts[0].name, "whole", ("a",), (0,), (0,), summary=counts[0])
    band = PieceSource("join", "whole", ("b",), (0,), (0,), finish=finish, summary=counts[1])
    match, borders = border_tasks([tile, band])
    assert match.needs == (counts[0],)
    assert [border.needs for border in borders] == [(counts[0], match), (finish, match)]
