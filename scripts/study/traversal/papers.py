"""Published figures of the papers, for comparison with the study's.

Curves without published numbers (figures 6.2 to 6.6 of the thesis, except the values in its text; the charts of Hong et
al. and of Slota et al.) are not included: a page can compare only their shape.
"""

from __future__ import annotations

from dataclasses import dataclass

THESIS_MACHINE = "Tesla K20c (Kepler, 13 multiprocessors, 0.71 GHz; Vivek K, 2013)"
FERMI = "Tesla C2070 (Fermi, 14 multiprocessors, 1.15 GHz)"
WARP_MACHINE = "GeForce GTX 275 and one thread of a Xeon E5345 (Hong, Kim, Oguntebi, Olukotun, 2011)"
COLLAPSE_MACHINE = "Tesla K40M (Slota, Rajamanickam, Madduri, 2015)"


@dataclass(frozen=True)
class ThesisGraph:
    """A graph of the thesis (section 6.1, 6.2).

    Attributes:
        largest_degree: largest out-degree; mda, extra_nodes: the fastest splitting level, and the nodes it adds (6.1).
        histogram_mda, histogram_improvement: by section 4.2.1; in percent, for an unspecified search (6.2.2).
        threshold: fastest threshold of child launches (table 6.2).
    """

    largest_degree: int
    mda: int
    extra_nodes: int
    histogram_mda: int
    histogram_improvement: float
    threshold: int


@dataclass(frozen=True)
class ThesisSearch:
    """A row of tables 6.1 and 6.2, on Kepler: milliseconds, and improvement over the baseline in percent."""

    baseline: float
    split: float
    split_improvement: float
    children: float
    children_improvement: float


R_MAT, WEB = ThesisGraph(1181, 54, 29_604, 118, 38.3, 169), ThesisGraph(255, 8, 158_002, 25, 44.8, 128)
THESIS_GRAPHS = {"rmat-thesis": R_MAT, "web-Stanford": WEB}
THESIS_SEARCHES = {
    ("rmat-thesis", "bfs"): ThesisSearch(104.96, 53.76, 48.78, 66.98, 36.19),
    ("rmat-thesis", "sssp"): ThesisSearch(243.81, 152.88, 37.30, 169.44, 30.50),
    ("web-Stanford", "bfs"): ThesisSearch(30.29, 13.36, 55.88, 25.71, 15.11),
    ("web-Stanford", "sssp"): ThesisSearch(34.71, 17.09, 50.75, 29.24, 15.76),
}
FERMI_IMPROVEMENT = {"bfs": 24.8, "sssp": 14.1}  # percent, of splitting on R-MAT (figure 6.4 and section 6.2.1)
ATOMIC_GAIN = (2.0, 6.0)  # percent, over the split (section 6.2.3)

# Hong et al., 4 M nodes, 48 M edges: speed-up of one thread per node on a GPU (Harish, Narayanan 2007) over a CPU.
OVER_CPU = {"rmat-4m": 1.3, "random-4m": 14.0}
MOST_BY_WARPS = 9.0  # largest speed-up over one thread per node


def like(name: str) -> ThesisGraph:
    """Graph of the thesis that resembles the named one: its web graph, or its R-MAT for all random graphs."""
    return WEB if name.startswith("web") else R_MAT
