"""Trees of points, in which the points near others are found: those of scipy, which is imported on first use."""

from __future__ import annotations

from typing import Any

from dmr.common.text import option
from dmr.errors import DmrError
from dmr.mesh.types import Float


def point_tree(points: Float) -> Any:
    """Returns a k-d tree of (n, 2) points.

    Raises:
        DmrError: scipy is missing.
    """
    return _tree()(points)


def require_point_trees() -> None:
    """Checks that trees can be made, before the work that needs them begins.

    Raises:
        DmrError: scipy is missing.
    """
    _tree()


def _tree() -> Any:
    try:
        from scipy.spatial import cKDTree
    except ImportError as error:
        raise DmrError(
            f"{option('size')} with tiles needs scipy, the extra [distributed] of this package: "
            f"pip install scipy ({error})"
        ) from error
    return cKDTree
