"""Published figures of the thesis for comparison with the study's."""

from __future__ import annotations

# Table 6.3: row of the study, and milliseconds on Kepler (Tesla K20c) and Fermi (Tesla C2070), 5.6 M triangles.
TABLE_6_3 = {
    "base": (27737.54, 28144.12),
    "atomic": (14661.88, 18737.62),
    "two-stage": (12660.46, 16291.16),
    "work-stealing": (12064.17, 15713.53),
}
