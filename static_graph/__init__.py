"""CSR graphs, graph traversals, PageRank, list ranking and tree computations on GPUs and CPUs, from one kernel source.

graph = static_graph.read("web-Stanford.txt.gz")     # a CsrGraph
graph = static_graph.CsrGraph.from_edges([0, 0, 1], [1, 2, 2], weights=[5, 9, 3])
found = static_graph.sssp(graph, 0, parents=True)     # a Traversal
found.distances, found.path_to(2)
scores = static_graph.pagerank(graph).scores          # PageRank
ranks = static_graph.rank(successors)                 # list ranking
tree = static_graph.euler_tour(parents)               # a Tree: levels, subtree sizes, common ancestors, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import set_up_package

if TYPE_CHECKING:
    from dmr.memory import __version__
    from static_graph.components.condensation import condensation
    from static_graph.components.connecting import connected_components
    from static_graph.components.results import Components
    from static_graph.engine.colours import propagate_colours
    from static_graph.engine.trimming import trim
    from static_graph.errors import DmrError, GraphError
    from static_graph.graph.csr import CsrGraph
    from static_graph.graph.degree_plots import plot_degrees
    from static_graph.graph.degrees import automatic_mda, degree_distribution, degree_histogram, degree_statistics
    from static_graph.graph.device_graph import DeviceGraph
    from static_graph.graph.generation import generate_random, generate_rmat, with_random_weights
    from static_graph.io import read, write, write_partitioned
    from static_graph.link_analysis.ranking import pagerank
    from static_graph.link_analysis.results import PageRank
    from static_graph.link_analysis.transition import transition_matrix
    from static_graph.lists.generation import generate_list
    from static_graph.lists.ranking import Ranking, find_roots, rank, rank_in_detail
    from static_graph.traversal.batch import distance_matrix
    from static_graph.traversal.results import Traversal
    from static_graph.traversal.search import bfs, sssp, upload
    from static_graph.trees.generation import generate_tree
    from static_graph.trees.tours import Tree, euler_tour

# The module of each public name. Modules are imported on first use, so that `import static_graph` is fast.
_HOMES = {
    "Components": "static_graph.components.results",
    "CsrGraph": "static_graph.graph.csr",
    "DeviceGraph": "static_graph.graph.device_graph",
    "DmrError": "static_graph.errors",
    "GraphError": "static_graph.errors",
    "PageRank": "static_graph.link_analysis.results",
    "Ranking": "static_graph.lists.ranking",
    "Traversal": "static_graph.traversal.results",
    "Tree": "static_graph.trees",
    "__version__": "dmr.memory",
    "automatic_mda": "static_graph.graph.degrees",
    "bfs": "static_graph.traversal",
    "condensation": "static_graph.components.condensation",
    "connected_components": "static_graph.components.connecting",
    "degree_distribution": "static_graph.graph.degrees",
    "degree_histogram": "static_graph.graph.degrees",
    "degree_statistics": "static_graph.graph.degrees",
    "distance_matrix": "static_graph.traversal",
    "euler_tour": "static_graph.trees",
    "find_roots": "static_graph.lists.ranking",
    "generate_list": "static_graph.lists",
    "generate_random": "static_graph.graph.generation",
    "generate_rmat": "static_graph.graph.generation",
    "generate_tree": "static_graph.trees.generation",
    "pagerank": "static_graph.link_analysis.ranking",
    "plot_degrees": "static_graph.graph.degree_plots",
    "propagate_colours": "static_graph.engine.colours",
    "rank": "static_graph.lists.ranking",
    "rank_in_detail": "static_graph.lists.ranking",
    "read": "static_graph.io",
    "sssp": "static_graph.traversal",
    "transition_matrix": "static_graph.link_analysis.transition",
    "trim": "static_graph.engine.trimming",
    "upload": "static_graph.traversal",
    "with_random_weights": "static_graph.graph.generation",
    "write": "static_graph.io",
    "write_partitioned": "static_graph.io",
}

__all__ = [
    "Components",
    "CsrGraph",
    "DeviceGraph",
    "DmrError",
    "GraphError",
    "PageRank",
    "Ranking",
    "Traversal",
    "Tree",
    "__version__",
    "automatic_mda",
    "bfs",
    "condensation",
    "connected_components",
    "degree_distribution",
    "degree_histogram",
    "degree_statistics",
    "distance_matrix",
    "euler_tour",
    "find_roots",
    "generate_list",
    "generate_random",
    "generate_rmat",
    "generate_tree",
    "pagerank",
    "plot_degrees",
    "propagate_colours",
    "rank",
    "rank_in_detail",
    "read",
    "sssp",
    "transition_matrix",
    "trim",
    "upload",
    "with_random_weights",
    "write",
    "write_partitioned",
]


__getattr__, __dir__ = set_up_package(__name__, _HOMES)
