// The strong component of a pivot, from a search forward and one backward (Fleischer, Hendrickson and Pinar 2000); and
// the smallest node of each component.
#include "graph/csr.cuh"

constexpr int32 NOT_REACHED = 0x7fffffff; // By<HOPS>::unreached (distances.cuh)
constexpr int32 FOUND = 0x7fffffff;       // FINISHED of serial.cu

// The product of in- and out-degree of a node, which is the larger the more likely the node is in a large component.
INLINE int64 degree_product(const Csr &graph, const Csr &incoming, Index node) {
    return int64(graph.degree(node)) * int64(incoming.degree(node));
}

// largest[0] = the largest product of the nodes whose number is 0 (initially -1).
TEAM_KERNEL(find_largest_product, Csr graph, Csr incoming, const int32 *numbers, int64 *largest) {
    TEAM_SHARED(int64, best, TEAM_SIZE);
    for (const Team team : launch.teams()) {
        team.for_members([&](int member) { best[member] = -1; });
        const Piece piece = piece_of(team.number, graph.nodes);
        for (const Index node : Team::share(piece))
            if (numbers[node] == 0) {
                int64 *mine = best + (ONE_MEMBER ? 0 : (node - piece.begin) % TEAM_SIZE);
                const int64 product = degree_product(graph, incoming, node);
                *mine = product > *mine ? product : *mine;
            }
        team.barrier();
        for (int reach = TEAM_SIZE / 2; reach > 0; reach /= 2)
            team.for_members([&](int member) {
                if (member < reach && best[member + reach] > best[member])
                    best[member] = best[member + reach];
            });
        if (team.leads())
            atomic_max(largest, best[0]);
        team.barrier();
    }
}

// pivot[0] = the smallest node with this product (initially the number of nodes).
KERNEL(find_pivot, Csr graph, Csr incoming, const int32 *numbers, const int64 *largest, int32 *pivot) {
    for (const Index node : launch)
        if (numbers[node] == 0 && degree_product(graph, incoming, node) == largest[0])
            atomic_min(pivot, int32(node));
}

// Nodes that both searches have reached are in the component of the pivot.
KERNEL(mark_component, const int32 *forward, const int32 *backward, int64 pivot, int32 *numbers, int32 *labels) {
    for (const Index node : launch)
        if (numbers[node] == 0 && forward[node] != NOT_REACHED && backward[node] != NOT_REACHED) {
            numbers[node] = FOUND;
            labels[node] = int32(pivot);
        }
}

// least[p] = the smallest node of the component of the pivot p; initially, least[v] = v.
KERNEL(find_smallest_nodes, const int32 *pivots, int32 *least) {
    for (const Index node : launch) {
        int32 *place = least + pivots[node];
        if (racing_load(place) > node)
            atomic_min(place, int32(node));
    }
}

KERNEL(label_by_smallest, const int32 *least, int32 *labels) {
    for (const Index node : launch)
        labels[node] = least[labels[node]];
}
