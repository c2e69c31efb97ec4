// The kernels of a round that do not depend on the body (engine.cuh).
#include "graph/engine/engine.cuh"

// Computes the number of tiles into which the edges of the frontier are cut.
KERNEL(cut_tiles, Frontier frontier, const int32 *sums32, const int64 *sums64) {
    for ([[maybe_unused]] const Index once : launch) {
        const bool summed = frontier.progress[BATCHES] > 0; // neither empty nor left to one team
        const Index all = summed ? DegreeSums{sums32, sums64}[frontier.progress[FRONTIER]] : 0;
        frontier.progress[TILES] = int32((all + TILE_EDGES - 1) / TILE_EDGES);
    }
}

// Ends a round. Without batches there was none: one team follows rounds alone, or the frontier is empty.
KERNEL(end_expansion, Frontier frontier) {
    for ([[maybe_unused]] const Index once : launch) {
        frontier.progress[REPEATS] += 1;
        if (frontier.progress[BATCHES] > 0)
            end_round(frontier);
        else
            begin_round(frontier, true);
    }
}

KERNEL(find_largest_degree, Csr graph, int64 *largest) {
    int64 most = 0;
    for (const Index node : launch)
        most = graph.degree(node) > most ? graph.degree(node) : most;
    if (most > racing_load(largest))
        atomic_max(largest, most);
}
