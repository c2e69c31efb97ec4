// The edges of triangles for the host: the neighbour across each, and the subsegment on it.
#include "mesh/triangles.cuh"

KERNEL(list_tile_edges, const Triangle *triangles, const Subsegment *subsegments, int32 *neighbours,
       int32 *on_subsegment) {
    for (const Index t : launch)
        for (int k = 0; k < 3; ++k) {
            const int32 link = triangles[t].link[k];
            neighbours[3 * t + k] = link;
            on_subsegment[3 * t + k] = NOTHING;
            if (link < 0) {
                const Subsegment &s = subsegments[~link];
                neighbours[3 * t + k] = s.left == int32(t) ? s.right : s.left;
                on_subsegment[3 * t + k] = ~link;
            }
        }
}
