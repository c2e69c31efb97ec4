// Decimal numbers outside the range of doubles: std::from_chars reports them, and does not say on which side they are.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace {

// Whether such a number is too small (it then reads as zero) rather than too large. The sign of the decimal exponent of
// its first nonzero digit decides.
bool is_tiny(const char *begin, const char *end) {
    const char *exponent = std::find_if(begin, end, [](char c) { return c == 'e' || c == 'E'; });
    const char *point = std::find(begin, exponent, '.');
    const char *first = std::find_if(begin, exponent, [](char c) { return c >= '1' && c <= '9'; });
    int64_t shift = 0;
    if (exponent != end) {
        const char *digits = exponent + 1 + (end - exponent > 1 && exponent[1] == '+');
        const auto result = std::from_chars(digits, end, shift);
        constexpr int64_t kHuge = int64_t{1} << 60; // leaves room for the sum below
        if (result.ec == std::errc::result_out_of_range || shift > kHuge || shift < -kHuge)
            return *digits == '-';
    }
    return (first < point ? point - first : point - first + 1) + shift < 0;
}

} // namespace
