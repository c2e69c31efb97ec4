// Reads and writes edges in text files, one per line: `source target [weight]`, behind a prefix in some formats; reads
// lines of any number of whole numbers. Several threads parse; one thread writes.
//
// A first pass makes the index of the text (text_chunks.hpp), so that a second pass can parse all chunks in parallel,
// each into its part of the result. Neither the result nor the reported fault, which is the first in the file, depends
// on the number of threads.
//
// Plain C interface, called through ctypes (static_graph/io/native.py mirrors the structs). Functions neither throw nor
// keep state.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "dmr/common/files/decimal_range.hpp"
#include "dmr/common/files/text_chunks.hpp"

extern "C" {

// A text with its index, and the form of its rows.
struct GraphText : IndexedText {
    int32_t comment, other_comment; // the characters that begin comments
    int32_t commas;                 // whether fields are separated by commas, and blanks are ignored
    int32_t prefix;                 // the first field of each row, a letter; or 0
    int32_t columns[3];             // the meaning of the fields, in order: SOURCE, TARGET, WEIGHT
    int32_t blank_rows;             // whether blank lines are rows
};

enum Column : int32_t { SOURCE, TARGET, WEIGHT };
enum Weights : int32_t { NONE, INT32, INT64, FLOAT64 };

// Destination of the edges of a text.
struct GraphEdges {
    int64_t low, high; // the range of node numbers in the text; `low` becomes 0
    int32_t wide;      // whether the results are int64 instead of int32
    int32_t weights;   // NONE, INT64 or FLOAT64
    void *sources, *targets, *weight;
};

// Kinds of faults of a line; static_graph/io/text.py has the messages.
enum Code : int32_t {
    FINE,
    TOO_FEW,
    TOO_MANY,
    NOT_WHOLE,
    NOT_REAL,
    TOO_LARGE,
    NO_NODE,
    NEGATIVE,
    NOT_FINITE,
    NO_PREFIX
};

struct GraphFault {
    int32_t code, field;      // a Column
    int64_t line, begin, end; // 1-based; the bytes of the token
    int64_t found;            // number of fields of the line, if there are too few or too many
};

// Edges to be written as lines `prefix source separator target separator weight`.
struct GraphLines {
    const int32_t *sources, *targets;
    const int64_t *labels; // labels of the nodes; if null, nodes are written by number
    const void *weight;
    int64_t base; // the number of the first node
    int32_t weights, prefix, separator;
};

} // extern "C"

namespace {

constexpr int32_t INTERFACE = 4;

// Whether a line of the text is a row.
struct IsRow {
    const GraphText &text;

    bool operator()(const char *p, const char *end) const {
        p = skip_blanks(p, end);
        return p == end ? text.blank_rows != 0 : *p != text.comment && *p != text.other_comment;
    }
};

struct Token {
    const char *begin, *end;
};

// The fields of a line, one after the other.
struct Fields {
    const char *p, *end;
    bool commas, done = false;

    bool next(Token &token) {
        p = skip_blanks(p, end);
        if (commas) {
            if (done)
                return false;
            const char *comma = std::find(p, end, ',');
            token = {p, comma};
            while (token.end > token.begin && is_blank(token.end[-1]))
                --token.end;
            if (token.end - token.begin >= 2 && *token.begin == '"' && token.end[-1] == '"')
                ++token.begin, --token.end;
            done = comma == end;
            p = done ? end : comma + 1;
            return true;
        }
        if (p == end)
            return false;
        token.begin = p;
        while (p < end && !is_blank(*p))
            ++p;
        token.end = p;
        return true;
    }
};

// std::from_chars does not accept a plus sign.
const char *skip_plus(Token token) {
    const char *p = token.begin;
    return token.end - p > 1 && *p == '+' && p[1] != '-' ? p + 1 : p;
}

Code parse_whole(Token token, int64_t &value) {
    const auto result = std::from_chars(skip_plus(token), token.end, value);
    if (result.ptr != token.end || result.ec == std::errc::invalid_argument)
        return NOT_WHOLE;
    return result.ec == std::errc() ? FINE : TOO_LARGE;
}

Code parse_real(Token token, double &value) {
    const char *begin = skip_plus(token);
    const auto result = std::from_chars(begin, token.end, value);
    if (result.ptr != token.end || result.ec == std::errc::invalid_argument)
        return NOT_REAL;
    if (result.ec == std::errc())
        return FINE;
    if (!is_tiny(begin, token.end))
        return TOO_LARGE;
    value = *begin == '-' ? -0.0 : 0.0;
    return FINE;
}

template <class T> void put(void *array, int64_t place, T value) { static_cast<T *>(array)[place] = value; }

// Parses a row into its entry of the results, or fills `fault` (except for the line).
bool parse_row(const GraphText &text, const GraphEdges &edges, const char *begin, const char *end, int64_t row,
               GraphFault &fault) {
    Fields fields{begin, end, text.commas != 0};
    Token token{begin, begin};
    int32_t column = SOURCE;
    const auto fail = [&](Code code, int64_t found = 0) {
        fault = {code, column, 0, token.begin - text.text, token.end - text.text, found};
        return false;
    };
    if (text.prefix) {
        fields.next(token);
        if (token.end - token.begin != 1 || *token.begin != text.prefix)
            return fail(NO_PREFIX);
    }
    const int32_t wanted = edges.weights != NONE ? 3 : 2;
    for (int32_t field = 0; field < wanted; ++field) {
        column = text.columns[field];
        if (!fields.next(token))
            return fail(TOO_FEW, field);
        if (column == WEIGHT) {
            int64_t whole = 0;
            double real = 0;
            if (const Code code = edges.weights == INT64 ? parse_whole(token, whole) : parse_real(token, real))
                return fail(code);
            if (whole < 0 || real < 0)
                return fail(NEGATIVE);
            if (!std::isfinite(real))
                return fail(NOT_FINITE);
            edges.weights == INT64 ? put(edges.weight, row, whole) : put(edges.weight, row, real);
            continue;
        }
        int64_t node;
        if (const Code code = parse_whole(token, node))
            return fail(code);
        if (node < edges.low || node > edges.high)
            return fail(NO_NODE);
        void *array = column == SOURCE ? edges.sources : edges.targets;
        edges.wide ? put<int64_t>(array, row, node - edges.low) : put<int32_t>(array, row, int32_t(node - edges.low));
    }
    Token extra;
    if (!fields.next(extra))
        return true;
    token = extra;
    int64_t found = wanted + 1;
    while (fields.next(extra))
        ++found;
    return fail(TOO_MANY, found);
}

constexpr int64_t LONGEST_LINE = 80; // a letter, two 64-bit integers, a shortest float64, and the separators

// Calls parse(row, begin, end, fault) for the rows of all chunks, in parallel, up to the first fault of each chunk.
// Returns 0 on success, 1 with `fault` filled, or 2 if out of memory.
template <class Parse> int32_t parse_rows(const GraphText &text, GraphFault &fault, const Parse &parse) {
    std::unique_ptr<GraphFault[]> faults(new (std::nothrow) GraphFault[std::size_t(text.chunks)]());
    if (!faults)
        return 2;
    host::interruptible([&](host::Call &call) {
        share_out(call, text.chunks, int(text.threads), [&](int64_t k) {
            int64_t row = text.rows[k];
            for_rows(text, k, IsRow{text}, [&](int64_t line, const char *begin, const char *end) {
                const bool fine = parse(row++, begin, end, faults[k]);
                faults[k].line = fine ? 0 : text.lines[k] + line;
                return fine;
            });
        });
    });
    for (int64_t k = 0; k < text.chunks; ++k)
        if (faults[k].code != FINE) {
            fault = faults[k];
            return 1;
        }
    return 0;
}

// Parses the whole numbers from 0 of a row into `values`, or fills `fault` (except for the line).
bool parse_numbers(const GraphText &text, const char *begin, const char *end, int64_t *values, GraphFault &fault) {
    Fields fields{begin, end, false};
    for (Token token; fields.next(token); ++values) {
        Code code = parse_whole(token, *values);
        if (code == FINE && *values < 0)
            code = NEGATIVE;
        if (code != FINE) {
            fault = {code, 0, 0, token.begin - text.text, token.end - text.text, 0};
            return false;
        }
    }
    return true;
}

} // namespace

extern "C" {

int32_t graph_text_interface() { return INTERFACE; }

// Fills offsets, rows and lines.
void graph_text_index(const GraphText *text) {
    host::interruptible([&](host::Call &call) { index_text(call, *text, IsRow{*text}); });
}

// Parses all rows. Returns 0 on success, 1 with `fault` filled, or 2 if out of memory.
int32_t graph_text_parse(const GraphText *text, const GraphEdges *edges, GraphFault *fault) {
    return parse_rows(*text, *fault, [&](int64_t row, const char *begin, const char *end, GraphFault &found) {
        return parse_row(*text, *edges, begin, end, row, found);
    });
}

// Counts the fields of each row; the counts are 0 before. Returns 0, or 2 if out of memory.
int32_t graph_text_count(const GraphText *text, int64_t *counts) {
    GraphFault none;
    return parse_rows(*text, none, [&](int64_t row, const char *begin, const char *end, GraphFault &) {
        Fields fields{begin, end, false};
        for (Token token; fields.next(token);)
            ++counts[row];
        return true;
    });
}

// Parses rows of whole numbers from 0; those of row i go to values[places[i]] and behind. Returns as
// `graph_text_parse` does.
int32_t graph_text_numbers(const GraphText *text, const int64_t *places, int64_t *values, GraphFault *fault) {
    return parse_rows(*text, *fault, [&](int64_t row, const char *begin, const char *end, GraphFault &found) {
        return parse_numbers(*text, begin, end, values + places[row], found);
    });
}

int64_t graph_text_longest_line() { return LONGEST_LINE; }

// Writes the lines of the edges in [begin, end); returns the length of the text.
int64_t graph_text_format(const GraphLines *lines, int64_t begin, int64_t end, char *out) {
    char *p = out;
    const auto number = [&](auto value) { p = std::to_chars(p, p + 32, value).ptr; };
    const auto node = [&](int32_t v) { number(lines->labels != nullptr ? lines->labels[v] : v + lines->base); };
    for (int64_t i = begin; i < end; ++i) {
        if (lines->prefix) {
            *p++ = char(lines->prefix);
            *p++ = ' ';
        }
        node(lines->sources[i]);
        *p++ = char(lines->separator);
        node(lines->targets[i]);
        if (lines->weights != NONE)
            *p++ = char(lines->separator);
        if (lines->weights == INT32)
            number(static_cast<const int32_t *>(lines->weight)[i]);
        else if (lines->weights == INT64)
            number(static_cast<const int64_t *>(lines->weight)[i]);
        else if (lines->weights == FLOAT64)
            number(static_cast<const double *>(lines->weight)[i]);
        *p++ = '\n';
    }
    return p - out;
}

} // extern "C"
