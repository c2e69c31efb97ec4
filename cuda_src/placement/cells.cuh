// Points by the cell of a grid that holds them. The grid has a level for each power of 2: a point whose size is h lies
// in a square cell of a side in (2h, 4h]: to look at a point takes about as long as to look for a cell. Cells are found
// by a hash table with linear probing.
#pragma once

#include "geometry/points.cuh"
#include "primitives/hash.cuh"

constexpr int32 NO_POINT = -1;
constexpr int64 NO_SLOT = -1;
constexpr int SLOTS_PER_POINT = 4; // at least: chains of occupied slots stay short
constexpr int FEWEST_SLOTS = 1024;
constexpr int CELL_BITS = 26;  // of a column or row; cells beyond share the last one
constexpr int LEVELS = 2048;   // exponents of a double
constexpr int FANOUT_BITS = 2; // blocks of 4 by 4 cells lie side by side in the table

// The level of a size: the exponent of its power of 2, as a double stores it.
INLINE int level_of(float64 size) { return int(bits_of(size) >> 52) & (LEVELS - 1); }

KERNEL_STRUCT(Cells) {
    uint64 *keys; // by slot: the cell, or 0 for a free slot
    int32 *heads; // by slot: the cell's last point
    int32 *next;  // by point: the one before it in its cell, or NO_POINT
    uint8 *used;  // by level: 1 if it has a cell
    int64 mask;   // the number of slots, a power of 2, minus 1
    float64 low_x;
    float64 low_y; // no point has smaller coordinates

    METHOD uint64 key(int level, int64 column, int64 row) const {
        return uint64(level) << 2 * CELL_BITS | uint64(column) << CELL_BITS | uint64(row);
    }

    // The slot at which the search for a cell begins.
    METHOD int64 home(uint64 key) const {
        const uint64 row = key & ((uint64(1) << CELL_BITS) - 1), rest = key >> CELL_BITS;
        const uint64 inner = (1 << FANOUT_BITS) - 1;
        const uint64 block = (rest >> FANOUT_BITS) << (CELL_BITS - FANOUT_BITS) | row >> FANOUT_BITS;
        const uint64 mixed = block * 0x9e3779b97f4a7c15u;
        return int64((mixed >> 32 << 2 * FANOUT_BITS | (rest & inner) << FANOUT_BITS | (row & inner)) & uint64(mask));
    }

    METHOD int64 cell(float64 distance, int level) const {
        const float64 last = float64((int64(1) << CELL_BITS) - 1);
        const float64 place = distance * float64_of(int64(2044 - level) << 52);
        return place > 0.0 ? int64(place < last ? place : last) : 0;
    }

    // The same table with a part of its slots, enough for a number of points; all slots are free.
    METHOD Cells with_slots_for(Index points) const {
        Cells part = *this;
        part.mask = FEWEST_SLOTS - 1;
        while (part.mask + 1 < SLOTS_PER_POINT * points)
            part.mask = 2 * part.mask + 1;
        return part;
    }

    // Frees the slot of a cell, with all of its points.
    METHOD void empty_slot(int64 slot) const {
        racing_store(&keys[slot], uint64(0));
        racing_store(&heads[slot], NO_POINT);
    }

    // Adds a point, and returns the slot of its cell. Threads may add points at the same time: the order within a cell
    // then varies.
    METHOD int64 add(int32 point, Point p, float64 size) const {
        const int level = level_of(size);
        const uint64 wanted = key(level, cell(p.x - low_x, level), cell(p.y - low_y, level));
        racing_store(&used[level], uint8(1));
        int64 slot = home(wanted);
        while (true) { // the table has free slots
            const uint64 found = compare_and_swap(&keys[slot], uint64(0), wanted);
            if (found == 0 || found == wanted)
                break;
            slot = (slot + 1) & mask;
        }
        int32 head = racing_load(&heads[slot]);
        while (true) {
            next[point] = head;
            const int32 found = compare_and_swap(&heads[slot], head, point);
            if (found == head)
                return slot;
            head = found;
        }
    }

    METHOD int32 last_in(uint64 wanted) const {
        for (int64 slot = home(wanted);; slot = (slot + 1) & mask) {
            if (keys[slot] == wanted)
                return heads[slot];
            if (keys[slot] == 0)
                return NO_POINT;
        }
    }

    // Calls visit(point) for the points of all cells of similar size that a square around p meets, in any order, until
    // it returns false. Sizes are similar if their levels differ by at most one.
    template <class Visit> METHOD void for_near(Point p, float64 reach, float64 size, Visit visit) const {
        const int about = level_of(size);
        for (int level = about - 1; level <= about + 1; ++level) {
            if (level <= 0 || level >= LEVELS - 1 || !used[level])
                continue;
            const int64 left = cell(p.x - reach - low_x, level), right = cell(p.x + reach - low_x, level);
            const int64 bottom = cell(p.y - reach - low_y, level), top = cell(p.y + reach - low_y, level);
            for (int64 column = left; column <= right; ++column)
                for (int64 row = bottom; row <= top; ++row)
                    for (int32 point = last_in(key(level, column, row)); point != NO_POINT; point = next[point])
                        if (!visit(point))
                            return;
        }
    }
};
