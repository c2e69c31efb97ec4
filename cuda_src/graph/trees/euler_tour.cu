// Euler tours of rooted forests, and node numbers derived from the ranks of their arcs (001-list-ranking).
//
// A virtual root, numbered after all nodes, has the roots as its children, and makes the forest a tree. Node v has an
// arc down to it, with number v, and an arc up from it, with number nodes + v. The tour is one list:
//
//     EP[e] = next(sibling(e))      down to v: on to v's first child, or else up again
//                                   up from v: on to v's next sibling, or else up from the parent
//
// (next: in the ring of arcs that leave a node: first the arc up, then the arcs down to its children).
#include "lists/lists.cuh"

// keys[v] = the parent, or the virtual root; bad[0] = the first node whose parent is out of range.
KERNEL(key_by_parents, const int32 *parents, int64 nodes, uint32 *keys, int32 *bad) {
    for (const Index v : launch) {
        const int32 parent = parents[v];
        if (parent < END || parent >= nodes)
            atomic_min(bad, int32(v));
        keys[v] = ends_list(v, parent) ? uint32(nodes) : uint32(parent);
    }
}

// Links the tour, from the nodes sorted by their parents: offsets[p] is the position of p's first child. head = the
// tour's first arc.
KERNEL(link_tour, const uint32 *parents, const int32 *children, const int32 *offsets, int64 nodes, int32 *successors,
       int32 *head) {
    for (const Index place : launch) {
        const int32 v = children[place];
        const uint32 parent = parents[place];
        const int32 first = offsets[v], up = int32(nodes) + v;
        successors[v] = first < offsets[v + 1] ? children[first] : up;
        if (place + 1 < offsets[parent + 1])
            successors[up] = children[place + 1];
        else
            successors[up] = parent == nodes ? END : int32(nodes + parent);
        if (parent == nodes && place == offsets[parent])
            head[0] = v;
    }
}

// downs[r] = 1 if the tour's arc of rank r leads down.
KERNEL(mark_downs, const int32 *ranks, int64 nodes, int32 *downs) {
    for (const Index arc : launch)
        downs[ranks[arc]] = arc < nodes;
}

// Before a node's arc down, the tour has gone down `preorder` times, and up `preorder - level` times. Before its arc
// up, it has gone up `postorder` times. Between both, it traverses the edges of the subtree, each of them twice.
KERNEL(number_nodes, const int32 *ranks, const int32 *downs_before, int64 nodes, int32 *subtree_sizes, int32 *preorder,
       int32 *postorder, int32 *levels) {
    for (const Index v : launch) {
        const int32 down = ranks[v], up = ranks[nodes + v], number = downs_before[down];
        preorder[v] = number;
        levels[v] = number - (down - number);
        postorder[v] = up - downs_before[up];
        subtree_sizes[v] = (up - down + 1) / 2;
    }
}

// Sums along paths from the root are prefix sums along the tour, in which a node's value counts from its arc down to
// its arc up. The ranks of both arcs follow from the node's numbers.
INLINE Index rank_down(int32 preorder, int32 level) { return 2 * Index(preorder) - level; }

KERNEL(place_values, const int64 *values, const int32 *preorder, const int32 *levels, const int32 *subtree_sizes,
       int64 *ordered) {
    for (const Index v : launch) {
        const Index down = rank_down(preorder[v], levels[v]);
        ordered[down] = values[v];
        ordered[down + 2 * Index(subtree_sizes[v]) - 1] = -values[v];
    }
}

KERNEL(fetch_path_sums, const int64 *prefix, const int32 *preorder, const int32 *levels, int64 *sums) {
    for (const Index v : launch)
        sums[v] = prefix[rank_down(preorder[v], levels[v]) + 1];
}

// Lists the nodes that arcs leave: arc k follows edge k in the given direction, arc edges + k in the opposite one.
KERNEL(list_arcs, const int32 *ends, const int32 *others, int64 edges, int64 nodes, uint32 *origins, int32 *bad) {
    for (const Index k : launch) {
        const int32 from = ends[k], to = others[k];
        if (from < 0 || from >= nodes || to < 0 || to >= nodes || from == to)
            atomic_min(bad, int32(k));
        origins[k] = uint32(from);
        origins[edges + k] = uint32(to);
    }
}

INLINE Index sibling(Index arc, Index edges) { return arc < edges ? arc + edges : arc - edges; }

// places[arc] = the position of the arc among all arcs, sorted by the nodes that they leave.
KERNEL(place_arcs, const int32 *arcs, int32 *places) {
    for (const Index place : launch)
        places[arcs[place]] = int32(place);
}

// Links rings of arcs, EP[e] = next(sibling(e)); arcs are denoted by their positions.
KERNEL(link_rings, const int32 *arcs, const int32 *places, const uint32 *origins, const int32 *offsets, int64 edges,
       int32 *successors) {
    for (const Index place : launch) {
        const int32 back = places[sibling(arcs[place], edges)];
        const uint32 node = origins[back];
        successors[place] = back + 1 < offsets[node + 1] ? back + 1 : offsets[node];
    }
}

// Finds the least position on each ring by pointer jumping (in lock-step, because rings have no end).
KERNEL(jump_round, const int32 *successors, const int32 *least, int32 *further, int32 *lesser) {
    for (const Index place : launch) {
        const int32 next = successors[place];
        further[place] = successors[next];
        lesser[place] = least[place] < least[next] ? least[place] : least[next];
    }
}

// starts[v] = 1 if a tour begins at node v: v was requested as a root; or no root of its tree (whose ring has the least
// position `least`) was requested, and v is the tree's smallest node. alone[v] = 1 for a node without arcs.
KERNEL(choose_roots, const int32 *offsets, const int32 *least, const int32 *asked, int32 *starts, int32 *alone) {
    for (const Index v : launch) {
        const int32 first = offsets[v];
        alone[v] = first == offsets[v + 1];
        starts[v] = !alone[v] && (asked[least[first]] < 0 ? least[first] == first : asked[least[first]] == v);
    }
}

// asked[ring] = the requested root; if two roots of a tree were requested, both[0] is the largest such root.
KERNEL(ask_for_roots, const int32 *roots, const int32 *offsets, const int32 *least, int32 *asked, int32 *both) {
    for (const Index i : launch) {
        const int32 root = roots[i], first = offsets[root];
        if (first < offsets[root + 1]) {
            const int32 other = atomic_max(asked + least[first], root);
            if (other >= 0 && other != root)
                atomic_max(both, other > root ? other : root);
        }
    }
}

// Cuts the rings before the first arc of their root.
KERNEL(cut_rings, const int32 *roots, const int32 *arcs, const int32 *places, const int32 *offsets, int64 edges,
       int32 *successors, int32 *heads) {
    for (const Index i : launch) {
        const int32 root = roots[i], last = offsets[root + 1] - 1;
        heads[i] = offsets[root];
        successors[places[sibling(arcs[last], edges)]] = END;
    }
}

constexpr Index EDGES_AT_ONCE = 1 << 12; // edges between two STOP_POINTs

// closing[0] = the first edge whose ends are already connected by the edges before it; unchanged if there is none. One
// thread processes the edges (union-find), for the error message. Initially above[v] = v.
KERNEL(find_closing_edge, const int32 *ends, const int32 *others, int64 edges, int32 *above, int32 *closing) {
    for ([[maybe_unused]] const Index once : launch) {
        const auto top = [&](int32 node) {
            while (above[node] != node) // parents have smaller numbers
                node = above[node] = above[above[node]];
            return node;
        };
        for (Index k = 0; k < edges; ++k) {
            if (k % EDGES_AT_ONCE == 0)
                STOP_POINT();
            const int32 one = top(ends[k]), other = top(others[k]);
            if (one == other) {
                closing[0] = int32(k);
                break;
            }
            (one < other ? above[other] : above[one]) = one < other ? one : other;
        }
    }
}

// "If R[xy] < R[yx] then Par[y] = x". Initially, parents are -1.
KERNEL(find_tree_parents, const int32 *ranks, const int32 *arcs, const int32 *places, const uint32 *origins,
       int64 edges, int32 *parents) {
    for (const Index place : launch) {
        const int32 back = places[sibling(arcs[place], edges)];
        if (ranks[place] < ranks[back])
            parents[origins[back]] = int32(origins[place]);
    }
}
