"""The tasks that make parts."""

from __future__ import annotations

from dmr.distributed.jobs.task import Task
from dmr.distributed.output.finish import border_tasks
from dmr.distributed.tiles.result.sections import PieceSource


def test_the_border_of_the_last_band_is_found_without_counting_its_triangles():
    counts = [Task("tasks:summarize", (name,)) for name in "ab"]
    find = Task("tasks:summarize", ("part for the band",))
    finish = Task("core_file:finish_core", ("b",))
    tile = PieceSource(counts[0].name, "whole", ("a",), (0,), (0,), summary=counts[0], find=counts[0])
    band = PieceSource(find.name, "whole", ("b",), (0,), (0,), finish=finish, summary=counts[1], find=find)
    match, borders = border_tasks([tile, band])
    assert match.needs == (counts[0], find)
    assert [border.needs for border in borders] == [(counts[0], match), (finish, match)]
