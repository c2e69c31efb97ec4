"""Where points lie in a mesh that carries values: the triangle around each, or the nearest edge of the boundary."""

from dmr.background.location import Background, Places
from dmr.background.ranges import ranges

__all__ = ["Background", "Places", "ranges"]
