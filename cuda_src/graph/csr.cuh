// A directed graph in compressed sparse row format (thesis, figure 4.1): the edges that leave node v have the indices
// begin(v) to end(v) - 1 in `targets` and the weights.
//
//     node        0     1        2  3
//     offsets     0     2        5  5        6
//     targets     1  2  0  2  3     0
//
// Kernels take the graph by value. Only one array of offsets is set: 32 bits if all offsets fit, otherwise 64 bits. At
// most one array of weights is set, by their type.
#pragma once

#include "portable/portable.cuh"

KERNEL_STRUCT(Csr) {
    const int32 *offsets32;
    const int64 *offsets64;
    const int32 *targets;
    const int32 *weights32;
    const int64 *weights64;
    const float64 *real_weights;
    int64 nodes;
    int64 edges;

    METHOD Index begin(Index node) const { return offsets32 != nullptr ? Index(offsets32[node]) : offsets64[node]; }
    METHOD Index end(Index node) const { return begin(node + 1); }
    METHOD Index degree(Index node) const { return end(node) - begin(node); }
    METHOD int64 whole_weight(Index edge) const {
        return weights32 != nullptr ? int64(weights32[edge]) : weights64[edge];
    }
};
