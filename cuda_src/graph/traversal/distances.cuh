// Distances from the sources, and the relaxation of an edge, for all types of weights.
//
//     kind          meaning of a distance                                array      unreached
//     HOPS          edges (breadth-first search)                          narrow     2^31 - 1
//     NARROW        a sum of weights, none of which can reach 2^31 - 1   narrow     2^31 - 1
//     WIDE          a sum of whole weights                               wide       2^63 - 1
//     REAL          a sum of float64 weights                             wide       the bits of infinity
//
// Weights are not negative, and neither are distances. The bits of non-negative floats, read as integers, have the same
// order as the floats. Therefore the atomic minimum of integers, which every processor supports, works for floats, too
// (thesis, section 4.4, which uses it for integers only). A real distance is the minimum, over all paths, of the sum
// that is rounded edge by edge from the source on. Because rounding is monotone, this is the unique fixed point of the
// relaxation: all schemes give the same bits, regardless of their order.
//
// Kernels take Distances by value, and dispatch once on the kind by by_kind(distances, graph, [&](auto of) { ... });
// `of` has the methods of By for that kind.
#pragma once

#include <type_traits>

#include "graph/csr.cuh"

enum DistanceKind : int64 { HOPS, NARROW, WIDE, REAL };

KERNEL_STRUCT(Distances) {
    int32 *narrow; // (nodes), or null
    int64 *wide;   // (nodes), or null
    int64 kind;
    int64 limit; // the largest distance that is set, in the stored form
};

template <DistanceKind KIND> struct By {
    using Value = std::conditional_t<KIND == HOPS || KIND == NARROW, int32, int64>;
    static constexpr DistanceKind kind = KIND;

    Value *values;
    Value limit;
    Csr graph;

    METHOD static By of(const Distances &distances, const Csr &graph) {
        return {array_of(distances), Value(distances.limit), graph};
    }

    METHOD static Value unreached() {
        if constexpr (KIND == REAL)
            return int64(0x7ff0000000000000);
        else
            return Value(~(uint64(1) << (8 * sizeof(Value) - 1)));
    }

    // The distance of a node; other threads may lower it concurrently.
    METHOD Value at(Index node) const { return racing_load(values + node); }

    // Whether the edges of a node at this distance should be followed.
    METHOD bool goes_on(Value distance) const {
        return KIND == HOPS ? distance < limit : distance != unreached() && distance <= limit;
    }

    // The length of an edge, in the stored form.
    METHOD Value length(Index edge) const {
        if constexpr (KIND == HOPS)
            return 1;
        else if constexpr (KIND == NARROW)
            return graph.weights32[edge];
        else if constexpr (KIND == WIDE)
            return graph.whole_weight(edge);
        else
            return int64(bits_of(graph.real_weights[edge]));
    }

    // The sum of the distance of a node (`goes_on` holds) and the length of an edge that leaves it.
    METHOD static Value sum(Value distance, Value length) {
        if constexpr (KIND == REAL)
            return int64(bits_of(float64_of(distance) + float64_of(length)));
        else
            return distance + length;
    }

    // The distance at the end of an edge that leaves a node at this distance.
    METHOD Value along(Value distance, Index edge) const { return sum(distance, length(edge)); }

    // Whether a distance improves the node's distance, and is within the limit.
    METHOD bool improves(Index node, Value distance) const { return distance <= limit && distance < at(node); }

    // Lowers the distance of a node atomically; returns whether this caller did so.
    METHOD bool lower(Index node, Value distance) const {
        return improves(node, distance) && distance < atomic_min(values + node, distance);
    }

    // The same by a plain store: a concurrent store of a higher distance, which improved on an older value, may
    // overwrite it.
    METHOD bool lower_racing(Index node, Value distance) const {
        if (!improves(node, distance))
            return false;
        racing_store(values + node, distance);
        return true;
    }

    // Relaxes an edge from a node at this distance (`goes_on` holds); returns whether the target's distance was
    // lowered.
    METHOD bool relax(Index edge, Value distance, bool atomic) const {
        const Index target = graph.targets[edge];
        const Value further = along(distance, edge);
        return atomic ? lower(target, further) : lower_racing(target, further);
    }

    // The array of other distances of the same kind.
    METHOD static Value *array_of(const Distances &others) {
        if constexpr (sizeof(Value) == sizeof(int32))
            return others.narrow;
        else
            return others.wide;
    }
};

template <class Body> INLINE void by_kind(const Distances &distances, const Csr &graph, Body body) {
    switch (distances.kind) {
    case HOPS:
        return body(By<HOPS>::of(distances, graph));
    case NARROW:
        return body(By<NARROW>::of(distances, graph));
    case WIDE:
        return body(By<WIDE>::of(distances, graph));
    case REAL:
        return body(By<REAL>::of(distances, graph));
    }
}
