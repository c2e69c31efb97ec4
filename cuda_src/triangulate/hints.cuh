// The start of the search for a point: a triangle of a vertex that is near on the curve.
//
// `slots` has an entry per vertex, followed by coarser levels: an entry for every 16 of the level before, up to a level
// with a single one. The entry of a vertex is
//
//     NOTHING    not searched yet
//     slot       a triangle with that corner
//     ~slot - 1  the triangle that contained it when it was searched last; it is not inserted yet
//
// The entry of a coarser level is the first vertex inserted below it, or NOTHING.
#pragma once

#include "triangulate/plane.cuh"

constexpr int SLOT_BRANCHES = 16; // entries of a level per entry of the next one

INLINE int32 found_in(int32 slot) { return ~slot - 1; }
INLINE int32 slot_of(int32 entry) { return entry >= 0 ? entry : ~(entry + 1); }
INLINE bool is_inserted(const Plane &plane, int32 vertex) { return plane.slots[vertex] >= 0; }

// A triangle near a vertex. The top level has an entry, because a first triangle exists.
INLINE int32 slot_near(const Plane &plane, int32 vertex) {
    for (const int32 away : {0, -1, 1, -2, 2}) {
        const Index place = Index(vertex) + away;
        const int32 entry = place >= 0 && place < plane.vertices ? racing_load(&plane.slots[place]) : NOTHING;
        if (entry != NOTHING)
            return slot_of(entry);
    }
    const int32 *level = plane.slots;
    Index size = plane.vertices, place = vertex;
    int32 near = NOTHING;
    while (near == NOTHING && size > 1) {
        level += size;
        size = (size + SLOT_BRANCHES - 1) / SLOT_BRANCHES;
        place /= SLOT_BRANCHES;
        near = racing_load(level + place);
    }
    return slot_of(racing_load(&plane.slots[near]));
}

// Calls use(slot) for triangles of vertices on both sides of a vertex, from its level to the first with several.
template <class Use> INLINE void for_near_slots(const Plane &plane, int32 vertex, const Use &use) {
    constexpr int AWAY = 2, SEVERAL = 3;
    const int32 *level = plane.slots;
    Index size = plane.vertices, place = vertex;
    for (int found = 0; found < SEVERAL;) {
        for (Index near = place < AWAY ? 0 : place - AWAY; near <= place + AWAY && near < size; ++near) {
            int32 entry = racing_load(level + near);
            if (entry != NOTHING && level != plane.slots)
                entry = racing_load(&plane.slots[entry]);
            if (entry != NOTHING) {
                use(slot_of(entry));
                ++found;
            }
        }
        if (size <= 1)
            return;
        level += size;
        size = (size + SLOT_BRANCHES - 1) / SLOT_BRANCHES;
        place /= SLOT_BRANCHES;
    }
}

// Notes the triangle of an inserted vertex, and the vertex on the levels above, up to one that has an entry.
INLINE void note_slot(const Plane &plane, int32 vertex, int32 slot) {
    racing_store(&plane.slots[vertex], slot);
    int32 *level = plane.slots;
    Index size = plane.vertices, place = vertex;
    while (size > 1) {
        level += size;
        size = (size + SLOT_BRANCHES - 1) / SLOT_BRANCHES;
        place /= SLOT_BRANCHES;
        if (racing_load(level + place) != NOTHING)
            return;
        racing_store(level + place, vertex);
    }
}

// For a loop over candidates: prefetches the entries of a vertex, then the triangle where its search begins, then that
// triangle's corners and neighbours.
template <class Candidate>
INLINE void prefetch_search(const Plane &plane, Index i, Index end, const Candidate &candidate) {
    constexpr Index FAR = 12, NEAR = 8, NEAREST = 4;
    if (!PREFETCHES)
        return;
    if (i + FAR < end) {
        prefetch(&plane.slots[candidate(i + FAR)]);
        prefetch(&plane.points[candidate(i + FAR)]);
    }
    if (i + NEAR < end)
        prefetch(&plane.triangles[slot_near(plane, candidate(i + NEAR))]);
    if (i + NEAREST < end) {
        const Triangle &t = plane.triangles[slot_near(plane, candidate(i + NEAREST))];
        for (int k = 0; k < 3; ++k) {
            prefetch(&plane.triangles[t.link[k]]);
            if (t.vertex[k] != GHOST)
                prefetch(&plane.points[t.vertex[k]]);
        }
    }
}
