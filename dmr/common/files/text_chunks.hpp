// A text that several threads parse: it is cut into chunks of a fixed size, and an index says which lines a chunk
// holds.
//
// Neither the index nor what is parsed by it depends on the number of threads. `IndexedText` of text_index.py mirrors
// the struct.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "portable/interrupts.hpp"

// A text and its index. A row is a line with data.
struct IndexedText {
    const char *text;
    int64_t size;
    int64_t chunk;    // bytes
    int64_t chunks;   // each of the three arrays has chunks + 1 entries
    int64_t *offsets; // chunk k holds the lines that begin in [offsets[k], offsets[k + 1])
    int64_t *rows;    // rows before chunk k
    int64_t *lines;   // lines before chunk k
    int64_t threads;  // at most
};

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

const char *skip_blanks(const char *p, const char *end) {
    while (p < end && is_blank(*p))
        ++p;
    return p;
}

const char *line_end(const char *p, const char *end) {
    const void *found = p < end ? std::memchr(p, '\n', std::size_t(end - p)) : nullptr;
    return found != nullptr ? static_cast<const char *>(found) : end;
}

// Calls work(0) to work(pieces - 1), each once, on up to `threads` threads, or fewer if the system provides fewer.
// Skips the remaining calls if `call` is stopped; returns whether all were made.
template <class Work> bool share_out(host::Call &call, int64_t pieces, int threads, const Work &work) {
    std::atomic<int64_t> next{0};
    const auto run = [&] {
        for (int64_t k; !call.stopped() && (k = next.fetch_add(1)) < pieces;)
            work(k);
    };
    std::vector<std::thread> others;
    try {
        while (int64_t(others.size()) + 1 < std::min<int64_t>(threads, pieces))
            others.emplace_back(run);
    } catch (const std::exception &) {
        // The system provides no more threads: the running ones and this one do all the work.
    }
    for (int64_t k; !call.poll() && (k = next.fetch_add(1)) < pieces;)
        work(k);
    for (std::thread &other : others)
        other.join();
    return !call.stopped();
}

// Calls visit(line number within the chunk, begin, end) for each row of chunk k, until it returns false. Returns the
// number of lines visited; `is_row(begin, end)` tells rows from other lines.
template <class IsRow, class Visit>
int64_t for_rows(const IndexedText &text, int64_t k, const IsRow &is_row, const Visit &visit) {
    const char *p = text.text + text.offsets[k], *end = text.text + text.offsets[k + 1];
    int64_t line = 0;
    while (p < end) {
        const char *stop = line_end(p, end);
        ++line;
        if (is_row(p, stop) && !visit(line, p, stop))
            break;
        p = stop + 1;
    }
    return line;
}

// Fills the index; leaves it unfinished if `call` is stopped. A line belongs to the chunk in which it begins; a chunk
// in which no line begins is empty.
template <class IsRow> void index_text(host::Call &call, const IndexedText &text, const IsRow &is_row) {
    constexpr int64_t NO_LINE = -1;
    const char *begin = text.text;
    text.offsets[0] = 0;
    const bool all = share_out(call, text.chunks, int(text.threads), [&](int64_t k) {
        if (k == 0)
            return;
        const int64_t from = k * text.chunk, to = std::min(text.size, from + text.chunk);
        const char *newline = line_end(begin + from - 1, begin + to - 1);
        text.offsets[k] = newline < begin + to - 1 ? newline + 1 - begin : NO_LINE;
    });
    if (!all)
        return;
    text.offsets[text.chunks] = text.size;
    for (int64_t k = text.chunks - 1; k >= 0; --k)
        if (text.offsets[k] == NO_LINE)
            text.offsets[k] = text.offsets[k + 1];

    text.rows[0] = text.lines[0] = 0;
    share_out(call, text.chunks, int(text.threads), [&](int64_t k) {
        int64_t rows = 0;
        text.lines[k + 1] =
            for_rows(text, k, is_row, [&](int64_t, const char *, const char *) { return ++rows, true; });
        text.rows[k + 1] = rows;
    });
    for (int64_t k = 0; k < text.chunks; ++k) {
        text.rows[k + 1] += text.rows[k];
        text.lines[k + 1] += text.lines[k];
    }
}

} // namespace
