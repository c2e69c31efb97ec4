// The predicates in bulk: the tests call them millions of times, on both backends. `exact`: the last stage
// alone.
#include "geometry/predicates.cuh"

KERNEL(orient2d_all, const Point *a, const Point *b, const Point *c, int32 exact, int32 *signs) {
    for (const Index i : launch)
        signs[i] = exact ? orient2d_accumulated(a[i], b[i], c[i]) : orient2d(a[i], b[i], c[i]);
}

KERNEL(incircle_all, const Point *a, const Point *b, const Point *c, const Point *d, int32 exact, int32 *signs) {
    for (const Index i : launch)
        signs[i] = exact ? incircle_accumulated(a[i], b[i], c[i], d[i]) : incircle(a[i], b[i], c[i], d[i]);
}
