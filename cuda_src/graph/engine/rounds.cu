// The kernels of a round that do not depend on the body (engine.cuh).
#include "graph/engine/engine.cuh"

// Computes the number of tiles into which the edges of the frontier are cut.
KERNEL(cut_tiles, Frontier frontier, const int32 *sums32, const int64 *sums64) {
    for ([[maybe_unused]] const Index once : launch) {
        const Index count = frontier.progress[FRONTIER]; // without nodes, there are no sums
        const Index all = count > 0 ? DegreeSums{sums32, sums64}[count] : 0;
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
