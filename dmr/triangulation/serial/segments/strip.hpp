// The faces that a piece of a segment crosses, and the way there. They are removed, and the pseudo-polygons on the two
// sides of the piece are triangulated again (Anglada, "An improved incremental algorithm for constructing restricted
// Delaunay triangulations", 1997).
#pragma once

#include <unordered_map>
#include <vector>

#include "side.hpp"

namespace triangulation {

// Returns the half-edge a -> b, or NOTHING. Rotates around both ends in step, so that the cost is that of the end with
// fewer edges; if there is no such edge, `smaller_star` is that end.
HalfEdge find_edge(const Plane &plane, int32 a, int32 b, int32 *smaller_star);

// Finds how the way from a to b, which no edge joins, begins. Returns the half-edge a -> v if vertex v lies on the way,
// otherwise the half-edge that the way crosses, directed from the right of the way to its left.
HalfEdge depart(const Plane &plane, int32 a, int32 b);

//               w ---- . ---- .             left chain:  a, w, ..., v
//             / | \   / \   / |
//           a---|---\-----/---|--> b        right chain: a, u, ..., v
//             \ |     \ /     |
//               u ---- . ---- v             (v lies on the way, or is its end)
class Strip {
  public:
    explicit Strip(Plane &plane) : plane_(plane) {}

    // Collects the faces on the way from a to the first vertex on it, at most to b; `first` is the half-edge at which
    // it begins. Returns false as soon as `passes` is false for a half-edge that the way crosses.
    template <class Passes> bool collect(int32 a, int32 b, HalfEdge first, const Passes &passes) {
        left_ = {{a}, {}};
        right_ = {{a}, {}};
        extend(right_, previous(first), plane_.from(first));
        extend(left_, next(first), plane_.to(first));
        taken_out_.assign(1, face_of(first));
        HalfEdge h = first;
        for (int side = 1; side != 0; h = side > 0 ? next(plane_.twin(h)) : previous(plane_.twin(h))) {
            if (!passes(h))
                return false;
            const HalfEdge entered = plane_.twin(h); // runs from the left to the right
            const int32 v = plane_.apex(entered);
            taken_out_.push_back(face_of(entered));
            side = v == b ? 0 : plane_.side(a, b, plane_.points[v]);
            if (side <= 0)
                extend(right_, next(entered), v);
            if (side >= 0)
                extend(left_, previous(entered), v);
        }
        return true;
    }

    // Replaces the faces, and returns the edge from a to the vertex on the way. It is part of no segment yet.
    HalfEdge clear();

  private:
    // One side of the faces: edge i joins vertices i and i + 1.
    struct ChainEdge {
        HalfEdge old, beyond; // runs from vertex i + 1 to vertex i in a face that is removed; its twin
        int32 segment;
        HalfEdge now; // in the new face
    };
    struct Chain {
        std::vector<int32> vertices;
        std::vector<ChainEdge> edges;
    };

    // Edges begin .. end - 1 of a chain, whose polygon lies on the right of `base`.
    struct Part {
        size_t begin, end;
        HalfEdge base;
    };

    void extend(Chain &chain, HalfEdge edge, int32 vertex) const {
        chain.vertices.push_back(vertex);
        chain.edges.push_back({edge, plane_.twin(edge), plane_.segment_at[edge], NOTHING});
    }
    HalfEdge fill(Chain &chain);
    HalfEdge take(const Side &side, Chain &chain);
    HalfEdge fill_by_corners(Chain &chain);
    void link_chain(const Chain &chain);
    size_t best_corner(const Chain &chain, size_t begin, size_t end) const;
    bool opens_to(const Chain &chain, size_t corner, Point p) const;

    Plane &plane_;
    Chain left_, right_;
    std::vector<int32> taken_out_;
    std::unordered_map<HalfEdge, HalfEdge> moved_; // half-edges of removed faces that are on a chain
};

} // namespace triangulation
