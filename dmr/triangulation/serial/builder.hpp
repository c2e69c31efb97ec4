// Inserts points into a triangulation of the plane, by cavities (Bowyer 1981, Watson 1981).
#pragma once

#include "owners.hpp"
#include "plane.hpp"

namespace triangulation {

constexpr int32 DEFERRED = -2; // the outcome for a point whose cavity reaches beyond the builder's part of the plane

// A stack of which g++ inlines `push` wherever it is used; it does not inline std::vector::push_back.
template <class T> class Stack {
  public:
    int32 size() const { return size_; }
    void clear() { size_ = 0; }
    T pop() { return entries_[--size_]; }
    T &operator[](int32 i) { return entries_[i]; }

    INLINED void push(T entry) {
        if (size_t(size_) == entries_.size())
            grow();
        entries_[size_++] = entry;
    }

  private:
    [[gnu::noinline]] void grow() { entries_.resize(2 * entries_.size()); }

    std::vector<T> entries_ = std::vector<T>(64);
    int32 size_ = 0;
};

// Inserts points into the part of a plane that its owner has.
template <class Owner> class Builder {
  public:
    explicit Builder(Plane &plane, Owner owner = {}) : plane_(plane), owner_(owner) {}

    // Makes the first triangle and the three ghosts around it.
    void start(int32 a, int32 b, int32 c) {
        if (plane_.side(a, b, plane_.points[c]) < 0)
            std::swap(b, c);
        plane_.faces = {{{a, b, c}, {half_edge(1, 2), half_edge(2, 2), half_edge(3, 2)}},
                        {{c, b, GHOST}, {half_edge(3, 1), half_edge(2, 0), half_edge(0, 0)}},
                        {{a, c, GHOST}, {half_edge(1, 1), half_edge(3, 0), half_edge(0, 1)}},
                        {{b, a, GHOST}, {half_edge(2, 1), half_edge(1, 0), half_edge(0, 2)}}};
        last_ = 0;
    }

    // Lets the search for the next point start at a face that the builder may look at, and that is probably near it.
    void start_at(int32 face) { last_ = plane_.triangle_at(face); }

    // A triangle near the last point, whether it was inserted or deferred; NOTHING before the first one.
    int32 last() const { return last_; }

    // Faces that new ones take, the last one first. If there are none, the plane grows.
    std::vector<int32> &spare() { return spare_; }

    // Gives the faces [first, end), which new ones take first, in order.
    void give_faces(int32 first, int32 end) {
        next_face_ = first;
        end_face_ = end;
    }

    // Returns the faces that new ones have not taken, and forgets them.
    std::vector<int32> take_spare() {
        for (; next_face_ < end_face_; ++next_face_)
            spare_.push_back(next_face_);
        return std::move(spare_);
    }

    // Inserts vertex v, or returns the vertex with the same coordinates, or DEFERRED.
    int32 insert(int32 v) {
        if (last_ == NOTHING)
            return DEFERRED;
        const Point p = plane_.points[v];
        int32 root = last_;
        const bool arrived = plane_.walk_within(&root, p, walked_, owner_);
        if (arrived && !plane_.is_ghost(root))
            for (int32 corner : plane_.faces[root].vertex)
                if (same_place(plane_.points[corner], p))
                    return corner;
        if (!arrived || !owns(root) || !grow(root, plane_.numbered(v))) {
            start_at(root);
            return DEFERRED;
        }
        fill(v);
        return v;
    }

    // Whether the builder may look at a face: it has a vertex of its own.
    bool sees(int32 face) const {
        for (int32 vertex : plane_.faces[face].vertex)
            if (vertex != GHOST && owner_(vertex))
                return true;
        return false;
    }

    const Owner &owner() const { return owner_; }

    bool owns(int32 face) const { return owns_face(owner_, plane_.faces[face]); }

  private:
    struct BoundaryEdge {
        int32 from;
        HalfEdge outside;
    };

    // Grows the cavity of p: the faces in conflict, found by a walk over a tree that visits the cavity boundary
    // counter-clockwise (see cuda_src/refine/cavity/cavity.cuh). Returns false if it or a neighbour is not owned.
    INLINED bool grow(int32 root, Numbered p) {
        members_.clear();
        members_.push(root);
        boundary_.clear();
        for (int k = 2; k >= 0; --k)
            pending_.push(half_edge(root, k));
        while (pending_.size() > 0) {
            const HalfEdge inside = pending_.pop(), outside = plane_.twin(inside);
            const int32 apex = plane_.apex(outside); // the ends of the edge are vertices of an owned face
            if (apex != GHOST && !owner_(apex)) {
                pending_.clear();
                return false;
            }
            if (plane_.in_conflict(face_of(outside), p)) {
                members_.push(face_of(outside));
                pending_.push(previous(outside));
                pending_.push(next(outside));
            } else {
                boundary_.push({plane_.from(inside), outside});
            }
        }
        return true;
    }

    // Fills the cavity with a fan around v, which has two more faces.
    INLINED void fill(int32 v) {
        const int32 count = boundary_.size();
        if (next_face_ < end_face_) { // an even number of faces, as each point needs two
            members_.push(next_face_);
            members_.push(next_face_ + 1);
            next_face_ += 2;
        } else if (spare_.empty()) {
            const int32 fresh = int32(plane_.faces.size());
            plane_.faces.resize(fresh + 2);
            members_.push(fresh);
            members_.push(fresh + 1);
        } else { // an even number, too
            for (int turn = 0; turn < 2; ++turn) {
                members_.push(spare_.back());
                spare_.pop_back();
            }
        }
        for (int32 j = 0; j < count; ++j) {
            const int32 after = j + 1 == count ? 0 : j + 1, before = j == 0 ? count - 1 : j - 1;
            const int32 face = members_[j], u = boundary_[j].from, w = boundary_[after].from;
            const HalfEdge outside = boundary_[j].outside;
            plane_.faces[face] = {{v, u, w}, {outside, half_edge(members_[after], 2), half_edge(members_[before], 1)}};
            plane_.faces[face_of(outside)].twin[edge_of(outside)] = half_edge(face, 0);
            if (u != GHOST && w != GHOST)
                last_ = face;
        }
    }

    Plane &plane_;
    const Owner owner_;
    int32 last_ = NOTHING;
    uint32 walked_ = 1;
    std::vector<int32> spare_;
    int32 next_face_ = 0, end_face_ = 0;
    Stack<int32> members_;
    Stack<BoundaryEdge> boundary_;
    Stack<HalfEdge> pending_;
};

} // namespace triangulation
