// The predicates in bulk: the tests call them millions of times, on both backends.
#include "geometry/predicates.cuh"

KERNEL(orient2d_all, const Point *a, const Point *b, const Point *c, int32 *signs) {
    for (const Index i : launch)
        signs[i] = orient2d(a[i], b[i], c[i]);
}

KERNEL(incircle_all, const Point *a, const Point *b, const Point *c, const Point *d, int32 *signs) {
    for (const Index i : launch)
        signs[i] = incircle(a[i], b[i], c[i], d[i]);
}

KERNEL(orient2d_exact_all, const Point *a, const Point *b, const Point *c, int32 *signs) {
    for (const Index i : launch)
        signs[i] = orient2d_exact(a[i], b[i], c[i]);
}

KERNEL(incircle_exact_all, const Point *a, const Point *b, const Point *c, const Point *d, int32 *signs) {
    for (const Index i : launch)
        signs[i] = incircle_exact(a[i], b[i], c[i], d[i]);
}
