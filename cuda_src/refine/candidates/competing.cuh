// Which subsegments and bad triangles compete in a round.
#pragma once

#include "mesh/mesh.cuh"
#include "refine/quality/quality.cuh"

enum Choice : int32 {
    UNBEATEN = 0,     // bad triangles that no bad neighbour, or neighbour's neighbour, beats in urgency
    EVERYONE = 1,     // all bad triangles, as in the thesis
    LARGE_ONES = 2,   // only those that wait for large records
    UNBEATEN_FAR = 3, // as UNBEATEN, with one more ring of neighbours
};

// If many compete and more than half of them insert no point, cavities reach beyond the neighbours compared. From the
// next round on, only UNBEATEN_FAR triangles compete, until few are left.
constexpr int32 MANY_COMPETE = 1024, FEW_COMPETE = 256;

INLINE int32 next_choice(int32 choice, int32 competed, int32 won) {
    if (choice == UNBEATEN_FAR)
        return competed >= FEW_COMPETE ? UNBEATEN_FAR : UNBEATEN;
    return choice == UNBEATEN && competed >= MANY_COMPETE && 2 * won < competed ? UNBEATEN_FAR : choice;
}

INLINE bool is_unbeaten_choice(int32 choice) { return choice == UNBEATEN || choice == UNBEATEN_FAR; }

// ---- Bad triangles ------------------------------------------------------------------------------------------------

// Urgency of a triangle among its neighbours; 0 if it does not compete. The bit LISTED of a word may change at the same
// time, the others do not. Without a branch, which would go either way half of the time.
INLINE uint32 urgency(uint32 quality) {
    const uint32 word = quality & ~(LISTED | HELD | WAITS);
    return (0u - uint32(word - BAD < LARGE)) & word; // of the four highest bits only BAD; FORCED excludes it
}

// Whether triangle `other`, of urgency `its`, is more urgent than t, whose urgency `mine` is not 0. Ties are broken by
// hash.
INLINE bool beats(uint32 its, int32 other, uint32 mine, int32 t) {
    if (its == mine) // seldom
        return hash32(uint32(other)) > hash32(uint32(t));
    return its > mine;
}

// The first neighbour of `triangle`, other than t, that is more urgent than t, or NOTHING. The three words are loaded
// independently.
INLINE int32 rival_beside(const Triangle &triangle, const uint32 *quality, int32 t, uint32 mine) {
    uint32 of[3];
    for (int k = 0; k < 3; ++k) {
        const int32 across = triangle.link[k];
        const bool other = (across >= 0) & (across != t);
        of[k] = (0u - uint32(other)) & urgency(racing_load(&quality[perhaps_across(across)]));
    }
    int32 rival = NOTHING;
    for (int k = 2; k >= 0; --k)
        rival = beats(of[k], triangle.link[k], mine, t) ? triangle.link[k] : rival;
    return rival;
}

// The same for the neighbours of the neighbours' neighbours of t. It is rarely called; as a separate function it does
// not cost its callers registers.
OUTLINE int32 farther_rival(const Triangle *triangles, const uint32 *quality, int32 t, uint32 mine) {
    for (int32 beside : triangles[t].link)
        for (int k = 0; beside >= 0 && k < 3; ++k) {
            const int32 next = triangles[beside].link[k];
            const int32 rival =
                next >= 0 && next != t ? rival_beside(without_owner(triangles[next]), quality, t, mine) : NOTHING;
            if (rival != NOTHING)
                return rival;
        }
    return NOTHING;
}

// A bad triangle competes only if no bad neighbour, and no bad neighbour of a neighbour, is more urgent: otherwise its
// cavity would most likely lose to theirs, and growing it would be wasted. Three of four competing triangles insert
// their point. The most urgent triangle of all never waits. A triangle that is only too large compares itself with its
// direct neighbours alone: cavities are small there, and more than nine of ten insert their point nevertheless, in a
// quarter fewer rounds.
INLINE bool compares_far(uint32 q, bool far) { return far || (q & SKINNY) != 0; }

// The first triangle of that neighbourhood that is more urgent than t, or NOTHING.
INLINE int32 rival_around(const Mesh &mesh, int32 t, uint32 q, bool far) {
    const uint32 mine = urgency(q);
    const Triangle here = without_owner(mesh.triangles[t]);
    int32 rival = rival_beside(here, mesh.quality, t, mine);
    if (compares_far(q, far) && rival == NOTHING) {
        Triangle around[3];
        for (int k = 0; k < 3; ++k)
            around[k] = here.link[k] < 0 ? Triangle{{}, {NOTHING, NOTHING, NOTHING}, 0}
                                         : without_owner(mesh.triangles[here.link[k]]);
        for (int k = 0; k < 3 && rival == NOTHING; ++k)
            rival = rival_beside(around[k], mesh.quality, t, mine);
        if (far && rival == NOTHING)
            rival = farther_rival(mesh.triangles, mesh.quality, t, mine);
    }
    return rival;
}

// Whether the triangle now in the slot of t's last rival beats t. Most beaten triangles wait for several rounds, and
// this spares them the search of their neighbourhood in each round.
INLINE bool last_rival_beats(const uint32 *quality, const int32 *rivals, int32 t, uint32 q) {
    const int32 last = rivals[t] - 1, rival = perhaps_across(last);
    const uint32 its = urgency(racing_load(&quality[rival]));
    return (last >= 0) & beats(its, rival, urgency(q), t);
}

// Whether no triangle beats t. If rivals are `remembered`, a beaten triangle looks at its last one first.
INLINE bool is_unbeaten(const Mesh &mesh, int32 t, uint32 q, bool far, bool remembered) {
    if (urgency(q) == 0 || (remembered && last_rival_beats(mesh.quality, mesh.rivals, t, q)))
        return false;
    const int32 rival = rival_around(mesh, t, q, far);
    if (remembered)
        mesh.rivals[t] = rival + 1;
    return rival == NOTHING;
}

INLINE bool is_eligible(int32 choice, uint32 quality) {
    return to_refine(quality) && ((quality & LARGE) != 0) == (choice == LARGE_ONES);
}

INLINE bool is_chosen(int32 choice, const Mesh &mesh, int32 t, uint32 q, bool remembered) {
    return is_eligible(choice, q) &&
           (!is_unbeaten_choice(choice) || is_unbeaten(mesh, t, q, choice == UNBEATEN_FAR, remembered));
}

// In small meshes only the most urgent candidates proceed, within a factor of four in length: the order of insertion
// decides the size of the result.
constexpr int WINDOW_SHIFT =
    13; // leaves the bits of urgency that tell squared lengths, or areas, apart by a factor of 16

INLINE bool has_windows(int32 choice, Index slots, int32 small_mesh) {
    return choice == LARGE_ONES || (is_unbeaten_choice(choice) && slots <= small_mesh);
}

INLINE int32 window_of(uint32 quality) { return int32((quality & URGENCY_MASK) >> WINDOW_SHIFT); }

// ---- Subsegments --------------------------------------------------------------------------------------------------

constexpr Index FEW_SEGMENTS = 64; // triangles per subsegment waiting to be split, for both kinds to compete

// Whether the `waiting` subsegments compete alone in this round. The points on segments shape all later insertions, and
// a triangle's point would often have to yield to them. If there are few of them in a mesh of many triangles, however,
// most triangles are far away from any of them, and the two kinds compete together: subsegments come first in the order
// of keys. The length of the list of bad triangles must not affect this decision, because it depends on when the list
// was last compacted.
INLINE bool segments_alone(int32 choice, Index waiting, Index slots, bool begun) {
    return waiting > 0 && (!is_unbeaten_choice(choice) || !begun || waiting * FEW_SEGMENTS > slots);
}

// Whether any point was inserted for a triangle: not all new vertices lie on segments.
INLINE bool has_free_points(const Mesh &mesh, Index vertices, Index subsegments) {
    return vertices - mesh.input_vertices > subsegments - mesh.input_subsegments;
}
