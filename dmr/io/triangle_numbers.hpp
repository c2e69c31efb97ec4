// Parses and writes one number of a text file. Parsing is exact (the double nearest to the decimal number); writing
// uses the fewest digits that read back as the same double. No locale, no allocation, no exception.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "dmr/common/files/decimal_range.hpp"

namespace {

// The possible faults of a line; dmr/io/columns.py holds the messages.
enum Code : int32_t {
    kNone = 0,
    kTooFew,
    kNotWhole,
    kNotReal,
    kTooLarge,
    kNotFinite,
    kNoSuchEntity,
    kRepeated,
};

// std::from_chars does not accept a leading plus sign.
const char *skip_plus(const char *begin, const char *end) {
    return end - begin > 1 && *begin == '+' && begin[1] != '-' && begin[1] != '+' ? begin + 1 : begin;
}

Code parse_whole(const char *begin, const char *end, int64_t &value) {
    const auto result = std::from_chars(skip_plus(begin, end), end, value);
    if (result.ptr != end || result.ec == std::errc::invalid_argument)
        return kNotWhole;
    return result.ec == std::errc() ? kNone : kTooLarge;
}

Code parse_plain_real(const char *begin, const char *end, double &value) {
    begin = skip_plus(begin, end);
    const auto result = std::from_chars(begin, end, value);
    if (result.ptr != end || result.ec == std::errc::invalid_argument)
        return kNotReal;
    if (result.ec == std::errc())
        return kNone;
    if (!is_tiny(begin, end))
        return kTooLarge;
    value = *begin == '-' ? -0.0 : 0.0;
    return kNone;
}

// Also accepts Fortran's double-precision exponents, which are written with a D: 1.0D-3.
Code parse_real(const char *begin, const char *end, double &value) {
    const Code code = parse_plain_real(begin, end, value);
    constexpr std::ptrdiff_t kLongest = 64;
    if (code != kNotReal || end - begin > kLongest)
        return code;
    char copy[kLongest];
    const char *copied = std::copy(begin, end, copy);
    char *exponent = std::find_if(copy, copy + (end - begin), [](char c) { return c == 'D' || c == 'd'; });
    if (exponent == copied || exponent == copy)
        return code;
    const char before = exponent[-1];
    if (before != '.' && (before < '0' || before > '9'))
        return code;
    *exponent = 'e';
    return parse_plain_real(copy, copied, value);
}

// Writes a number; the buffer must have room for kNumberSpace characters.
constexpr std::ptrdiff_t kNumberSpace = 32;

template <class Number> char *put(char *p, Number number) { return std::to_chars(p, p + kNumberSpace, number).ptr; }

// Nearly all element numbers of a mesh have at most eight digits. These are formatted together in one 64-bit word: each
// step splits every part of the word into halves with equally many decimal digits (four, two, one).
char *put_number(char *p, int64_t number) {
    if (number < 0 || number > 99'999'999)
        return put(p, number);
    const uint64_t all = static_cast<uint64_t>(number);
    const uint64_t fours = all / 10'000 | (all % 10'000) << 32;
    // In each half, x / 100 = x * 5243 >> 19 for x <= 9999; in each quarter, x / 10 = x * 103 >> 10 for x <= 99.
    const uint64_t hundreds = (fours * 5'243 >> 19) & 0x0000007f'0000007f;
    const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    const uint64_t tens = (twos * 103 >> 10) & 0x000f000f'000f000f;
    const uint64_t digits = tens | (twos - tens * 10) << 8; // the first digit in the lowest byte
    const int zeros = digits == 0 ? 7 : __builtin_ctzll(digits) / 8;
    const uint64_t text = (digits | 0x30303030'30303030) >> (8 * zeros);
    std::memcpy(p, &text, sizeof text);
    return p + (8 - zeros);
}

} // namespace
