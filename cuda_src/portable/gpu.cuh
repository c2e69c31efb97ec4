// Groups of a GPU's threads, written once for nvcc (cuda.cuh) and for the tests' emulator (emulated.cuh).
#pragma once

constexpr bool EXACT_IS_DEAR = true;       // see predicates.cuh
constexpr bool READS_WHOLE_RECORDS = true; // memory is read in whole sectors, whichever words are needed
constexpr bool PREFETCHES = false;         // a GPU runs other threads while some wait for memory
constexpr bool CHECKS_AT_ONCE = false;     // see retriangulation.cu: on a GPU the checks have a separate kernel
constexpr bool ONE_MEMBER = false;         // whether a team has a single member, which does everything sequentially
constexpr int SIDE_BY_SIDE = 4; // independent loads of a loop that a thread waits for together; a CPU prefetches
constexpr int WARP = 32;        // lanes
constexpr int LANES = WARP;     // members that run in lockstep
#define IN_VECTORS
#define STOP_POINT() ((void)0)

// ---- Memory and numbers ---------------------------------------------------------------------------------------------

INLINE int32 atomic_add(int32 *place, int32 value) { return atomicAdd(place, value); }
INLINE uint64 atomic_add(uint64 *place, uint64 value) {
    return atomicAdd(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value));
}
INLINE int64 atomic_add(int64 *place, int64 value) {
    return static_cast<int64>(atomic_add(reinterpret_cast<uint64 *>(place), static_cast<uint64>(value)));
}
INLINE int32 atomic_min(int32 *place, int32 value) { return atomicMin(place, value); }
INLINE int64 atomic_min(int64 *place, int64 value) {
    return static_cast<int64>(atomicMin(reinterpret_cast<long long *>(place), static_cast<long long>(value)));
}
INLINE uint32 atomic_min(uint32 *place, uint32 value) { return atomicMin(place, value); }
INLINE int32 atomic_max(int32 *place, int32 value) { return atomicMax(place, value); }
INLINE int64 atomic_max(int64 *place, int64 value) {
    return static_cast<int64>(atomicMax(reinterpret_cast<long long *>(place), static_cast<long long>(value)));
}
INLINE uint64 atomic_max(uint64 *place, uint64 value) {
    return atomicMax(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value));
}
INLINE uint32 atomic_or(uint32 *place, uint32 bits) { return atomicOr(place, bits); }
INLINE uint64 atomic_or(uint64 *place, uint64 bits) {
    return atomicOr(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(bits));
}
INLINE int32 compare_and_swap(int32 *place, int32 expected, int32 desired) {
    return atomicCAS(place, expected, desired);
}
INLINE uint64 compare_and_swap(uint64 *place, uint64 expected, uint64 desired) {
    return atomicCAS(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(expected),
                     static_cast<unsigned long long>(desired));
}

// Whether the launch that this thread works on has no other thread. What a launch does alone comes before what it does
// together with others.
INLINE constexpr bool works_alone() { return false; }

// Stores a value if a condition holds.
template <class T> INLINE void store_if(bool condition, T *place, T value) {
    if (condition)
        *place = value;
}

// Stores a value in a place that no other thread uses meanwhile, and returns the previous one. A load and a store would
// be two requests to memory, of which the second waits while the sector of the first is fetched.
INLINE int32 replaced(int32 *place, int32 value) { return atomicExch(place, value); }
INLINE uint64 replaced(uint64 *place, uint64 value) {
    return atomicExch(reinterpret_cast<unsigned long long *>(place), static_cast<unsigned long long>(value));
}

// Adds to a striped counter, whose value is the sum of STRIPES entries: adjacent threads add to adjacent entries.
INLINE void count_up(int64 *stripes, int64 value) {
    if (value != 0)
        atomic_add(stripes + (blockIdx.x * blockDim.x + threadIdx.x) % STRIPES, value);
}

// Stores a record of 32 bytes; other threads may read a word of it at the same time.
template <class T> INLINE void store_record(T *place, const T &record) {
    static_assert(sizeof(T) == 2 * sizeof(int4) && alignof(T) == sizeof(T), "one sector of memory");
    reinterpret_cast<int4 *>(place)[0] = reinterpret_cast<const int4 *>(&record)[0];
    reinterpret_cast<int4 *>(place)[1] = reinterpret_cast<const int4 *>(&record)[1];
}

// First entry of a record of `length` entries among many, and the stride between its entries. A GPU's threads, one per
// record, read neighbouring words; a CPU's thread reads a record from end to end.
INLINE Index record_start(Index record, Index) { return record; }
INLINE Index record_stride(Index records) { return records; }

// Prefetches a cache line. Only the CPU does.
INLINE void prefetch(const void *) {}

INLINE int trailing_zeros(uint32 bits) { return __ffs(int(bits)) - 1; } // of at least one
INLINE int bits_in(uint32 bits) { return __popc(bits); }
INLINE int trailing_zeros(uint64 bits) { return __ffsll(int64(bits)) - 1; }

INLINE uint64 bits_of(float64 x) { return static_cast<uint64>(__double_as_longlong(x)); }
INLINE float64 float64_of(int64 bits) { return __longlong_as_double(bits); }
INLINE float64 magnitude(float64 x) { return fabs(x); }
INLINE float64 square_root(float64 x) { return __dsqrt_rn(x); } // correctly rounded, as IEEE 754 requires

// ---- How threads share indices --------------------------------------------------------------------------------------

namespace gpu {

// Number of members of each warp that take part when `warps` warps share `count` indices. Diverging members of a warp
// wait for each other, so few indices are spread over all warps.
INLINE int lanes_for(Index count, unsigned warps) {
    return count >= Index(warps) * WARP ? WARP : count <= warps ? 1 : int((unsigned(count) + warps - 1) / warps);
}

// First index of this thread in a range that `blocks` blocks share, or the end if it has none. One iteration of all
// threads covers a range that is spread; in longer ones each thread advances by the number of threads.
INLINE Index share_of(Index begin, Index end, unsigned block, unsigned blocks, unsigned block_size) {
    const int lanes = lanes_for(end - begin, blocks * (block_size / WARP)), lane = threadIdx.x % WARP;
    const unsigned warp = block * (block_size / WARP) + threadIdx.x / WARP;
    return lane < lanes ? begin + Index(warp) * lanes + lane : end;
}

struct ThreadStride { // of all blocks
    METHOD static Index step() { return Index(gridDim.x) * blockDim.x; }
};
struct BlockStride {
    METHOD static Index step() { return gridDim.x; }
};
struct WarpStride { // of the teams of a grid
    METHOD static Index step() { return Index(gridDim.x) * (TEAM_SIZE / WARP); }
};
template <int STEP> struct FixedStride {
    METHOD static constexpr int step() { return STEP; }
};
struct VariableStride {
    Index number;
    METHOD Index step() const { return number; }
};

constexpr int TILE_LANES = 8;

constexpr uint64 TURN = uint64(1) << 63; // of a message (Grid::barrier_with)

INLINE int32 sum_of_warp(int32 value) {
#if __CUDA_ARCH__ >= 800
    return int32(__reduce_add_sync(~0u, unsigned(value)));
#else
    for (int reach = 16; reach > 0; reach /= 2)
        value += __shfl_xor_sync(~0u, value, reach);
    return value;
#endif
}

constexpr int CHILD_SIZE = 128; // threads per block of a child, if there is work for that many
INLINE unsigned child_blocks(Index count) { return unsigned((count + CHILD_SIZE - 1) / CHILD_SIZE); }
INLINE unsigned child_threads(Index count) { return count < CHILD_SIZE ? unsigned(count + 31) / 32 * 32 : CHILD_SIZE; }

} // namespace gpu

// ---- Tiles and virtual warps ----------------------------------------------------------------------------------------

// A tile: a few neighbouring members of a team that share the inner loop of one index.
struct Tile {
    Index index;

    METHOD Indices<gpu::FixedStride<gpu::TILE_LANES>, int, int> share(int count) const {
        return {int(threadIdx.x % gpu::TILE_LANES), count};
    }
};

// A part of a warp that works on one task (Hong et al., Maximum Warp): all of its lanes do the same, or share a range.
template <int WIDTH> struct VirtualWarp {
    // The tasks of this virtual warp, of those in [begin, end), which GROUP neighbouring threads share.
    template <int GROUP> METHOD static Indices<gpu::FixedStride<GROUP / WIDTH>> tasks(Index begin, Index end) {
        return {begin + threadIdx.x % GROUP / WIDTH, end};
    }

    // The indices of this lane.
    METHOD static Indices<gpu::FixedStride<WIDTH>> share(Index begin, Index end) {
        return {begin + threadIdx.x % WIDTH, end};
    }

    METHOD static bool leads() { return threadIdx.x % WIDTH == 0; }

    // The number of lanes that run in lockstep, and that of this one.
    static constexpr int MEMBERS = WIDTH;
    METHOD static int lane() { return threadIdx.x % WIDTH; }

    // The value of the first lane, which may read what others write at the same time.
    template <class T> METHOD static T from_leader(T value) { return from_lane(value, 0); }

    // The value of another lane.
    template <class T> METHOD static T from_lane(T value, int lane) {
        if constexpr (WIDTH == 1)
            return value;
        const unsigned lanes =
            WIDTH == WARP ? ~0u : ((1u << WIDTH % WARP) - 1u) << (threadIdx.x % WARP / WIDTH * WIDTH);
        return __shfl_sync(lanes, value, lane, WIDTH);
    }

    // A word whose bit k says whether the condition holds in lane k of a whole warp.
    METHOD static uint32 ballot(bool condition) {
        static_assert(WIDTH == WARP, "other virtual warps have no word for themselves");
        return __ballot_sync(~0u, condition);
    }

    METHOD static void barrier() {
        static_assert(WIDTH == WARP, "other virtual warps may wait at different places");
        __syncwarp();
    }
};

// Takes the next `chunk` tasks of a work queue; called by all lanes of a warp; returns the first task.
INLINE Index take_chunk(int64 *taken, Index chunk) {
    int64 first = 0;
    if (VirtualWarp<WARP>::leads())
        first = atomic_add(taken, int64(chunk));
    return VirtualWarp<WARP>::from_leader(first);
}

// Increments counters[k] once for each of the LANES members that call this together, as if they had come one after the
// other, and returns the previous value; members with k < 0 count nothing.
INLINE int32 take_in_order(int32 *counters, int k) {
    const unsigned alike = __match_any_sync(0xffffffffu, k), before = alike & ((1u << (threadIdx.x % WARP)) - 1u);
    const int32 seen = k < 0 ? 0 : counters[k];
    __syncwarp();
    if (k >= 0 && before == 0) // the first member counts for all of them
        counters[k] = seen + __popc(alike);
    __syncwarp();
    return seen + __popc(before);
}

// Combines the values of neighbouring lanes with equal keys; called by all lanes of a warp, with keys of which equal
// ones are neighbours. Returns whether this lane is the last one of its key: it has the combination of all their
// values.
template <class T, class Combine> INLINE bool combine_runs(int32 key, T &value, Combine combine) {
    const int lane = threadIdx.x % WARP;
    for (int reach = 1; reach < WARP; reach *= 2) {
        const T lower = __shfl_up_sync(~0u, value, reach);
        const int32 other = __shfl_up_sync(~0u, key, reach);
        if (lane >= reach && other == key)
            value = combine(lower, value);
    }
    const int32 next = __shfl_sync(~0u, key, (lane + 1) % WARP);
    return lane == WARP - 1 || next != key;
}

// ---- Teams ----------------------------------------------------------------------------------------------------------

// A team: the threads of a block.
struct Team {
    static constexpr int WARPS = TEAM_SIZE / WARP;

    Index number; // of its task

    METHOD static bool leads() { return threadIdx.x == 0; }
    METHOD static bool is_last() { return threadIdx.x == TEAM_SIZE - 1; }
    METHOD static void barrier(int line = __builtin_LINE()) { gpu::wait_for_team(line); }

    // Calls visit(member) for each member; a barrier follows.
    template <class Visit> METHOD static void for_members(Visit visit, int line = __builtin_LINE()) {
        visit(int(threadIdx.x));
        gpu::wait_for_team(line);
    }

    // The indices of a piece that this member processes.
    METHOD static Indices<gpu::FixedStride<TEAM_SIZE>> share(Piece piece) {
        return {gpu::share_of(piece.begin, piece.end, 0, 1, TEAM_SIZE), piece.end};
    }

    // The same for `count` indices: every TEAM_SIZE-th, so that neighbours in a warp read neighbouring words, or, if
    // `coalesced` is false, consecutive ones.
    METHOD static Indices<gpu::VariableStride> share_edges(Index count, bool coalesced) {
        const Index length = (count + TEAM_SIZE - 1) / TEAM_SIZE, first = (coalesced ? 1 : length) * threadIdx.x;
        return {first, coalesced || first + length > count ? count : first + length,
                gpu::VariableStride{coalesced ? TEAM_SIZE : 1}};
    }

    // Whether share_edges gives a member consecutive indices.
    METHOD static bool shares_are_runs(bool coalesced) { return !coalesced; }

    // The tiles of the team, each with its share of a piece. Tiles with consecutive indices are in different warps.
    METHOD static Indices<gpu::FixedStride<TEAM_SIZE / gpu::TILE_LANES>, Tile> tiles(Piece piece) {
        const int number = int(threadIdx.x % WARP / gpu::TILE_LANES * WARPS + threadIdx.x / WARP);
        return {piece.begin + number, piece.end};
    }

    // The sum of value(i), a Sums, over a piece; every member gets it.
    template <class Value> METHOD static auto sum(Piece piece, Value value) {
        using Total = decltype(value(piece.begin));
        return sum_of<Total>(piece, value);
    }

    // Calls visit(i, sum of value over the entries before i, plus `before`) for each i of a piece; value(i) is called
    // once, before visit(i). Returns the sum over the whole piece, plus `before`.
    template <int N, class Value, class Visit>
    METHOD static Sums<N> in_order(Piece piece, Sums<N> before, Value value, Visit visit) {
        __shared__ Sums<N> of_warp[WARPS];
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP,
                  lanes = gpu::lanes_for(piece.end - piece.begin, WARPS);
        for (Index start = piece.begin; start < piece.end; start += TEAM_SIZE) {
            const Index i = lane < lanes ? start + warp * lanes + lane : piece.end;
            Sums<N> mine = {};
            if (i < piece.end)
                mine = value(i);
            Sums<N> up_to = mine; // sums over the warp's members up to this one
            for (int reach = 1; reach < WARP; reach *= 2)
                for (int n = 0; n < N; ++n) {
                    const int32 lower = __shfl_up_sync(~0u, up_to.of[n], reach);
                    up_to.of[n] += lane >= reach ? lower : 0;
                }
            barrier(); // the sums of the previous iteration have been read
            if (lane == WARP - 1)
                of_warp[warp] = up_to;
            barrier();
            Sums<N> place = before;
            for (int other = 0; other < WARPS; ++other)
                for (int n = 0; n < N; ++n) {
                    const int32 sum = of_warp[other].of[n];
                    place.of[n] += other < warp ? sum : 0;
                    before.of[n] += sum;
                }
            for (int n = 0; n < N; ++n)
                place.of[n] += up_to.of[n] - mine.of[n];
            if (i < piece.end)
                visit(i, place);
        }
        return before;
    }

    // The sum of the values of the members before this one. `of_warp` has WARPS entries, in shared memory; all members
    // call this, and a barrier must precede the next call.
    METHOD static int64 sum_before(int64 value, int64 *of_warp) {
        const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        int64 sum = value;
        for (int reach = 1; reach < WARP; reach *= 2) {
            const int64 lower = __shfl_up_sync(~0u, sum, reach);
            sum += lane >= reach ? lower : 0;
        }
        if (lane == WARP - 1)
            of_warp[warp] = sum;
        barrier();
        sum -= value;
        for (int other = 0; other < WARPS - 1; ++other)
            sum += other < warp ? of_warp[other] : 0;
        return sum;
    }

    // Replaces one value per member, in shared memory, by the sum of the values up to it. `of_warp` has WARPS entries.
    METHOD static void scan(int64 *values, int64 *of_warp) {
        const int64 value = values[threadIdx.x];
        values[threadIdx.x] = sum_before(value, of_warp) + value;
        barrier();
    }

    // Increments a counter in the team's shared memory; returns the old value.
    METHOD static int32 take(int32 *counter) { return atomicAdd(counter, 1); }

    // The same, with one addition for all active lanes of a warp (Merrill et al.'s team primitives).
    METHOD static int32 take_together(int32 *counter) {
        const unsigned here = __activemask(), before = here & ((1u << (threadIdx.x % WARP)) - 1u);
        const int leader = __ffs(int(here)) - 1;
        int32 first = 0;
        if (before == 0)
            first = atomicAdd(counter, int32(__popc(here)));
        return __shfl_sync(here, first, leader) + int32(__popc(before));
    }

    // Sets words[i], of 32 bits, for each i of a piece: bit k says whether holds(32 * i + k). Neighbours of a warp call
    // holds for neighbouring indices, and wait for SIDE_BY_SIDE calls at once.
    template <class Holds> METHOD static void set_words(Piece piece, uint32 *words, Holds holds) {
        for (Index first = piece.begin + threadIdx.x / WARP * SIDE_BY_SIDE; first < piece.end;
             first += WARPS * SIDE_BY_SIDE) {
            bool set[SIDE_BY_SIDE];
            for (int n = 0; n < SIDE_BY_SIDE; ++n)
                set[n] = first + n < piece.end && holds((first + n) * WARP + threadIdx.x % WARP);
            for (int n = 0; n < SIDE_BY_SIDE; ++n) {
                const uint32 word = __ballot_sync(~0u, set[n]);
                if (threadIdx.x % WARP == 0 && first + n < piece.end)
                    words[first + n] = word;
            }
        }
    }

  private:
    template <class Total, class Value> METHOD static Total sum_of(Piece piece, Value value) {
        __shared__ Total of_warp[WARPS];
        Total mine = {};
        for (const Index i : share(piece))
            mine.add(value(i));
        for (int32 &one : mine.of)
            one = gpu::sum_of_warp(one);
        barrier(); // the sums of an earlier call have been read
        if (threadIdx.x % WARP == 0)
            of_warp[threadIdx.x / WARP] = mine;
        barrier();
        Total all = {};
        for (int warp = 0; warp < WARPS; ++warp)
            all.add(of_warp[warp]);
        return all;
    }
};

// ---- Launches -------------------------------------------------------------------------------------------------------

// All teams of a cooperative launch.
struct Grid {
    METHOD static Index teams() { return gridDim.x; }
    METHOD static Team team() { return {Index(blockIdx.x)}; }
    METHOD static bool leads() { return blockIdx.x == 0 && threadIdx.x == 0; }
    METHOD static void barrier(int line = __builtin_LINE()); // for nvcc, grid.cuh has it

    // The indices below `count` that this member processes.
    METHOD static Indices<gpu::ThreadStride> share(Index count) {
        return {gpu::share_of(0, count, blockIdx.x, gridDim.x, TEAM_SIZE), count};
    }

    // The indices below `count` that this member's warp processes: few are spread over all multiprocessors.
    METHOD static Indices<gpu::WarpStride> warps(Index count) {
        return {Index(blockIdx.x) + Index(gridDim.x) * (threadIdx.x / WARP), count};
    }

    // This team, once for each of its tasks of those below `count`.
    METHOD static Indices<gpu::BlockStride, Team> tasks(Index count) { return {Index(blockIdx.x), count}; }

    // Begins a launch that calls barrier_with; returns message(), which one member of each team calls. All members of
    // all teams call this: what they read by themselves, they would request from one place one after the other.
    template <class Message>
    METHOD static uint64 begin_meetings(const uint64 *meeting, MeetingSpace &space, Message message) {
        if (Team::leads())
            space.message = message() | (racing_load(copy_of(meeting)) & gpu::TURN);
        Team::barrier();
        return space.message & ~gpu::TURN;
    }

    // A barrier during which the last team to arrive does work(): it replaces two barriers with work between them.
    // Returns what the leader of that team got from work(), a message of 63 bits, to all members of all teams.
    // `space` belongs to the team, and `meeting`, MEETING numbers that are initially zero, to all teams.
    template <class Work> METHOD static uint64 barrier_with(uint64 *meeting, MeetingSpace &space, Work work) {
        Team::barrier();
        if (Team::leads())
            space.is_last = gpu::arrive_last(reinterpret_cast<uint32 *>(meeting), gridDim.x);
        Team::barrier();
        if (space.is_last) {
            const uint64 message = work();
            if (Team::leads())
                space.message = message | (~space.message & gpu::TURN);
            Team::barrier();
            if (threadIdx.x < MEETING_COPIES)
                gpu::release(meeting + (1 + threadIdx.x) * MEETING_LINE, space.message);
        } else {
            if (Team::leads()) {
                const uint64 *copy = copy_of(meeting);
                while (((racing_load(copy) ^ space.message) & gpu::TURN) == 0) // ends, because all teams are resident
                    ;
                space.message = gpu::acquired(copy);
            }
            Team::barrier();
        }
        return space.message & ~gpu::TURN;
    }

  private:
    // The copy of the message that this team reads.
    METHOD static const uint64 *copy_of(const uint64 *meeting) {
        return meeting + (1 + blockIdx.x % MEETING_COPIES) * MEETING_LINE;
    }
};

// A number from the host, or one that an earlier kernel left in device memory.
struct Count {
    const int32 *place; // in device memory; if null, `value` is the count
    int64 value;
    METHOD operator Index() const { return place != nullptr ? Index(*place) : value; }
};

// The range of a launch.
struct Launch {
    Index first;
    Count last;

    // The indices of this thread, of those in a part of the range.
    METHOD static Indices<gpu::ThreadStride> part(Index from, Index to) {
        return {gpu::share_of(from, to, blockIdx.x, gridDim.x, blockDim.x), to};
    }

    METHOD auto begin() const { return part(first, last).begin(); }
    METHOD auto end() const { return part(first, last).end(); }
    METHOD Index stop() const { return last; }

    // This team, once for each index that it processes.
    METHOD Indices<gpu::BlockStride, Team> teams() const { return {first + blockIdx.x, last}; }

    METHOD static Grid grid() { return {}; }
};
