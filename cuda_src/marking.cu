// Which of the grown cavities go ahead: marking, after Nasre, Burtscher and Pingali (2013) and the thesis, chapter 5.
//
// A kernel here reads or writes the owner words of triangles, never both with an effect on the same launch, so that the
// boundary between two launches is the only barrier.
#include "quality.cuh"

// keys[i] orders the cavities of this step (cavity.cuh).
KERNEL(make_keys, const int32 *roots, int64 segments, uint32 stamp, const Subsegment *subsegments,
       const Point *points, const uint32 *quality, uint64 *keys) {
    FOR_RANGE (i) {
        const int32 root = roots[i];
        const bool segment = i < segments;
        const uint32 urgent = segment ? shortness(squared_length(points[subsegments[root].from],
                                                                 points[subsegments[root].to]))
                                      : quality[root] & URGENCY_MASK;
        keys[i] = cavity_key(stamp, segment, urgent, int32(i));
    }
}

KERNEL(clear_owners, Triangle *triangles) {
    FOR_RANGE (t)
        triangles[t].owner = 0;
}

// ---- Deterministic: ownership of the cavity alone, by atomic maximum of the key ------------------------------------

KERNEL(claim_members, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    FOR_RANGE (i) {
        if (outcomes[i] != UNDECIDED)
            continue;
        const Cavity cavity(members, rims, records, room, i);
        for (int j = 0; j < extents[i].members; ++j)
            atomic_max(&triangles[cavity.member(j)].owner, keys[i]);
    }
}

KERNEL(judge_members, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, int32 *outcomes, const Triangle *triangles) {
    FOR_RANGE (i) {
        if (outcomes[i] != UNDECIDED)
            continue;
        const Cavity cavity(members, rims, records, room, i);
        bool all = true;
        for (int j = 0; j < extents[i].members && all; ++j)
            all = triangles[cavity.member(j)].owner == keys[i];
        outcomes[i] = all ? OWNER : LOST;
    }
}

// Two owners that share a rim edge (u, v) and have the new points p and q both go ahead where q is not strictly inside
// the circle (u, v, p): then the edge between the two new triangles is Delaunay too, and the two insertions commute.
// Otherwise the one of lower priority yields, also to an owner that yields itself: one pass, no order. Outcomes are
// only read here, so that every thread sees the same ones.
KERNEL(settle_neighbours, uint32 stamp, int32 room, int64 records, int32 *members, RimEdge *rims,
       const Extent *extents, const uint64 *keys, const int32 *outcomes, const Triangle *triangles,
       const Point *points, const Point *steiner, int32 *won) {
    FOR_RANGE (i) {
        bool go = outcomes[i] == OWNER;
        if (go) {
            const Cavity cavity(members, rims, records, room, i);
            for (int j = 0; j < extents[i].edges && go; ++j) {
                const RimEdge edge = cavity.edge(j);
                if (edge.beyond < 0)
                    continue;
                const int32 other = owner_of(triangles, edge.beyond, stamp);
                if (other == NOTHING || other == i || outcomes[other] != OWNER || keys[other] < keys[i])
                    continue;
                go = incircle(points[edge.vertex], points[cavity.edge(j + 1).vertex], steiner[i], steiner[other]) <= 0;
            }
        }
        won[i] = go;
    }
}

// ---- Two-stage: ownership of the cavity and the ring around it -------------------------------------------------------
//
// A winner owns every triangle whose record it writes, so winners never share an edge.

template <class Visit> INLINE bool for_cavity_and_ring(const Cavity &cavity, const Extent &extent, Visit visit) {
    for (int j = 0; j < extent.members; ++j)
        if (!visit(cavity.member(j)))
            return false;
    for (int j = 0; j < extent.edges; ++j)
        if (cavity.edge(j).beyond >= 0 && !visit(cavity.edge(j).beyond))
            return false;
    return true;
}

// Phase 1 of 3: everyone writes its key with plain stores; the last one stays.
KERNEL(mark_cavity, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            for_cavity_and_ring(Cavity(members, rims, records, room, i), extents[i], [&](int32 t) {
                racing_store(&triangles[t].owner, keys[i]);
                return true;
            });
}

// Phase 2 of 3: whoever finds a key of lower priority writes its own over it, again with plain stores.
KERNEL(remark_cavity, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            for_cavity_and_ring(Cavity(members, rims, records, room, i), extents[i], [&](int32 t) {
                if (racing_load(&triangles[t].owner) < keys[i])
                    racing_store(&triangles[t].owner, keys[i]);
                return true;
            });
}

// Second stage: the same by atomic maximum, so that of any cavities that overlap one wins.
KERNEL(mark_cavity_atomic, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            for_cavity_and_ring(Cavity(members, rims, records, room, i), extents[i], [&](int32 t) {
                atomic_max(&triangles[t].owner, keys[i]);
                return true;
            });
}

// Phase 3 of 3: who owns all of its cavity and ring goes ahead; the others stay unprocessed (UNDECIDED).
KERNEL(check_marks, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, int32 *outcomes, const Triangle *triangles, int32 *won) {
    FOR_RANGE (i) {
        won[i] = outcomes[i] == UNDECIDED &&
                 for_cavity_and_ring(Cavity(members, rims, records, room, i), extents[i],
                                     [&](int32 t) { return triangles[t].owner == keys[i]; });
        if (won[i])
            outcomes[i] = OWNER;
    }
}

// After the winners of a step are in: a cavity that lost is dead where its root was rebuilt, damaged where another of
// its triangles or of its ring was, and still good otherwise.
KERNEL(check_cavity, const int32 *roots, int64 segments, uint32 stamp, int32 room, int64 records, int32 *members,
       RimEdge *rims, const Extent *extents, int32 *outcomes, const Triangle *triangles) {
    FOR_RANGE (i) {
        if (outcomes[i] != UNDECIDED)
            continue;
        const bool whole = for_cavity_and_ring(Cavity(members, rims, records, room, i), extents[i],
                                               [&](int32 t) { return !was_rebuilt(triangles[t], stamp); });
        if (!whole)
            outcomes[i] = i >= segments && was_rebuilt(triangles[roots[i]], stamp) ? DEAD : DAMAGED;
    }
}

// ---- Counting --------------------------------------------------------------------------------------------------------

// After a step's winners are in.
KERNEL(record_insertions, const int32 *won, int32 *outcomes) {
    FOR_RANGE (i)
        if (won[i])
            outcomes[i] = INSERTED;
}

// After the last step: owners that did not win yielded, and what is still undecided lost.
KERNEL(record_losses, int32 *outcomes) {
    FOR_RANGE (i) {
        if (outcomes[i] == OWNER)
            outcomes[i] = YIELDED;
        else if (outcomes[i] == UNDECIDED || outcomes[i] == DAMAGED || outcomes[i] == DEAD)
            outcomes[i] = LOST;
    }
}

// Winners beyond the limit on Steiner points give way.
KERNEL(cut_winners, const uint64 *keys, uint64 lowest, int32 *won, int32 *outcomes) {
    FOR_RANGE (i)
        if (won[i] && keys[i] < lowest) {
            won[i] = 0;
            outcomes[i] = BUDGET;
        }
}

constexpr int ITEMS = 16; // cavities a member

// counts[outcome] += how many cavities had it; counts[OUTCOMES] += off-centers inserted.
TEAM_KERNEL(count_outcomes, const int32 *outcomes, const uint8 *off_center, int64 segments, int64 records,
            int64 *counts) {
    TEAM_SHARED(int32, tally, OUTCOMES + 1);
    FOR_TEAMS (team) {
        FOR_MEMBERS (member)
            if (member <= OUTCOMES)
                tally[member] = 0;
        FOR_MEMBERS (member) {
            const Index begin = (team * TEAM_SIZE + member) * ITEMS;
            for (Index i = begin; i < begin + ITEMS && i < records; ++i) {
                atomic_add(&tally[outcomes[i]], 1);
                if (outcomes[i] == INSERTED && i >= segments && off_center[i])
                    atomic_add(&tally[OUTCOMES], 1);
            }
        }
        FOR_MEMBERS (member)
            if (member <= OUTCOMES && tally[member])
                atomic_add(&counts[member], int64(tally[member]));
    }
}
