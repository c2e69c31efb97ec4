// Reads and writes the tables of numbers in Triangle's text files (.node, .ele, .poly, .neigh, .edge, .area) in
// parallel.
//
// A first pass makes the index of the text (text_chunks.hpp). A second pass then knows the row at which each chunk
// begins, and parses all chunks concurrently, each into its own part of the output. Neither the arrays nor the reported
// fault, which is the first in the file, depend on the number of threads.
//
// Plain C interface, called through ctypes (dmr/io/native.py mirrors the structs). No function throws or keeps state.
// Long-running functions return early if a signal handler raises an exception.

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "dmr/common/files/text_chunks.hpp"
#include "portable/system.hpp"
#include "triangle_numbers.hpp"

extern "C" {

// One table: `count` rows starting at `first_row`, each "number, indices..., reals..., integers...".
struct DmrTable {
    int64_t first_row, count;
    int32_t indices;        // columns that refer to an entity of another table
    int32_t reals;          // columns of doubles
    int32_t integers;       // columns of 32-bit integers
    int32_t finite;         // number of leading reals that must be finite
    int32_t optional_reals; // number of trailing reals that may be missing; a missing one repeats the previous value
    int32_t distinct;       // number of leading indices that must be distinct
    int32_t allow_none;     // whether an index may be -1 (none)
    // Maps a number to an index: number - base, or, if `sorted` is given, places[k] for the number's position k in it.
    int64_t base, entities;
    const int64_t *sorted;
    const int32_t *places;
    // Outputs, row-major; columns with a null output are checked and discarded.
    int64_t *numbers;
    int32_t *index_out;
    double *real_out;
    int32_t *integer_out;
};

// A fault and its position. `field` is the 0-based column.
struct DmrFault {
    int32_t code;
    int32_t field;
    int64_t line, row;
    int64_t begin, end; // the token, as offsets into the text
    int64_t value;      // the number that is out of range or repeated, or the number of fields found
};

// Rows with more fields than the table has columns (the extra fields are ignored): the number of such rows, and the
// line and the number of fields of the first.
struct DmrSurplus {
    int64_t rows, line, fields;
};

// Rows to write: number, indices + base (-1 stays -1), reals, integers.
struct DmrRows {
    int64_t count, first_number, base;
    int32_t indices, reals, integers;
    const int32_t *index_in;
    const double *real_in;
    const int32_t *integer_in;
};

} // extern "C"

namespace {

bool holds_data(const char *p, const char *end) {
    p = skip_blanks(p, end);
    return p < end && *p != '#';
}

// ---- rows ---------------------------------------------------------------------------------------------------------

struct Token {
    const char *begin;
    const char *end;
};

// Iterates over the fields of one line, up to its comment or its end.
struct Fields {
    const char *p;
    const char *end;

    bool next(Token &token) {
        p = skip_blanks(p, end);
        if (p == end || *p == '#')
            return false;
        token.begin = p;
        while (p < end && !is_blank(*p) && *p != '#')
            ++p;
        token.end = p;
        return true;
    }
};

bool find_entity(const DmrTable &table, int64_t number, int32_t &index) {
    if (table.allow_none && number == -1) {
        index = -1;
        return true;
    }
    if (!table.sorted) {
        const uint64_t place = static_cast<uint64_t>(number) - static_cast<uint64_t>(table.base);
        if (place >= static_cast<uint64_t>(table.entities))
            return false;
        index = static_cast<int32_t>(place);
        return true;
    }
    const int64_t *last = table.sorted + table.entities;
    const int64_t *found = std::lower_bound(table.sorted, last, number);
    if (found == last || *found != number)
        return false;
    index = table.places[found - table.sorted];
    return true;
}

// Parses one row into row `row` of the outputs. If it is invalid, fills `fault` (except for its line and row) and
// returns false. `found` is the number of fields if there are more than columns, else 0.
bool parse_row(const DmrTable &table, const char *text, const char *begin, const char *end, int64_t row,
               DmrFault &fault, int64_t &found) {
    Fields fields{begin, end};
    Token token{begin, begin};
    int32_t field = -1;
    int64_t value = 0;
    auto fail = [&](Code code, int64_t number) {
        fault.code = code;
        fault.field = field;
        fault.begin = token.begin - text;
        fault.end = token.end - text;
        fault.value = number;
        return false;
    };
    auto next_whole = [&] {
        ++field;
        if (!fields.next(token))
            return fail(kTooFew, field);
        if (const Code code = parse_whole(token.begin, token.end, value))
            return fail(code, 0);
        return true;
    };

    if (!next_whole())
        return false;
    if (table.numbers)
        table.numbers[row] = value;

    int32_t seen[3] = {-1, -1, -1}; // the leading indices that must be distinct
    for (int32_t k = 0; k < table.indices; ++k) {
        if (!next_whole())
            return false;
        int32_t index;
        if (!find_entity(table, value, index))
            return fail(kNoSuchEntity, value);
        if (k < table.distinct) {
            if (index == seen[0] || index == seen[1] || index == seen[2])
                return fail(kRepeated, value);
            seen[k] = index;
        }
        if (table.index_out)
            table.index_out[row * table.indices + k] = index;
    }

    double real = 0;
    for (int32_t k = 0; k < table.reals; ++k) {
        ++field;
        if (fields.next(token)) {
            if (const Code code = parse_real(token.begin, token.end, real))
                return fail(code, 0);
            if (k < table.finite && !std::isfinite(real))
                return fail(kNotFinite, 0);
        } else if (k < table.reals - table.optional_reals) {
            return fail(kTooFew, field);
        }
        if (table.real_out)
            table.real_out[row * table.reals + k] = real;
    }

    for (int32_t k = 0; k < table.integers; ++k) {
        if (!next_whole())
            return false;
        if (value != static_cast<int32_t>(value))
            return fail(kTooLarge, 0);
        if (table.integer_out)
            table.integer_out[row * table.integers + k] = static_cast<int32_t>(value);
    }

    found = 0;
    if (!fields.next(token))
        return true;
    found = field + 2; // the number of fields up to this one
    while (fields.next(token))
        ++found;
    return true;
}

// Parses the rows of the table in chunk k, up to the first fault.
void parse_chunk(const IndexedText &text, const DmrTable &table, int64_t k, DmrFault &fault, DmrSurplus &surplus) {
    int64_t found = 0, row = text.rows[k] - table.first_row;
    for_rows(text, k, holds_data, [&](int64_t line, const char *begin, const char *end) {
        if (row >= 0) {
            if (!parse_row(table, text.text, begin, end, row, fault, found)) {
                fault.line = text.lines[k] + line;
                fault.row = row;
                return false;
            }
            if (found && surplus.rows++ == 0) {
                surplus.line = text.lines[k] + line;
                surplus.fields = found;
            }
        }
        return ++row < table.count;
    });
}

// The chunk that holds a row (which must exist).
int64_t chunk_of_row(const IndexedText &text, int64_t row) {
    return std::upper_bound(text.rows, text.rows + text.chunks + 1, row) - text.rows - 1;
}

// ---- writing ------------------------------------------------------------------------------------------------------

int64_t longest_row(const DmrRows &rows) {
    constexpr int64_t kWhole = 21, kReal = 25, kInteger = 12; // the maximum width of each, with a blank
    return kWhole * (1 + rows.indices) + kReal * rows.reals + kInteger * rows.integers + 1;
}

char *put_row(char *p, const DmrRows &rows, int64_t row) {
    p = put_number(p, rows.first_number + row);
    for (int32_t k = 0; k < rows.indices; ++k) {
        const int64_t index = rows.index_in[row * rows.indices + k];
        *p++ = ' ';
        p = put_number(p, index < 0 ? index : index + rows.base);
    }
    for (int32_t k = 0; k < rows.reals; ++k) {
        *p++ = ' ';
        p = put(p, rows.real_in[row * rows.reals + k]);
    }
    for (int32_t k = 0; k < rows.integers; ++k) {
        *p++ = ' ';
        p = put_number(p, rows.integer_in[row * rows.integers + k]);
    }
    *p++ = '\n';
    return p;
}

// Blocks that several threads format, and that are written in order, up to the first error.
class Turns {
  public:
    explicit Turns(int64_t blocks) : blocks_(blocks) {}

    // Returns a block that no thread has taken yet; -1 if there is none, or a write has failed.
    int64_t next_block() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return error_ || given_ == blocks_ ? -1 : given_++;
    }

    // Stops handing out blocks.
    void end() {
        const std::lock_guard<std::mutex> lock(mutex_);
        given_ = blocks_;
    }

    // Waits until the preceding blocks are written, then calls write(), which returns 0 or an errno.
    template <class Write> void take(int64_t block, const Write &write) {
        std::unique_lock<std::mutex> lock(mutex_);
        turn_.wait(lock, [&] { return written_ == block; });
        if (!error_) {
            lock.unlock(); // other threads may take blocks meanwhile; it remains this block's turn
            const int error = write();
            lock.lock();
            error_ = error;
        }
        ++written_;
        turn_.notify_all();
    }

    int error() const { return error_; }

  private:
    const int64_t blocks_;
    int64_t given_ = 0, written_ = 0;
    int error_ = 0;
    std::mutex mutex_;
    std::condition_variable turn_;
};

// ---- calls from Python ---------------------------------------------------------------------------------------------

int32_t parse_table(host::Call &call, const IndexedText *text, const DmrTable *table, DmrFault *fault,
                    DmrSurplus *surplus) {
    struct Outcome {
        DmrFault fault;
        DmrSurplus surplus;
    };
    *fault = DmrFault{};
    *surplus = DmrSurplus{};
    if (table->count == 0)
        return 0;
    const int64_t first = chunk_of_row(*text, table->first_row);
    const int64_t last = chunk_of_row(*text, table->first_row + table->count - 1);
    std::unique_ptr<Outcome[]> outcomes(new (std::nothrow) Outcome[static_cast<size_t>(last - first + 1)]());
    if (!outcomes)
        return 2;
    share_out(call, last - first + 1, int(text->threads),
              [&](int64_t k) { parse_chunk(*text, *table, first + k, outcomes[k].fault, outcomes[k].surplus); });
    for (int64_t k = 0; k <= last - first; ++k) {
        const DmrSurplus &found = outcomes[k].surplus;
        if (surplus->rows == 0)
            *surplus = DmrSurplus{0, found.line, found.fields};
        surplus->rows += found.rows;
        if (outcomes[k].fault.code == kNone)
            continue;
        *fault = outcomes[k].fault;
        return 1;
    }
    return 0;
}

int32_t write_rows(host::Call &call, int32_t fd, const DmrRows *rows, int32_t threads) {
    constexpr int64_t kBlockBytes = 1 << 19;
    const int64_t longest = longest_row(*rows);
    const int64_t block = std::max<int64_t>(1, kBlockBytes / longest);
    const int64_t blocks = (rows->count + block - 1) / block;
    const int64_t writers = std::min<int64_t>(std::max(1, threads), blocks);
    const int64_t slot = block * longest + kNumberSpace;
    std::unique_ptr<char[]> buffers(new (std::nothrow) char[static_cast<size_t>(slot * writers)]);
    if (!buffers)
        return ENOMEM;
    Turns turns(blocks);
    // Blocks are formatted while another is written: each writer has its own buffer, and waits for its turn.
    share_out(call, writers, threads, [&](int64_t writer) {
        char *const begin = buffers.get() + writer * slot;
        for (int64_t k; (k = turns.next_block()) >= 0;) {
            char *p = begin;
            const int64_t to = std::min(rows->count, (k + 1) * block);
            for (int64_t row = k * block; row < to; ++row)
                p = put_row(p, *rows, row);
            turns.take(k, [&] { return host::write_all(fd, begin, p); });
            if (host::working.polls ? call.poll() : call.stopped())
                turns.end();
        }
    });
    return turns.error();
}

} // namespace

extern "C" {

// Fills offsets, rows and lines of `text`.
void dmr_text_index(const IndexedText *text) {
    host::interruptible([&](host::Call &call) { index_text(call, *text, holds_data); });
}

// Finds the byte range of a row, and its 1-based line. The row must exist.
void dmr_text_row(const IndexedText *text, int64_t row, int64_t *begin, int64_t *end, int64_t *line) {
    const int64_t k = chunk_of_row(*text, row);
    int64_t at = text->rows[k];
    for_rows(*text, k, holds_data, [&](int64_t number, const char *from, const char *to) {
        *line = text->lines[k] + number;
        *begin = from - text->text;
        *end = to - text->text;
        return at++ != row;
    });
}

// Parses a table whose rows all exist. Returns 0 on success, 1 if a row is invalid (see `fault`), 2 if out of memory.
// `surplus` counts the rows with more fields than columns, up to the fault.
int32_t dmr_text_parse(const IndexedText *text, const DmrTable *table, DmrFault *fault, DmrSurplus *surplus) {
    int32_t outcome = 0;
    host::interruptible([&](host::Call &call) { outcome = parse_table(call, text, table, fault, surplus); });
    return outcome;
}

// Appends the rows to an open file. Returns 0, or an errno.
int32_t dmr_text_write(int32_t fd, const DmrRows *rows, int32_t threads) {
    int32_t error = 0;
    host::interruptible([&](host::Call &call) { error = write_rows(call, fd, rows, threads); });
    return error;
}

// Incremented whenever a struct or a signature above changes; the loader compares it with its own value.
int32_t dmr_text_interface() { return 4; }

} // extern "C"
