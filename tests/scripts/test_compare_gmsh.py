"""scripts/compare/gmsh.py: which corners are those of a domain."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.compare.gmsh import has_acute_corners
from scripts.lib.sizes.domains import with_holes

BOX = [(0, 0), (4, 0), (4, 4), (0, 4)]
POINTED = np.array([(1.0, 1), (3, 1), (2, 3)])  # corners of a hole that are above 180 degrees in the domain
INDENTED = np.array([(1.0, 1), (3, 1), (1.5, 1.05), (3, 1.3), (1, 3)])  # 11 degrees at the indentation


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize(("hole", "acute"), [(POINTED, False), (INDENTED, True)])
def test_corners_of_holes_are_measured_in_the_domain(hole, acute, turn):
    assert has_acute_corners(with_holes(BOX, [hole[::turn]], 0.1)) == acute


@pytest.mark.parametrize("turn", [1, -1])
def test_corners_of_the_outline(turn):
    assert not has_acute_corners(with_holes(BOX[::turn], [], 0.1))
    assert has_acute_corners(with_holes([(0, 0), (4, 0), (4, 1)][::turn], [], 0.1))
