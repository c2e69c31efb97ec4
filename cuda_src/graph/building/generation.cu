// Generation of random graphs, one edge per index.
#include "primitives/random.cuh"

constexpr int MOST_DRAWS = 1000; // most draws of an edge that must not be a self loop

struct Edge {
    int32 source, target;
};

struct Rmat {
    int32 nodes, levels; // 2^levels >= nodes
    float64 a, b, c, d, noise;
    bool even;
};

// R-MAT (Chakrabarti, Zhan, Faloutsos 2004) as in GTgraph (Bader, Madduri 2006): the adjacency matrix is halved in both
// dimensions, one of the four quadrants is chosen with probabilities a, b, c, d, and so on. With noise, each
// probability is multiplied by a factor from 1 - noise / 2 to 1 + noise / 2 before every halving but the first; the
// changes accumulate, and only the ratios matter. GTgraph halves a number, not a range: with 7 rows, the lower halves
// begin 3, then 1, then 0 rows further down. So if the number of nodes is not 2^levels, several paths lead to some
// nodes and none to others. `even` halves the remaining range, the smaller half first.
INLINE Edge draw_rmat(Random &random, Rmat p) {
    Edge edge = {0, 0};
    int32 rows = p.nodes, columns = p.nodes;
    for (int32 level = 0; level < p.levels; ++level) {
        if (p.noise > 0 && level > 0) {
            const uint64 bits = random.next();
            const float64 least = 1 - p.noise / 2, step = p.noise / 65535;
            p.a *= least + step * int32(bits & 0xFFFF);
            p.b *= least + step * int32((bits >> 16) & 0xFFFF);
            p.c *= least + step * int32((bits >> 32) & 0xFFFF);
            p.d *= least + step * int32(bits >> 48);
        }
        const float64 place = random.next_part() * (p.a + p.b + p.c + p.d);
        const int32 lower = place >= p.a + p.b, right = (place >= p.a) - lower + (place >= p.a + p.b + p.c);
        const int32 up = rows / 2, left = columns / 2;
        edge.source += up & -lower; // branch-free, because a branch would be unpredictable
        edge.target += left & -right;
        rows = p.even ? up + ((rows - 2 * up) & (lower | -(rows == 1))) : up;
        columns = p.even ? left + ((columns - 2 * left) & (right | -(columns == 1))) : left;
    }
    return edge;
}

// Draws the edges. If self loops are not allowed, they are drawn again; failures[0] counts those that remain.
KERNEL(draw_rmat_edges, uint64 seed, int32 nodes, int32 levels, float64 a, float64 b, float64 c, float64 d,
       float64 noise, int32 even, int32 self_loops, uint32 *sources, int32 *targets, int32 *failures) {
    const Rmat rmat = {nodes, levels, a, b, c, d, noise, even != 0};
    for (const Index i : launch) {
        Random random = random_of(seed, EDGES, i);
        Edge edge = draw_rmat(random, rmat);
        for (int draw = 1; !self_loops && edge.source == edge.target && draw < MOST_DRAWS; ++draw)
            edge = draw_rmat(random, rmat);
        if (!self_loops && edge.source == edge.target)
            atomic_add(failures, 1);
        sources[i] = uint32(edge.source);
        targets[i] = edge.target;
    }
}

// G(n, m) of Erdos and Renyi (1959): both ends are uniform over all nodes.
KERNEL(draw_random_edges, uint64 seed, int32 nodes, int32 self_loops, uint32 *sources, int32 *targets) {
    for (const Index i : launch) {
        Random random = random_of(seed, EDGES, i);
        const int32 source = int32(random.next_below(uint64(nodes)));
        int32 target = int32(random.next_below(uint64(self_loops ? nodes : nodes - 1)));
        if (!self_loops && target >= source)
            ++target;
        sources[i] = uint32(source);
        targets[i] = target;
    }
}

// Uniform integers from 1 to `largest`.
KERNEL(draw_weights, uint64 seed, int32 largest, int32 *weights) {
    for (const Index i : launch)
        weights[i] = int32(1 + random_of(seed, WEIGHTS, i).next_below(uint64(largest)));
}

// Draws the sort keys of a random order.
KERNEL(draw_keys, uint64 seed, uint32 *keys) {
    for (const Index i : launch)
        keys[i] = uint32(random_of(seed, NAMES, i).next() >> 32);
}

KERNEL(rename_ends, const int32 *names, uint32 *sources, int32 *targets) {
    for (const Index i : launch) {
        sources[i] = uint32(names[sources[i]]);
        targets[i] = names[targets[i]];
    }
}
