// Gathers and scatters elements of arrays (32-bit integers as uint32), flags words, and fills arrays.
#include "portable/portable.cuh"

KERNEL(gather_uint32, const uint32 *values, const int32 *places, uint32 *gathered) {
    for (const Index i : launch)
        gathered[i] = values[places[i]];
}

KERNEL(gather_float64, const float64 *values, const int32 *places, float64 *gathered) {
    for (const Index i : launch)
        gathered[i] = values[places[i]];
}

// The places differ.
KERNEL(scatter_uint32, const uint32 *values, const int32 *places, uint32 *scattered) {
    for (const Index i : launch)
        scattered[places[i]] = values[i];
}

KERNEL(scatter_float64, const float64 *values, const int32 *places, float64 *scattered) {
    for (const Index i : launch)
        scattered[places[i]] = values[i];
}

// flags[i] = 1 if a word has any of the bits.
KERNEL(flag_words, const uint32 *words, uint32 bits, int32 *flags) {
    for (const Index i : launch)
        flags[i] = (words[i] & bits) != 0;
}

KERNEL(gather_int64, const int64 *values, const int32 *places, int64 *gathered) {
    for (const Index i : launch)
        gathered[i] = values[places[i]];
}

KERNEL(fill_int32, int32 value, int32 *values) {
    for (const Index i : launch)
        values[i] = value;
}
