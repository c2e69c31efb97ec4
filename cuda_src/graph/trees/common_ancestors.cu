// Batched lowest common ancestor queries: Schieber and Vishkin (1988), On finding lowest common ancestors.
//
// Preorder numbers count from 1, with the virtual root of euler_tour.cu as number 1, so that node v has preorder[v] +
// 2. The nodes of a subtree have an interval of numbers. A node's inlabel is the number in its interval that is
// divisible by the largest power of two. The nodes with the same inlabel form a downward path; its top is the inlabel's
// head. The ascendant of a node is a bit set of the largest powers of two that divide the inlabels on its path from the
// root. Each power occurs at most once, so the ascendant is a sum along that path.
#include "lists/lists.cuh"

INLINE uint32 lowest_bit(uint32 x) { return x & (0u - x); }
INLINE uint32 highest_bit(uint32 x) {
    for (int shift = 1; shift < 32; shift *= 2)
        x |= x >> shift;
    return x ^ (x >> 1);
}

INLINE uint32 inlabel_of(uint32 first, uint32 last) {
    const uint32 differing = (first - 1) ^ last; // the highest bit in which they differ is set in the last only
    return last & (0u - highest_bit(differing));
}

INLINE uint32 inlabel_at(Index v, const int32 *preorder, const int32 *subtree_sizes) {
    const uint32 first = uint32(preorder[v]) + 2;
    return inlabel_of(first, first + uint32(subtree_sizes[v]) - 1);
}

// The inlabel of the virtual root, whose interval is 1 to nodes + 1.
INLINE uint32 topmost_inlabel(Index nodes) { return inlabel_of(1, uint32(nodes) + 1); }

// Computes the inlabels; the head of each inlabel, -1 for the virtual root's (entry 0 is -1, too: no inlabel is 0); and
// bits to be summed along the paths: if a node begins a new inlabel, the largest power of two that divides it.
KERNEL(label_nodes, const int32 *parents, const int32 *preorder, const int32 *subtree_sizes, int64 nodes,
       int32 *inlabels, int32 *heads, int64 *bits) {
    for (const Index v : launch) {
        const uint32 mine = inlabel_at(v, preorder, subtree_sizes), top = topmost_inlabel(nodes);
        const uint32 above = parents[v] < 0 ? top : inlabel_at(parents[v], preorder, subtree_sizes);
        inlabels[v] = int32(mine);
        bits[v] = mine != above ? lowest_bit(mine) : 0;
        if (mine != above)
            heads[mine] = int32(v);
    }
}

// The lowest ancestor of x (or x itself) on the path of the inlabel whose largest power-of-two divisor is `power`. END
// if that is the virtual root.
INLINE int32 entry(int32 x, uint32 power, const int32 *parents, const int32 *inlabels, const uint32 *ascendants,
                   const int32 *heads) {
    const uint32 label = uint32(inlabels[x]);
    if (lowest_bit(label) == power)
        return x;
    const uint32 below = highest_bit(ascendants[x] & (power - 1)); // lowest bit of the inlabel just below that path
    return parents[heads[(label & (0u - below)) | below]];
}

// answers[q] = the lowest common ancestor of two nodes, -1 if they are in different trees; bad[0] = the first query
// with an index that is not a node.
KERNEL(answer_questions, const int32 *left, const int32 *right, int64 nodes, const int32 *parents,
       const int32 *preorder, const int32 *inlabels, const uint32 *ascendants, const int32 *heads, int32 *answers,
       int32 *bad) {
    for (const Index q : launch) {
        const int32 x = left[q], y = right[q];
        if (x < 0 || x >= nodes || y < 0 || y >= nodes) {
            atomic_min(bad, int32(q));
            continue;
        }
        const uint32 a = uint32(inlabels[x]), b = uint32(inlabels[y]);
        const uint32 differing = a == b ? lowest_bit(a) : highest_bit(a ^ b);
        const uint32 common = ascendants[x] & ascendants[y] & (0u - differing);
        const uint32 power = lowest_bit(common);
        const int32 from_x = entry(x, power, parents, inlabels, ascendants, heads);
        const int32 from_y = entry(y, power, parents, inlabels, ascendants, heads);
        if (from_x < 0 || from_y < 0)
            answers[q] = END;
        else
            answers[q] = preorder[from_x] < preorder[from_y] ? from_x : from_y;
    }
}

// Converts the sums along the paths to ascendants, adding the bit of the virtual root.
KERNEL(join_ascendants, const int64 *sums, int64 nodes, uint32 *ascendants) {
    for (const Index v : launch)
        ascendants[v] = uint32(sums[v]) | lowest_bit(topmost_inlabel(nodes));
}
