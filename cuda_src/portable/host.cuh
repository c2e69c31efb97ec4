// The definitions of portable.cuh for a C++ compiler: a team is one thread of a CPU, and its loops are plain loops.
#pragma once

#include <atomic>
#include <cstring>
#include <utility>

#include "portable/host.hpp"

#define INLINE static inline
#define METHOD inline
#define OUTLINE [[gnu::noinline]] static
#define ROLLED
#define KERNEL(name, ...)                                                                                              \
    static void name(Launch, __VA_ARGS__);                                                                             \
    extern "C" void kernel_##name(Index begin, Index end, const host::Slot *arguments) {                               \
        host::invoke(name, Launch{begin, end}, arguments);                                                             \
    }                                                                                                                  \
    static void name([[maybe_unused]] const Launch launch, __VA_ARGS__)
#include "portable/plain_kernels.cuh"
#define CHILD_KERNEL(name, ...) static void name(const Launch launch, __VA_ARGS__)
#define LAUNCH_CHILD(kernel, begin, end, ...) (kernel(Launch{begin, end}, __VA_ARGS__), true)
#define LAUNCH_GRAPH_AGAIN() ((void)0) // host_repeat does this (host.cpp)
#define TEAM_SHARED(type, name, count) type name[count]

constexpr int MOST_PIECES = 256; // pieces per list at most, and entries per piece at least (HostDevice.most_pieces and
constexpr int LEAST_PIECE = 256; // least_piece in dmr/memory/host/device.py)

#include "portable/words.cuh"

constexpr bool EXACT_IS_DEAR = false;
constexpr bool READS_WHOLE_RECORDS = false;
constexpr bool PREFETCHES = true;
constexpr bool CHECKS_AT_ONCE = true;
constexpr bool ONE_MEMBER = true;
constexpr int SIDE_BY_SIDE = 1;
constexpr int WARP = 1;
constexpr int LANES = TEAM_SIZE;
#define IN_VECTORS _Pragma("GCC unroll 1") // short loop, which g++ would unroll first, and then not vectorise
#define STOP_POINT() host::stop_point()

// ---- Memory and numbers ---------------------------------------------------------------------------------------------

template <class T> INLINE void racing_store(T *place, T value) { __atomic_store_n(place, value, __ATOMIC_RELAXED); }
template <class T> INLINE T racing_load(const T *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

// Stores a value if a condition holds: without a branch, which would go either way, but in a place that nothing reads.
template <class T> INLINE void store_if(bool condition, T *place, T value) {
    T ignored;
    T *const places[] = {&ignored, place};
    racing_store(places[condition], value);
}

template <class T> INLINE T cached_load(const T *place) { return racing_load(place); }
template <class T> INLINE T streamed_load(const T *place) { return *place; }

namespace host {

// Applies change(value) to a place that no other thread changes meanwhile.
template <class T, class Change> T exchange_alone(T *place, Change change) {
    const T seen = racing_load(place);
    racing_store(place, change(seen));
    return seen;
}

} // namespace host

template <class T> INLINE T atomic_add(T *place, T value) {
    if (host::alone)
        return host::exchange_alone(place, [=](T seen) { return T(seen + value); });
    return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}
template <class T> INLINE T atomic_max(T *place, T value) {
    if (host::alone)
        return host::exchange_alone(place, [=](T seen) { return seen < value ? value : seen; });
    T seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return seen;
}
template <class T> INLINE T atomic_min(T *place, T value) {
    if (host::alone)
        return host::exchange_alone(place, [=](T seen) { return seen > value ? value : seen; });
    T seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen > value && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return seen;
}
template <class T> INLINE T atomic_or(T *place, T bits) {
    if (host::alone)
        return host::exchange_alone(place, [=](T seen) { return T(seen | bits); });
    return __atomic_fetch_or(place, bits, __ATOMIC_RELAXED);
}
template <class T> INLINE T compare_and_swap(T *place, T expected, T desired) {
    if (host::alone)
        return host::exchange_alone(place, [=](T seen) { return seen == expected ? desired : seen; });
    __atomic_compare_exchange_n(place, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected; // what was there before
}

INLINE bool works_alone() { return host::alone; }

template <class T> INLINE T replaced(T *place, T value) {
    return host::exchange_alone(place, [=](T) { return value; });
}

INLINE void count_up(int64 *stripes, int64 value) {
    if (value != 0)
        atomic_add(stripes, value); // once per piece of a range
}

// Stores a record as it is computed, field by field: to load it as wider words first would wait until its fields have
// left the store buffer.
template <class T> INLINE void store_record(T *place, const T &record) { store_fields(place, record); }

INLINE Index record_start(Index record, Index length) { return record * length; }
INLINE Index record_stride(Index) { return 1; }

// GCC considers a function that only prefetches to have no effect, and drops the calls of it: an empty statement that
// it may not drop prevents that.
INLINE void prefetch(const void *place) {
    __builtin_prefetch(place);
    asm volatile("");
}

INLINE int trailing_zeros(uint32 bits) { return __builtin_ctz(bits); } // of at least one
INLINE int bits_in(uint32 bits) { return __builtin_popcount(bits); }
INLINE int trailing_zeros(uint64 bits) { return __builtin_ctzll(bits); }

INLINE uint64 bits_of(float64 x) {
    uint64 bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
INLINE float64 float64_of(int64 bits) {
    float64 x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// One instruction. For `x < 0 ? -x : x` g++ generates a branch, which goes either way half of the time.
INLINE float64 magnitude(float64 x) { return __builtin_fabs(x); }
INLINE float64 square_root(float64 x) { return __builtin_sqrt(x); }

INLINE int64 nanoseconds() { return host::nanoseconds(); }

inline int64 processor_number() {
    static std::atomic<int64> threads{0};
    thread_local const int64 own = threads++;
    return own;
}

// ---- Groups ---------------------------------------------------------------------------------------------------------

namespace host {

struct UnitStride {
    static constexpr int step() { return 1; }
};

} // namespace host

struct Tile {
    Index index;

    static Indices<host::UnitStride, int, int> share(int count) { return {0, count}; }
};

template <int WIDTH> struct VirtualWarp {
    template <int GROUP> static Indices<host::UnitStride> tasks(Index begin, Index end) { return {begin, end}; }
    static Indices<host::UnitStride> share(Index begin, Index end) { return {begin, end}; }
    static constexpr bool leads() { return true; }
    static constexpr int MEMBERS = 1;
    static constexpr int lane() { return 0; }
    template <class T> static T from_leader(T value) { return value; }
    template <class T> static T from_lane(T value, int) { return value; }
    static uint32 ballot(bool condition) { return condition; }
    static void barrier() {}
};

INLINE Index take_chunk(int64 *taken, Index chunk) { return atomic_add(taken, int64(chunk)); }
INLINE int32 take_in_order(int32 *counters, int k) { return k < 0 ? 0 : counters[k]++; }
template <class T, class Combine> INLINE bool combine_runs(int32, T &, Combine) { return true; }

struct Team {
    static constexpr int WARPS = 1;

    Index number;

    static constexpr bool leads() { return true; }
    static constexpr bool is_last() { return true; }
    static void barrier(int = 0) {} // of one member; the emulator compares source lines
    template <class Visit> static void for_members(Visit visit) {
        for (int member = 0; member < TEAM_SIZE; ++member)
            visit(member);
    }
    static Indices<host::UnitStride> share(Piece piece) { return {piece.begin, piece.end}; }
    static Indices<host::UnitStride> share_edges(Index count, bool) { return {0, count}; }
    static constexpr bool shares_are_runs(bool) { return true; }
    static Indices<host::UnitStride, Tile> tiles(Piece piece) { return {piece.begin, piece.end}; }

    template <class Value> static auto sum(Piece piece, Value value) {
        decltype(value(piece.begin)) all = {};
        for (Index i = piece.begin; i < piece.end; ++i)
            all.add(value(i));
        return all;
    }

    template <int N, class Value, class Visit>
    static Sums<N> in_order(Piece piece, Sums<N> before, Value value, Visit visit) {
        for (Index i = piece.begin; i < piece.end; ++i) {
            const Sums<N> one = value(i);
            visit(i, before);
            before.add(one);
        }
        return before;
    }

    static int64 sum_before(int64, int64 *) { return 0; }

    static void scan(int64 *values, int64 *) {
        for (int member = 1; member < TEAM_SIZE; ++member)
            values[member] += values[member - 1];
    }

    static int32 take(int32 *counter) { return (*counter)++; }
    static int32 take_together(int32 *counter) { return (*counter)++; }

    template <class Holds> static void set_words(Piece piece, uint32 *words, Holds holds) {
        for (Index i = piece.begin; i < piece.end; ++i) {
            uint32 word = 0;
            for (int k = 0; k < 32; ++k)
                word |= uint32(holds(32 * i + k)) << k;
            words[i] = word;
        }
    }
};

// The teams of a cooperative launch: this thread is teams [first, last) of them, as one.
struct Grid {
    Index first, last;

    Index teams() const { return host::grid_size(); }
    Team team() const { return {first}; }
    bool leads() const { return first == 0; }
    void barrier(int = 0) const { host::wait_for_grid(); }
    Indices<host::UnitStride> share(Index count) const { return part<Index>(count); }
    Indices<host::UnitStride> warps(Index count) const { return part<Index>(count); }
    Indices<host::UnitStride, Team> tasks(Index count) const { return part<Team>(count); }

    template <class Message> uint64 begin_meetings(const uint64 *, MeetingSpace &, Message message) const {
        return message();
    }
    template <class Work> uint64 barrier_with(uint64 *meeting, MeetingSpace &, Work work) const {
        barrier();
        if (leads())
            *meeting = work();
        barrier();
        return *meeting;
    }

  private:
    template <class Element> Indices<host::UnitStride, Element> part(Index count) const {
        const Index all = teams();
        return {count * first / all, count * last / all};
    }
};

struct Count {
    int64 value; // the launching code has looked it up
    operator Index() const { return value; }
};

struct Launch {
    Index first, last;

    Indices<host::UnitStride> part(Index from, Index to) const {
        return {from > first ? from : first, to < last ? to : last};
    }
    auto begin() const { return part(first, last).begin(); }
    auto end() const { return part(first, last).end(); }
    Index stop() const { return last; }
    Indices<host::UnitStride, Team> teams() const { return {first, last}; }
    Grid grid() const { return {first, last}; }
};

// ---- Arguments from their slots -------------------------------------------------------------------------------------

namespace host {

template <class... Parameters, std::size_t... Place>
void invoke_with(void (*kernel)(Launch, Parameters...), const Launch &launch, const Slot *arguments,
                 std::index_sequence<Place...>) {
    constexpr std::size_t taken[] = {SLOTS<Parameters>...};
    const auto before = [&](std::size_t place) { // slots of the parameters before this one
        std::size_t slots = 0;
        for (std::size_t k = 0; k < place; ++k)
            slots += taken[k];
        return slots;
    };
    kernel(launch, from_slots<Parameters>(arguments + before(Place))...);
}

template <class... Parameters>
void invoke(void (*kernel)(Launch, Parameters...), const Launch &launch, const Slot *arguments) {
    invoke_with(kernel, launch, arguments, std::index_sequence_for<Parameters...>{});
}

} // namespace host
