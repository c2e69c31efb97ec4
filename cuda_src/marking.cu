// Which of the grown cavities go ahead: marking, after Nasre, Burtscher and Pingali (2013) and the thesis, chapter 5.
//
// A phase ends where its launch does. Only remark_cavity reads and writes owner words in one launch, and races by design;
// mark_in_three_phases has barriers of the grid in place of the ends of launches.
#include "quality.cuh"

// keys[i] orders the cavities of this step (cavity.cuh).
KERNEL(make_keys, const int32 *roots, Count segments, Count stamp, const Subsegment *subsegments,
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
KERNEL(settle_neighbours, Count stamp, int32 room, int64 records, int32 *members, RimEdge *rims,
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

// What a marking kernel is given: the grown cavities and their keys.
struct Marker {
    int32 room;
    Index records;
    int32 *members;
    RimEdge *rims;
    const Extent *extents;
    const uint64 *keys;

    template <class Visit> METHOD bool visit(Index i, Visit visit) const {
        return for_cavity_and_ring(Cavity(members, rims, records, room, i), extents[i], visit);
    }

    // Phase 1 of 3: everyone writes its key with plain stores; the last one stays.
    METHOD void mark(Index i, Triangle *triangles) const {
        visit(i, [&](int32 t) {
            racing_store(&triangles[t].owner, keys[i]);
            return true;
        });
    }

    // Phase 2 of 3: whoever finds its triangles marked by nobody of higher priority marks them all again, with plain
    // stores as well. The others have lost and back off: the thesis lets them overwrite lower marks all the same, and
    // where a GPU's threads run in step, these writes keep whole clusters of cavities from ever having a winner.
    METHOD void remark(Index i, Triangle *triangles) const {
        const bool highest = visit(i, [&](int32 t) { return racing_load(&triangles[t].owner) <= keys[i]; });
        if (highest)
            mark(i, triangles);
    }

    // The two in one, by atomic maximum: of any cavities that overlap the most urgent one wins.
    METHOD void mark_atomic(Index i, Triangle *triangles) const {
        visit(i, [&](int32 t) {
            atomic_max(&triangles[t].owner, keys[i]);
            return true;
        });
    }

    // Phase 3 of 3: who owns all of its cavity and ring goes ahead; the others stay unprocessed (UNDECIDED).
    METHOD void check(Index i, const Triangle *triangles, int32 *outcomes, int32 *won, int32 *progress) const {
        won[i] = outcomes[i] == UNDECIDED &&
                 visit(i, [&](int32 t) { return racing_load(&triangles[t].owner) == keys[i]; });
        if (won[i]) {
            outcomes[i] = OWNER;
            if (progress != nullptr)
                racing_store(progress, 1);
        }
    }
};

KERNEL(mark_cavity, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    const Marker marker = {room, records, members, rims, extents, keys};
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            marker.mark(i, triangles);
}

KERNEL(remark_cavity, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    const Marker marker = {room, records, members, rims, extents, keys};
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            marker.remark(i, triangles);
}

KERNEL(mark_cavity_atomic, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, const int32 *outcomes, Triangle *triangles) {
    const Marker marker = {room, records, members, rims, extents, keys};
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            marker.mark_atomic(i, triangles);
}

KERNEL(check_marks, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
       const uint64 *keys, int32 *outcomes, const Triangle *triangles, int32 *won, int32 *progress) {
    const Marker marker = {room, records, members, rims, extents, keys};
    FOR_RANGE (i)
        marker.check(i, triangles, outcomes, won, progress);
}

// The three phases in one kernel, as Nasre, Burtscher and Pingali have them: a barrier of the whole grid stands where
// otherwise a launch ends and the next begins.
GRID_KERNEL(mark_in_three_phases, int32 room, int64 records, int32 *members, RimEdge *rims, const Extent *extents,
            const uint64 *keys, int32 *outcomes, Triangle *triangles, int32 *won, int32 *progress) {
    const Marker marker = {room, records, members, rims, extents, keys};
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            marker.mark(i, triangles);
    GRID_BARRIER();
    FOR_RANGE (i)
        if (outcomes[i] == UNDECIDED)
            marker.remark(i, triangles);
    GRID_BARRIER();
    FOR_RANGE (i)
        marker.check(i, triangles, outcomes, won, progress);
}

// Where the races left nobody all of its triangles: one thread lets one cavity go ahead, and the round is not lost.
KERNEL(force_one, const int32 *progress, int64 cavities, int32 *outcomes, int32 *won) {
    FOR_RANGE (once)
        for (Index i = 0; i < cavities && !progress[once]; ++i)
            if (outcomes[i] == UNDECIDED) {
                outcomes[i] = OWNER;
                won[i] = 1;
                break;
            }
}

// After the winners of a step are in: a cavity that lost is dead where its root was rebuilt, damaged where another of
// its triangles or of its ring was, and still good otherwise.
KERNEL(check_cavity, const int32 *roots, Count segments, Count stamp, int32 room, int64 records, int32 *members,
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
TEAM_KERNEL(count_outcomes, const int32 *outcomes, const uint8 *off_center, Count segments, Count count,
            int64 *counts) {
    TEAM_SHARED(int32, tally, OUTCOMES + 1);
    FOR_TEAMS (team) {
        FOR_MEMBERS (member)
            if (member <= OUTCOMES)
                tally[member] = 0;
        FOR_MEMBERS (member) {
            const Index begin = (team * TEAM_SIZE + member) * ITEMS;
            for (Index i = begin; i < begin + ITEMS && i < count; ++i) {
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
