// Where the search for a point starts: at the slot of a vertex that is near on the curve.
//
// `slots` has an entry per vertex, followed by coarser levels: an entry for every 16 of the level before, up to a level
// with a single one. The entry of a vertex is
//
//     NOTHING    not searched yet
//     slot       a triangle that the vertex got when it was inserted
//     ~slot - 1  the triangle that contained it when it was searched last; it is not inserted yet
//
// The entry of a coarser level is that of the first vertex inserted below it. Slots are never given up, and a cavity
// reuses the slots of its triangles: so an old slot still holds a triangle nearby.
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
    int32 entry = NOTHING;
    while (entry == NOTHING && size > 1) {
        level += size;
        size = (size + SLOT_BRANCHES - 1) / SLOT_BRANCHES;
        place /= SLOT_BRANCHES;
        entry = racing_load(level + place);
    }
    return slot_of(entry);
}

// Notes the slot of an inserted vertex, and on the levels above up to one that has an entry.
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
        racing_store(level + place, slot);
    }
}
