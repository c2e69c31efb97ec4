// The C interface of arrays in archives (dmr/io/archives/native.py).
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "crc.hpp"
#include "dmr/triangulation/serial/threads.hpp"
#include "portable/interrupts.hpp"
#include "portable/system.hpp"

using namespace archives;
using std::int32_t;
using std::int64_t;
using std::uint32_t;

namespace {

constexpr int64_t CHUNK = 1 << 20; // bytes that a thread makes, sums up and writes at once

enum Kind : int32_t { COPIED = 0, TRANSLATED = 1, GATHERED = 2, NUMBERED = 3 };

// A table of rows (`Source`). Of a COPIED column with a `table`, row i is row table[i] of them; the entries of a
// TRANSLATED column, which are of int32, are places in `table`. Those of a NUMBERED column are of int64; -1, -2, ...
// stand for the numbers from `first` on.
struct Source {
    const unsigned char *rows;
    int64_t count;
    const int32_t *table;
    int64_t first;
};

// An array of an archive (`DmrColumn`).
//   COPIED      the rows of the sources, one after the other
//   TRANSLATED  the entries of the sources, each replaced by that of its source's table
//   GATHERED    row i is row from[i] of all sources, counted over them
//   NUMBERED    the entries of the sources, with numbers in place of those below 0
struct Column {
    int64_t offset; // of the bytes in the file
    int64_t rows;
    const Source *sources;
    const int32_t *from;
    int32_t kind;
    int32_t row_bytes;
    int32_t source_count;
    uint32_t crc; // of the bytes before them in the archive's member; then of these, too
};

// The source with a row that is counted over all sources, and the row within it.
const Source *find(const Column &column, int64_t &row) {
    const Source *source = column.sources;
    for (; row >= source->count; ++source)
        row -= source->count;
    return source;
}

// Calls `copy(width)`; a constant width, where there is one, makes a move of a copy.
template <class Copy> void with_width(std::size_t width, const Copy &copy) {
    if (width == 4)
        copy(std::integral_constant<std::size_t, 4>());
    else if (width == 8)
        copy(std::integral_constant<std::size_t, 8>());
    else if (width == 16)
        copy(std::integral_constant<std::size_t, 16>());
    else
        copy(width);
}

void gather(const Column &column, int64_t begin, int64_t end, unsigned char *out) {
    with_width(column.row_bytes, [&](auto width) {
        for (int64_t i = begin; i < end; ++i, out += width) {
            int64_t row = column.from[i];
            const Source *const source = find(column, row);
            std::memcpy(out, source->rows + row * width, width);
        }
    });
}

// Makes the rows from `begin` to `end` of a column.
void make(const Column &column, int64_t begin, int64_t end, unsigned char *out) {
    if (column.kind == GATHERED)
        return gather(column, begin, end, out);
    while (begin < end) {
        int64_t row = begin;
        const Source *const source = find(column, row);
        const int64_t count = std::min(end - begin, source->count - row);
        const unsigned char *const from = source->rows + row * column.row_bytes;
        if (column.kind == COPIED && source->table != nullptr) {
            with_width(column.row_bytes, [&](auto width) {
                for (int64_t i = 0; i < count; ++i)
                    std::memcpy(out + i * width, source->rows + source->table[row + i] * int64_t(width), width);
            });
        } else if (column.kind == COPIED) {
            std::memcpy(out, from, count * column.row_bytes);
        } else if (column.kind == NUMBERED) {
            const int64_t *const entries = reinterpret_cast<const int64_t *>(from);
            int64_t *const numbers = reinterpret_cast<int64_t *>(out);
            for (int64_t i = 0; i < count; ++i)
                numbers[i] = entries[i] < 0 ? source->first - 1 - entries[i] : entries[i];
        } else {
            const int32_t *const entries = reinterpret_cast<const int32_t *>(from);
            int32_t *const translated = reinterpret_cast<int32_t *>(out);
            const int64_t values = count * column.row_bytes / int64_t(sizeof(int32_t));
            for (int64_t i = 0; i < values; ++i)
                translated[i] = source->table[entries[i]];
        }
        out += count * column.row_bytes;
        begin += count;
    }
}

// The rows from `begin` to `end` of a column, if they lie in a source as they are, else nullptr.
const unsigned char *as_it_is(const Column &column, int64_t begin, int64_t end) {
    if (column.kind != COPIED)
        return nullptr;
    int64_t row = begin;
    const Source *const source = find(column, row);
    if (source->table != nullptr || row + (end - begin) > source->count)
        return nullptr;
    return source->rows + row * column.row_bytes;
}

struct Chunk {
    int32_t column;
    int64_t begin, end; // rows
    uint32_t crc;
};

std::vector<Chunk> cut(const Column *columns, int32_t count) {
    std::vector<Chunk> chunks;
    for (int32_t c = 0; c < count; ++c) {
        if (columns[c].row_bytes == 0)
            continue;
        const int64_t step = std::max<int64_t>(1, CHUNK / columns[c].row_bytes);
        for (int64_t row = 0; row < columns[c].rows; row += step)
            chunks.push_back({c, row, std::min(row + step, columns[c].rows), 0});
    }
    return chunks;
}

// Writes to a file by several threads. The system lets one at a time write to a file; the others would wait for it with
// their cores busy, and therefore wait here. Each range is on its way to the disk as soon as it is written.
class File {
  public:
    explicit File(int fd) : fd_(fd) {}

    // Returns 0, or an errno.
    int write(const unsigned char *bytes, int64_t count, int64_t offset) {
        const char *const begin = reinterpret_cast<const char *>(bytes);
        {
            const std::lock_guard<std::mutex> lock(one_writes_);
            if (const int error = host::write_all_at(fd_, begin, begin + count, offset))
                return error;
        }
        host::begin_flush(fd_, offset, count);
        return 0;
    }

  private:
    int fd_;
    std::mutex one_writes_;
};

bool are_zeros(const unsigned char *bytes, std::size_t count) {
    return count > 0 && bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

// Returns 0, or the errno of a write that failed. With `holes`, the file holds nothing yet, and zeros are not written;
// with a negative descriptor, nothing is.
int write(int fd, Column *columns, int32_t count, int threads, bool holes) {
    File file(fd);
    std::vector<Chunk> chunks = cut(columns, count);
    std::atomic<int> failed{0};
    std::atomic<std::size_t> next{0};
    const std::size_t most = std::min<std::size_t>(threads, std::max<std::size_t>(chunks.size(), 1));
    triangulation::share_out(int(most), int(most), [&](int) {
        std::vector<unsigned char> buffer;
        for (std::size_t k = next++; k < chunks.size() && failed == 0; k = next++) {
            host::stop_point();
            Chunk &chunk = chunks[k];
            const Column &column = columns[chunk.column];
            const std::size_t bytes = std::size_t(chunk.end - chunk.begin) * column.row_bytes;
            const unsigned char *content = as_it_is(column, chunk.begin, chunk.end);
            if (content == nullptr) {
                buffer.resize(bytes);
                make(column, chunk.begin, chunk.end, buffer.data());
                content = buffer.data();
            }
            chunk.crc = add_to_crc(0, content, bytes);
            if (fd < 0 || (holes && are_zeros(content, bytes)))
                continue;
            if (const int error = file.write(content, bytes, column.offset + chunk.begin * column.row_bytes))
                failed = error;
        }
    });
    for (const Chunk &chunk : chunks) {
        Column &column = columns[chunk.column];
        column.crc = joined_crc(column.crc, chunk.crc, uint64_t(chunk.end - chunk.begin) * column.row_bytes);
    }
    return failed;
}

} // namespace

extern "C" int32_t dmr_archives_interface() { return 9; }

// The checksum of bytes with the checksum `before`, followed by `count` bytes with the checksum `after`.
extern "C" uint32_t dmr_joined_crc(uint32_t before, uint32_t after, uint64_t count) {
    return joined_crc(before, after, count);
}

// Whether an open file is in a file system in main memory, as far as the system says.
extern "C" int32_t dmr_in_memory(int32_t fd) { return host::in_memory(fd); }

// Writes columns to an open file. Returns 0, or an errno. With `holes`, the file holds nothing yet, and what is read
// from it beyond its end, or in between, counts as zeros. With a negative descriptor, nothing is written: only check
// sums are computed.
extern "C" int32_t dmr_write_columns(int32_t fd, Column *columns, int32_t count, int32_t threads, int32_t holes) {
    int error = 0;
    host::interruptible([&](host::Call &) {
        try {
            error = write(fd, columns, count, threads, holes != 0);
        } catch (const host::Interrupted &) {
        } catch (const std::bad_alloc &) {
            error = ENOMEM;
        }
    });
    return error;
}
