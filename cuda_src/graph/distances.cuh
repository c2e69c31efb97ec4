// Distances from the sources, and the relaxation of an edge, for every kind of weights.
//
//     kind          what a distance is                                   held in    where no path is known
//     HOPS          edges (breadth-first search)                          narrow     2^31 - 1
//     NARROW        a sum of weights, none of which can reach 2^31 - 1   narrow     2^31 - 1
//     WIDE          a sum of whole weights                               wide       2^63 - 1
//     REAL          a sum of float64 weights                             wide       the bits of infinity
//
// No weight is negative, so no distance is. The bits of floats that are not negative, read as an integer, have the
// floats' order: the atomic minimum of integers, which every processor has, serves for floats too (thesis, section 4.4,
// which had it for integers only). A real distance is the least over all paths of the sum that is rounded edge by edge
// from the source on. Rounding is monotone, so that this is the one fixed point of the relaxation: all schemes give the
// same bits, whatever their order.
//
// Kernels take Distances by value, and do their work by by_kind(distances, graph, [&](auto of) { ... }): the kind is
// asked for once, and `of` has the methods of By for it.
#pragma once

#include <type_traits>

#include "csr.cuh"

enum DistanceKind : int64 { HOPS, NARROW, WIDE, REAL };

KERNEL_STRUCT(Distances) {
    int32 *narrow;  // (nodes), or none
    int64 *wide;    // (nodes), or none
    int64 kind;
    int64 limit;    // distances beyond it are not set; in the form that they are held in
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

    // The distance of a node; others may lower it meanwhile.
    METHOD Value at(Index node) const { return racing_load(values + node); }

    // Whether edges are worth following from a node at such a distance.
    METHOD bool goes_on(Value distance) const {
        return KIND == HOPS ? distance < limit : distance != unreached() && distance <= limit;
    }

    // The distance at the end of an edge from a node at such a distance (`goes_on`).
    METHOD Value along(Value distance, Index edge) const {
        if constexpr (KIND == HOPS)
            return distance + 1;
        else if constexpr (KIND == NARROW)
            return distance + graph.weights32[edge];
        else if constexpr (KIND == WIDE)
            return distance + graph.whole_weight(edge);
        else
            return int64(bits_of(float64_of(distance) + graph.real_weights[edge]));
    }

    // Whether a distance is one that the node would take.
    METHOD bool improves(Index node, Value distance) const { return distance <= limit && distance < at(node); }

    // Lowers the distance of a node, atomically; true for the caller that did so.
    METHOD bool lower(Index node, Value distance) const {
        return improves(node, distance) && distance < atomic_min(values + node, distance);
    }

    // The same by a plain store: another, higher distance that somebody else found better than what he read may be
    // there in the end.
    METHOD bool lower_racing(Index node, Value distance) const {
        if (!improves(node, distance))
            return false;
        racing_store(values + node, distance);
        return true;
    }

    // Follows an edge from a node at such a distance (`goes_on`); true where that lowers the distance at its end.
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
