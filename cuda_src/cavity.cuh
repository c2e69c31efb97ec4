// One cavity: what a Steiner point deletes, and what it leaves as the rim of the hole.
//
// The cavity of p holds every triangle whose circumcircle has p strictly inside and that p sees. It is star-shaped
// from p, and none of its vertices lies within, so the triangles form a tree: a walk that starts at the root and never
// turns back meets each of them once. Walked depth first and counter-clockwise, the edges where it stops are the rim,
// in order around p:
//
//              v2 ____ v1           rim[j] = the edge from rim[j].vertex to rim[j + 1].vertex, counter-clockwise,
//               /\  . /\                     and what lies beyond it: a triangle, or a subsegment (as Triangle.link).
//              /  \ ./  \           k members have k + 2 rim edges. Where p splits a boundary subsegment, that edge is
//          v3 / __ p(+)  \ v0       no part of the rim: it starts at the subsegment's end, stops at its start, and
//             \      \  /           has k + 1 edges. Where p splits an inner subsegment, there are two such chains.
//              \______\/
//              v4      v5
#pragma once

#include "encroachment.cuh"

// What became of a cavity in a step; Python counts them by these numbers (dmr/pipeline/cavities.py).
enum Outcome : int32 {
    INSERTED = 0,   // the point went in
    LOST = 1,       // a cavity of higher priority owns one of its triangles
    YIELDED = 2,    // its point and a neighbour's of higher priority cannot both go in
    ENCROACHED = 3, // the point encroaches on a subsegment, which is to be split instead
    PRECISION = 4,  // the coordinates cannot resolve the point
    OVERFLOWED = 5, // more triangles than the record has room for: tried again with more
    BUDGET = 6,     // the limit on Steiner points cut it
    OWNER = 7,      // owns its triangles (between two kernels only)
    UNDECIDED = 8,  // grown, not yet judged
    DAMAGED = 9,    // another cavity changed it (two-stage marking: to be grown again)
    DEAD = 10,      // its root is gone
    BLOCKED = 11,   // a subsegment that is never split stands in its way
    DEFERRED = 12,  // waits for exact arithmetic (between two kernels only)
    OUTCOMES = 13,  // how many there are
};

struct RimEdge {
    int32 vertex; // where it starts
    int32 beyond; // triangle, or ~subsegment
};

// The record of one cavity among many. On a GPU the j-th entries of all records lie side by side, so that the threads
// of a warp read them together; on a CPU the entries of one record do.
struct Cavity {
    int32 *members;
    RimEdge *rim;
    uint32 stride; // 32 bits, that one multiplication may do
    int32 room;    // entries of each

    METHOD Cavity(int32 *all_members, RimEdge *all_rims, Index records, int32 room, Index record)
        : members(all_members + record_start(record, room)), rim(all_rims + record_start(record, room)),
          stride(uint32(record_stride(records))), room(room) {}

    METHOD int32 &member(int j) const { return members[Index(stride) * uint32(j)]; }
    METHOD RimEdge &edge(int j) const { return rim[Index(stride) * uint32(j)]; }
};

// The numbers of a grown cavity.
struct Extent {
    int32 members;
    int32 edges;
    int32 left_edges; // of them, those left of a split subsegment (all of them where it has no right side)
};

// All cavities of a pass: record i belongs to candidate i, and the first ones are those of subsegments.
KERNEL_STRUCT(Cavities) {
    const int32 *roots;   // what each is grown around: a subsegment, or a triangle
    int64 room;           // entries a record
    int64 records;
    int32 *members;
    RimEdge *rims;
    Extent *extents;
    Point *steiner;       // the point that is to go in
    uint8 *off_center;    // whether it is one
    float64 *parameters;  // where it lies on its input segment
    int32 *outcomes;
    uint64 *keys;         // the order of the cavities of a step (see below)
    int32 *won;           // 1 where the point goes in
    int32 *apexes;        // the vertex that a winner inserts, for its squad
    int32 *extra_places;  // where the slots begin that a winner claims beyond its own
    int32 *fresh_places;  // where its triangles begin in the list of new ones
    uint32 *shared;       // bit j: another winner has rim edge j, too; bit 31: an edge from the 31st on

    METHOD Cavity at(Index i) const { return Cavity(members, rims, records, int32(room), i); }
};

// What a loop over cavities asks for ahead, some turns from now: the ends of a record, from which it is written as the
// cavity grows (few reach the middle), then the triangles that the cavity deletes, and those beyond its rim.
INLINE void prefetch_record(const Cavities &cavities, Index i, Index end) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    prefetch(&cavity.member(0));
    prefetch(&cavity.edge(0));
    prefetch(&cavity.edge(cavity.room - 1));
}

INLINE void prefetch_members(const Cavities &cavities, Index i, Index end, const Triangle *triangles) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].members; ++j)
        prefetch(&triangles[cavity.member(j)]);
}

INLINE void prefetch_words(const Cavities &cavities, Index i, Index end, const uint32 *quality) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].members; ++j)
        prefetch(&quality[cavity.member(j)]);
}

INLINE void prefetch_rim(const Cavities &cavities, Index i, Index end, const Triangle *triangles) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].edges; ++j)
        if (cavity.edge(j).beyond >= 0)
            prefetch(&triangles[cavity.edge(j).beyond]);
}

INLINE void prefetch_rim_points(const Cavities &cavities, Index i, Index end, const Point *points) {
    if (!PREFETCHES || i >= end)
        return;
    const Cavity cavity = cavities.at(i);
    for (int j = 0; j < cavities.extents[i].edges; ++j)
        prefetch(&points[cavity.edge(j).vertex]);
}

// Growing, step by step. The edges still to be looked across are a stack that shares the rim's memory: it grows down from
// the end while the rim grows up, and each of them will give one rim edge at least, so the two meet only where the rim
// itself would not fit. Rim and stack, from its top down, are one chain around p: each edge starts where the last one
// stopped, so that an edge on the stack is known by the vertex where it stops.
template <Care care> class Growth {
  public:
    METHOD Growth(const Cavity &cavity, const Triangle *triangles, const Point *points, Point p)
        : cavity_(cavity), triangles_(triangles), points_(points), p_(p) {}

    // Starts at a triangle with p in its circumcircle: all three edges are looked across.
    METHOD void start_at(int32 root) {
        const Triangle t = without_owner(triangles_[root]);
        add_member(root);
        push(edge_to(t, 2), t.link[2]);
        push(edge_to(t, 1), t.link[1]);
        push(edge_to(t, 0), t.link[0]);
        from_ = edge_from(t, 0);
    }

    // Starts at a triangle that has the subsegment to be split as its edge e.
    METHOD void start_behind(int32 root, int e) {
        const Triangle t = without_owner(triangles_[root]);
        add_member(root);
        push(edge_from(t, e), link_across(t, previous_corner(e)));
        push(corner(t, e), link_across(t, next_corner(e)));
        from_ = edge_to(t, e);
    }

    // Runs to the end. Every rim edge that is a subsegment is shown to `meet(subsegment, u, v)`, u and v being its ends,
    // which says with a sign whether the rim may stay; every other one must have p strictly on its left, or the cavity is
    // not star-shaped (rounding put p where the coordinates cannot tell it from a vertex or an edge). Each edge that the rim
    // gets is shown to `pass(u, v, first)`.
    template <class Meet, class Pass> METHOD Outcome run(Meet meet, Pass pass) {
        if (overflow_) // the rim of a segment's first side left no room to start at the second
            return OVERFLOWED;
        Point u = points_[from_];
        while (pending_ > 0) {
            const RimEdge top = waiting(pending_--);
            int32 to = top.vertex, beyond = top.beyond;
            Point v = points_[to];
            // Walks on into the triangle beyond as long as p is in its circumcircle. Of its two other edges the first,
            // which starts at u as well, is next, and the second waits.
            while (beyond >= 0) {
                const Triangle outside = without_owner(triangles_[beyond]);
                const int at = edge_that_starts_at(outside, to);
                const int32 apex = corner(outside, at);
                const Point w = points_[apex];
                const int inside = incircle_with<care>(w, v, u, p_);
                if (inside == UNSURE)
                    return DEFERRED;
                if (inside <= 0)
                    break;
                add_member(beyond);
                push(to, link_across(outside, previous_corner(at)));
                to = apex;
                v = w;
                beyond = link_across(outside, next_corner(at));
                if (overflow_)
                    return OVERFLOWED;
            }
            const int free = beyond >= 0 ? orient2d_with<care>(u, v, p_) : meet(~beyond, u, v);
            if (free <= 0 || free == UNSURE)
                return free == UNSURE ? DEFERRED : PRECISION;
            pass(u, v, extent_.edges == 0);
            cavity_.edge(extent_.edges++) = {from_, beyond};
            from_ = to;
            u = v;
        }
        return UNDECIDED;
    }

    // Marks the end of the rim: the vertex where its last edge stops.
    METHOD void finish() { cavity_.edge(extent_.edges) = {from_, NOTHING}; }

    METHOD Extent &extent() { return extent_; }

  private:
    METHOD void add_member(int32 t) {
        if (extent_.members >= cavity_.room)
            overflow_ = true;
        else
            cavity_.member(extent_.members++) = t;
    }

    // The k-th entry of the stack, from 1 on: its vertex is where the edge stops.
    METHOD RimEdge &waiting(int k) const { return cavity_.edge(cavity_.room - k); }

    // Room is left for the edge that is being looked across, and for the entry that marks the end.
    METHOD void push(int32 to, int32 beyond) {
        if (extent_.edges + pending_ + 3 > cavity_.room)
            overflow_ = true;
        else
            waiting(++pending_) = {to, beyond};
        if (beyond >= 0)
            prefetch(&triangles_[beyond]);
    }

    const Cavity &cavity_;
    const Triangle *triangles_;
    const Point *points_;
    Point p_;
    Extent extent_ = {0, 0, 0};
    int32 from_ = NOTHING; // where the next edge of the rim starts
    int pending_ = 0;
    bool overflow_ = false;
};

// ---- Ownership -------------------------------------------------------------------------------------------------------
//
// A key orders the cavities of a step, and says in which step it was given and to which cavity:
//
//     bits 63-56  stamp      number of the step, 1 to 255: keys of earlier steps are smaller, so nothing is cleared
//     bit  55     segment    segments before triangles
//     bits 54-32  urgency    of the triangle (quality.cuh), or of the segment: shortest first
//     bits 31-0   cavity     scattered, so that ties are broken at random; unique

constexpr int32 LAST_STAMP = 255; // after it owner words are cleared, and the stamps start again
constexpr int URGENCY_BITS = 23;
constexpr uint32 URGENCY_MASK = (1u << URGENCY_BITS) - 1;

// The exponent and the 12 leading bits of the mantissa of a positive number: larger for larger numbers.
INLINE uint32 magnitude_bits(float64 x) { return uint32(bits_of(x) >> 40) & URGENCY_MASK; }
INLINE uint32 shortness(float64 squared_length) { return URGENCY_MASK - magnitude_bits(squared_length); }

INLINE uint64 cavity_key(uint32 stamp, bool segment, uint32 urgency, int32 cavity) {
    return uint64(stamp) << 56 | uint64(segment) << 55 | uint64(urgency) << 32 | scatter(uint32(cavity));
}
INLINE uint32 stamp_of(uint64 key) { return uint32(key >> 56); }
INLINE int32 cavity_of(uint64 key) { return int32(gather(uint32(key))); }

// What a rebuilt slot's owner word becomes: the stamp and cavity of its key, and class and urgency bits that no key has
// (they would mean a squared length below 2^-1022). Whoever reads owner_of at that moment sees the same owner.
constexpr uint64 REBUILT = uint64(0xffffff) << 32;

INLINE uint64 rebuilt_mark(uint64 key) { return key | REBUILT; }
INLINE bool was_rebuilt(const Triangle &t, uint32 stamp) {
    return stamp_of(t.owner) == stamp && (t.owner & REBUILT) == REBUILT;
}

// The cavity of this step that owns a triangle, or NOTHING.
INLINE int32 owner_of(const Triangle *triangles, int32 t, uint32 stamp) {
    const uint64 key = racing_load(&triangles[t].owner);
    return stamp_of(key) == stamp ? cavity_of(key) : NOTHING;
}
