// Points by the cell of a grid that holds them. The grid has a level for each power of 2: a point whose size is h lies
// in a square cell of a side in (2h, 4h]: to look at a point takes about as long as to look at a cell. Blocks of 4 by 4
// cells are found by a hash table with linear probing: a search looks for few blocks, and most are at one level.
#pragma once

#include "geometry/points.cuh"
#include "primitives/hash.cuh"

constexpr int64 NO_SLOT = -1;
constexpr int SLOTS_PER_BLOCK = 2; // at least: chains of occupied slots stay short
constexpr int FEWEST_SLOTS = 256;
constexpr int CELL_BITS = 26; // of a column or row; cells beyond share the last one
constexpr int LEVELS = 2048;  // exponents of a double
constexpr int BLOCK_BITS = 2; // of the columns and rows of a block
constexpr int BLOCK_CELLS = 1 << 2 * BLOCK_BITS;

// The level of a size: the exponent of its power of 2, as a double stores it.
INLINE int level_of(float64 size) { return int(bits_of(size) >> 52) & (LEVELS - 1); }

KERNEL_STRUCT(Cells) {
    uint64 *keys;  // by slot: the block, or 0 for a free slot
    int32 *heads;  // by slot, for each cell of the block: 1 more than the cell's last point, or 0
    int32 *next;   // by point: 1 more than the one before it in its cell, or 0
    uint8 *used;   // by level: 1 if it has a cell
    int32 *blocks; // the number of blocks so far, unless it is null
    int64 mask;    // the number of slots, a power of 2, minus 1
    float64 low_x;
    float64 low_y; // no point has smaller coordinates

    // The column or row of a cell as if there were no last one. Sizes of 2^1022 and more, also infinite ones, have one.
    METHOD int64 unlimited_cell(float64 distance, int level) const {
        const float64 place = level < 2044 ? distance * float64_of(int64(2044 - level) << 52) : 0.0;
        return place > 0.0 ? int64(place < 0x1p52 ? place : 0x1p52) : 0;
    }

    METHOD int64 limited(int64 cell) const {
        constexpr int64 LAST = (int64(1) << CELL_BITS) - 1;
        return cell < LAST ? cell : LAST;
    }

    METHOD uint64 key(int level, int64 block_column, int64 block_row) const {
        constexpr int BITS = CELL_BITS - BLOCK_BITS;
        return uint64(level) << 2 * BITS | uint64(block_column) << BITS | uint64(block_row);
    }

    // The slot at which the search for a block begins.
    METHOD int64 home(uint64 key) const { return int64(key * 0x9e3779b97f4a7c15u >> 32 & uint64(mask)); }

    METHOD int64 place_in_block(int64 column, int64 row) const {
        constexpr int64 INNER = (1 << BLOCK_BITS) - 1;
        return (column & INNER) << BLOCK_BITS | (row & INNER);
    }

    METHOD bool has_slots_for(Index blocks) const { return mask + 1 >= SLOTS_PER_BLOCK * blocks; }

    // The same table with a part of its slots, enough for a number of blocks; all slots are free.
    METHOD Cells with_slots_for(Index blocks) const {
        Cells part = *this;
        part.mask = FEWEST_SLOTS - 1;
        while (!part.has_slots_for(blocks))
            part.mask = 2 * part.mask + 1;
        return part;
    }

    // Empties the cell at a place that `add` has returned, and frees the slot of its block, whose other cells must be
    // emptied at the same time.
    METHOD void empty(int64 place) const {
        racing_store(&keys[place / BLOCK_CELLS], uint64(0));
        racing_store(&heads[place], 0);
    }

    // Adds a point, and returns the place of its cell. Threads may add points at the same time: the order within a cell
    // then varies.
    METHOD int64 add(int32 point, Point p, float64 size) const {
        const int level = level_of(size);
        const int64 column = limited(unlimited_cell(p.x - low_x, level));
        const int64 row = limited(unlimited_cell(p.y - low_y, level));
        const uint64 wanted = key(level, column >> BLOCK_BITS, row >> BLOCK_BITS);
        racing_store(&used[level], uint8(1));
        int64 slot = home(wanted);
        while (racing_load(&keys[slot]) != wanted) { // the table has free slots
            const uint64 found = compare_and_swap(&keys[slot], uint64(0), wanted);
            if (found == 0 && blocks)
                atomic_add(blocks, 1);
            if (found == 0 || found == wanted)
                break;
            slot = (slot + 1) & mask;
        }
        const int64 place = slot * BLOCK_CELLS + place_in_block(column, row);
        int32 head = racing_load(&heads[place]);
        while (true) {
            next[point] = head;
            const int32 found = compare_and_swap(&heads[place], head, point + 1);
            if (found == head)
                return place;
            head = found;
        }
    }

    // The slot of a block, or NO_SLOT.
    METHOD int64 slot_of(uint64 wanted) const {
        for (int64 slot = home(wanted);; slot = (slot + 1) & mask) {
            if (keys[slot] == wanted)
                return slot;
            if (keys[slot] == 0)
                return NO_SLOT;
        }
    }

    // Calls visit(point) for the points of all cells of similar size that a square around p meets, in any order, until
    // it returns false. Sizes are similar if their levels differ by at most one.
    template <class Visit> METHOD void for_near(Point p, float64 reach, float64 size, Visit visit) const {
        const int about = level_of(size);
        // In cells of the finest level; each of the next level is two wide.
        const int64 first_column = unlimited_cell(p.x - reach - low_x, about - 1);
        const int64 last_column = unlimited_cell(p.x + reach - low_x, about - 1);
        const int64 first_row = unlimited_cell(p.y - reach - low_y, about - 1);
        const int64 last_row = unlimited_cell(p.y + reach - low_y, about - 1);
        for (int step = 0; step < 3; ++step) {
            const int level = about - 1 + step;
            if (level <= 0 || level >= LEVELS - 1 || !used[level])
                continue;
            const int64 left = limited(first_column >> step), right = limited(last_column >> step);
            const int64 bottom = limited(first_row >> step), top = limited(last_row >> step);
            if (!visit_level(level, left, right, bottom, top, visit))
                return;
        }
    }

  private:
    // Calls visit(point) for the points of cells of a level; returns whether all calls have returned true.
    template <class Visit>
    METHOD bool visit_level(int level, int64 left, int64 right, int64 bottom, int64 top, Visit visit) const {
        for (int64 block_column = left >> BLOCK_BITS; block_column <= right >> BLOCK_BITS; ++block_column)
            for (int64 block_row = bottom >> BLOCK_BITS; block_row <= top >> BLOCK_BITS; ++block_row) {
                const int64 slot = slot_of(key(level, block_column, block_row));
                if (slot == NO_SLOT)
                    continue;
                const int64 column = block_column << BLOCK_BITS, row = block_row << BLOCK_BITS;
                constexpr int64 INNER = (1 << BLOCK_BITS) - 1;
                const int64 from = left > column ? left : column, to = right < column + INNER ? right : column + INNER;
                const int64 low = bottom > row ? bottom : row, high = top < row + INNER ? top : row + INNER;
                for (int64 i = from; i <= to; ++i)
                    for (int64 j = low; j <= high; ++j)
                        for (int32 point = heads[slot * BLOCK_CELLS + place_in_block(i, j)]; point;
                             point = next[point - 1])
                            if (!visit(point - 1))
                                return false;
            }
        return true;
    }
};
