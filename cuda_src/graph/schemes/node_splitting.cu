// Node splitting (thesis, section 4.2): a node with more than MDA edges becomes ceil(degree / MDA) nodes with nearly
// equal shares of the edges: the parent (the node itself) and its children. Parents keep their numbers and their
// incoming edges. The children follow after all parents; those of a node are contiguous:
//
//     node          0 ... n - 1 | children of node a | children of node b | ...
//                                 n + first[a]         n + first[b]
//
// No edge is added. A new distance of a parent must reach its children: along the pseudo edges, as part of the
// relaxation, and, if stores may race, by update_child_distances after it. fixed_point.cu explains why racing stores
// are harmless; the argument requires that a child has the distance of its parent when a round begins, which the update
// ensures. With atomics each child takes the minimum of the same values as its parent, and no update is needed (section
// 4.4).
#include "graph/schemes/relax_nodes.cuh"
#include "graph/schemes/timeline.cuh"

KERNEL_STRUCT(Split) {
    const int32 *first; // (parents + 1): number of children of the parents before
    int64 parents;

    METHOD Index children_begin(Index parent) const { return parents + first[parent]; }
    METHOD Index children_end(Index parent) const { return parents + first[parent + 1]; }
};

// Counts the children of each node.
KERNEL(count_children, Csr graph, int64 mda, int32 *children) {
    for (const Index v : launch) {
        const Index degree = graph.degree(v);
        children[v] = degree > mda ? int32((degree + mda - 1) / mda - 1) : 0;
    }
}

// The first edge of share k of a node's edges.
INLINE Index share_begin(const Csr &graph, Index node, Index k, Index shares) {
    return graph.begin(node) + graph.degree(node) * k / shares;
}

// The degrees of parents and children: (parents + children) entries of 32 or 64 bits.
KERNEL(split_degrees, Csr graph, Split split, int32 *degrees32, int64 *degrees64) {
    for (const Index v : launch) {
        const Index children = split.children_begin(v), shares = split.children_end(v) - children + 1;
        for (Index k = 0; k < shares; ++k) {
            const Index place = k == 0 ? v : children + k - 1;
            const Index degree = share_begin(graph, v, k + 1, shares) - share_begin(graph, v, k, shares);
            if (degrees32 != nullptr)
                degrees32[place] = int32(degree);
            else
                degrees64[place] = degree;
        }
    }
}

// Distributes the edges of every node over its shares; the offsets of `shared` are set already.
KERNEL(share_edges, Csr graph, Split split, Csr shared, int32 *targets, int32 *weights32, int64 *weights64,
       float64 *real_weights) {
    for (const Index v : launch) {
        const Index children = split.children_begin(v), shares = split.children_end(v) - children + 1;
        for (Index k = 0; k < shares; ++k) {
            const Index place = k == 0 ? v : children + k - 1;
            Index to = shared.begin(place);
            const Index end = share_begin(graph, v, k + 1, shares);
            for (Index from = share_begin(graph, v, k, shares); from < end; ++from, ++to) {
                targets[to] = graph.targets[from];
                if (weights32 != nullptr)
                    weights32[to] = graph.weights32[from];
                else if (weights64 != nullptr)
                    weights64[to] = graph.weights64[from];
                else if (real_weights != nullptr)
                    real_weights[to] = graph.real_weights[from];
            }
        }
    }
}

// relax_kernel of Algorithm 1, over parents and children.
KERNEL(relax_split_nodes, Csr shared, Split split, Distances distances, int32 atomic, int32 *progress, int64 *relaxed,
       Timeline timeline) {
    const BlockClock clock = begin_block(timeline);
    relax_reached(launch, shared, distances, progress, relaxed, [&](auto of, auto distance, Index begin, Index end) {
        bool changed = false;
        for (Index edge = begin; edge < end; ++edge) {
            if (!of.relax(edge, distance, atomic != 0))
                continue;
            changed = true;
            const Index target = shared.targets[edge], children_end = split.children_end(target);
            const auto further = of.along(distance, edge);
            for (Index child = split.children_begin(target); child < children_end; ++child) // pseudo edges
                if (atomic)
                    of.lower(child, further);
                else
                    racing_store(of.values + child, further);
        }
        return changed;
    });
    end_block(timeline, clock, progress[ROUNDS]);
}

// childNodeDistUpdate_kernel of Algorithm 1, over the parents: the children take their parent's distance.
KERNEL(update_child_distances, Csr shared, Split split, Distances distances) {
    by_kind(distances, shared, [&](auto of) {
        for (const Index v : launch) {
            const Index end = split.children_end(v);
            for (Index child = split.children_begin(v); child < end; ++child)
                of.values[child] = of.values[v];
        }
    });
}
