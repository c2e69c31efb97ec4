// Gathers the few elements that the host needs from arrays on the device, and scatters them back.
#include "geometry/predicates.cuh"

KERNEL(gather_points, const Point *points, const int32 *places, Point *gathered) {
    FOR_RANGE (i)
        gathered[i] = points[places[i]];
}

KERNEL(gather_uint32, const uint32 *values, const int32 *places, uint32 *gathered) {
    FOR_RANGE (i)
        gathered[i] = values[places[i]];
}

KERNEL(scatter_uint8, const uint8 *values, const int32 *places, uint8 *scattered) {
    FOR_RANGE (i)
        scattered[places[i]] = values[i];
}

KERNEL(scatter_int32, const int32 *values, const int32 *places, int32 *scattered) {
    FOR_RANGE (i)
        scattered[places[i]] = values[i];
}

// flags[i] = 1 if a word has any of the bits.
KERNEL(flag_words, const uint32 *words, uint32 bits, int32 *flags) {
    FOR_RANGE (i)
        flags[i] = (words[i] & bits) != 0;
}

KERNEL(fill_int32, int32 value, int32 *values) {
    FOR_RANGE (i)
        values[i] = value;
}
