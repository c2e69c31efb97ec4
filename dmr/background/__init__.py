"""Point location in a background mesh: the triangle that contains each point, or the nearest boundary edge."""

from dmr.background.location import Background, Places
from dmr.background.ranges import ranges

__all__ = ["Background", "Places", "ranges"]
