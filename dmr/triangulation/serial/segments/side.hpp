// The constrained Delaunay triangulation of one side of a strip, by randomised insertion of its vertices (Shewchuk and
// Brown, "Fast segment insertion and incremental construction of constrained Delaunay triangulations", 2015): expected
// linear time, where a search for the third corner of each triangle takes quadratic time if the vertices lie along a
// line or an arc.
#pragma once

#include <vector>

#include "../plane.hpp"

namespace triangulation {

//          2 --- 3               Vertices 0 .. last of a chain, and the base from vertex 0 to the last one, which has
//          the
//        /         \   5         polygon on its left. A vertex where an edge dangles into the polygon is there twice,
//      1            4 /  \       at different places of the chain.
//     /                   6
//    0 ------------------- last
class Side {
  public:
    // A triangle between three places of the chain, counter-clockwise. across[k], beyond the edge opposite corner k:
    // the half-edge of another triangle, BASE, or ~i for edge i of the chain, which joins vertices i and i + 1.
    struct Triangle {
        int32 corner[3];
        HalfEdge across[3];
    };
    static constexpr HalfEdge BASE = 0x7FFFFFFF;

    Side(const Plane &plane, const std::vector<int32> &vertices);

    // Triangulates, and tests the result. Returns false if it is wrong, which nothing is known to cause: the paper
    // inserts some vertices a second time after what it calls collisions, of which 3.7 million sides showed none.
    bool triangulate();

    std::vector<Triangle> triangles;

  private:
    void choose_order();
    void insert(int32 place);
    bool is_right() const;

    int add(int32 a, int32 b, int32 c);
    void link(HalfEdge h, HalfEdge other);
    static bool is_inner(HalfEdge h) { return h >= 0 && h != BASE; }
    int turn(int32 a, int32 b, int32 c) const { return orient2d(points_[a].at, points_[b].at, points_[c].at); }
    bool is_inside(const Triangle &triangle, int32 place) const;

    std::vector<Numbered> points_; // by place
    std::vector<int32> before_, after_, order_;
    std::vector<HalfEdge> inside_; // by place: the half-edge from the next place to it, while no triangle is beyond it
    std::vector<int32> unused_;    // triangles that were removed
};

} // namespace triangulation
