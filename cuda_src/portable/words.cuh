// Definitions that do not depend on the compiler: integer types, ranges of indices, sums, and the pieces of a list.
//
// Each compiler's file includes this one after it has defined its qualifiers and MOST_PIECES.
#pragma once

#include <cstdint>

using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;
using float32 = float;
using float64 = double;
using Index = int64;

#define KERNEL_STRUCT(name) struct name

constexpr int TEAM_SIZE = 256;  // members per team; a TEAM_KERNEL is launched with blocks of this many threads
constexpr int BLOCK_SIZE = 128; // threads per block of any other kernel on a GPU

// Blocks that a multiprocessor of a GPU can hold at the same time: nvcc limits the registers of these kernels so.
constexpr int HIGH_OCCUPANCY_BLOCKS = 6;              // of a HIGH_OCCUPANCY_KERNEL
constexpr int HIGH_OCCUPANCY_TEAMS = 8;               // of a HIGH_OCCUPANCY_TEAM_KERNEL
constexpr int HIGH_OCCUPANCY_COOPERATIVE_TEAMS = 4;   // of a HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL
constexpr int MEDIUM_OCCUPANCY_COOPERATIVE_TEAMS = 3; // of a MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL

// The second one if they are not ordered (NaN).
template <class Number> INLINE Number lesser(Number a, Number b) { return a < b ? a : b; }
template <class Number> INLINE Number greater(Number a, Number b) { return a < b ? b : a; }

constexpr int32 NO_INDEX = 0x7fffffff; // above all indices: the least index of an empty set

constexpr int STRIPES = 4096; // entries of a striped counter

// The array through which the teams of a grid meet (Grid::barrier_with): the number of teams that have arrived, and
// copies of the message of the last barrier, each in a cache line of its own. Teams that wait read different copies:
// requests to one line are served one after the other.
constexpr int MEETING_LINE = 16;                             // entries of a cache line
constexpr int MEETING_COPIES = 32;                           // of the message
constexpr int MEETING = (1 + MEETING_COPIES) * MEETING_LINE; // entries, initially zero

// Time slice in nanoseconds. A GPU kernel that repeats itself stops after it, and the host launches it again: in
// between, the host handles signals such as that of Ctrl-C.
constexpr int64 SLICE = 50'000'000;

// The indices first, first + step, ... below `last`, for a range-based loop. `Stride::step()` is the step; what the
// loop gets is an Element made from the index.
template <class Stride, class Element = Index, class Number = Index> class Indices {
  public:
    struct Iterator {
        Number i;
        Stride stride;

        METHOD Element operator*() const { return Element{i}; }
        METHOD void operator++() { i += Number(stride.step()); }
        METHOD bool operator!=(const Iterator &end) const { return i < end.i; }
    };

    METHOD Indices(Number first, Number last, Stride stride = {}) : first_(first), last_(last), stride_(stride) {}

    METHOD Iterator begin() const { return {first_, stride_}; }
    METHOD Iterator end() const { return {last_, stride_}; }
    METHOD Number stop() const { return last_; }

  private:
    Number first_, last_;
    Stride stride_;
};

// The state of a team, in its shared memory, for Grid::barrier_with.
struct MeetingSpace {
    uint64 message; // of the last barrier; the highest bit changes with each barrier
    int32 is_last;  // whether the team was the last one to arrive
};

// Sums that are computed together.
template <int N> struct Sums {
    static constexpr int SIZE = N;

    int32 of[N];

    METHOD void add(const Sums &other) {
        for (int n = 0; n < N; ++n)
            of[n] += other.of[n];
    }
};

// A part of a list: the entries from `begin` up to `end`.
struct Piece {
    Index begin, end;

    METHOD bool empty() const { return begin >= end; }
};

// The piece of a list of `count` entries that a team processes, the same in every kernel over the list. There are
// enough pieces for every core, and few enough that each team can add up the sums of all.
INLINE Piece piece_of(Index team, Index count, Index most = MOST_PIECES) {
    const Index even = (count + most - 1) / most;
    const Index length = (even + LEAST_PIECE - 1) / LEAST_PIECE * LEAST_PIECE, begin = team * length;
    return {begin, begin + length < count ? begin + length : count};
}

INLINE Index pieces_of(Index count, Index most = MOST_PIECES) {
    const Index length = piece_of(0, count, most).end;
    return length ? (count + length - 1) / length : 0;
}

// Stores the sums of a team's piece for the other teams.
template <int N, class Team> INLINE void store_sums(const Team &team, const Sums<N> &found, int32 *sums) {
    if (team.leads())
        for (int n = 0; n < N; ++n)
            sums[team.number * N + n] = found.of[n];
}

// The sums of the pieces [from, to), which the members of a team add up.
template <int N, class Team> INLINE Sums<N> sum_of_pieces(const Team &team, const int32 *sums, Index from, Index to) {
    return team.sum(Piece{from, to}, [&](Index piece) {
        Sums<N> one;
        for (int n = 0; n < N; ++n)
            one.of[n] = sums[piece * N + n];
        return one;
    });
}
