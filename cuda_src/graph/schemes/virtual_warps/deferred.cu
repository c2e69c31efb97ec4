// Outliers of the warp-centric traversal (virtual_warps.cuh): one team per node.
#include "graph/schemes/virtual_warps/virtual_warps.cuh"

TEAM_KERNEL(relax_deferred, Csr graph, Distances distances, Distances last, const int32 *deferred, int32 *progress,
            int64 *relaxed) {
    TEAM_SHARED(int64, shared_distance, 1);
    by_kind(distances, graph, [&](auto of) {
        int64 looked_at = 0;
        bool changed = false;
        for (const Team team : launch.teams()) {
            const Index node = deferred[team.number];
            if (Team::leads()) {
                const auto distance = of.at(node);
                note_relaxed<decltype(of)>(last, node, distance);
                shared_distance[0] = distance;
            }
            Team::barrier();
            const auto distance = typename decltype(of)::Value(shared_distance[0]);
            for (const Index edge : Team::share({graph.begin(node), graph.end(node)})) {
                ++looked_at;
                changed |= of.relax(edge, distance, decltype(of)::kind != HOPS);
            }
            Team::barrier(); // all have read the distance
        }
        count_up(relaxed, looked_at);
        mark_changed(progress, changed);
    });
}
