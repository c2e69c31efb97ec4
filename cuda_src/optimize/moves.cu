// Moves vertices to places where the triangles around them have better smallest angles.
//
// A vertex minimises the sum of the cotangents of the smallest angles in its star, by direct search: a few candidates
// in a fixed order. (Freitag, Jones and Plassmann 1999 move vertices in independent sets, too, but maximise the
// smallest angle of the star alone.) Vertices of one colour move at the same time. Neighbours have different colours,
// except for a few after flips; of two with the same colour, the one with the larger hash moves. So no two stars have a
// triangle in common, and the result depends neither on the order of threads nor on their number.
#include "geometry/encroachment.cuh"
#include "geometry/steiner.cuh"
#include "mesh/interpolation.cuh"
#include "optimize/shape.cuh"
#include "optimize/star.cuh"
#include "primitives/hash.cuh"

// The moves that a vertex may make: none, along its input segment, or anywhere in its star.
enum Mobility : uint8 { FIXED, SLIDING, FREE };

constexpr int FIRST_COLOURS = 8; // chosen at random at first
constexpr int COLOURS = 12;      // after repairs; a vertex that finds no free one keeps its colour
constexpr uint8 NO_COLOUR = 255; // of vertices that do not move

// Data that the moves of a round share (dmr/refinement/optimization/moves).
KERNEL_STRUCT(Smoothing) {
    const uint8 *mobility;     // per vertex: its Mobility
    const uint8 *colours;      // per vertex: its colour
    int32 *moved;              // per vertex: 1 if it has moved in this round
    int32 *incident;           // per vertex: the highest number of a triangle around it
    int32 *degrees;            // per vertex: the number of triangles around it
    const float64 *sizes;      // per triangle: its longest edge allowed; or null
    const float64 *area_roots; // per triangle: the square root of its largest area allowed; or null
    float64 steepest;          // the largest cotangent that an angle may have after a move
    float64 reach;             // of the search, in distances to the neighbours
};

// Vertices may move, unless they are input vertices (with `keeps_input`, or on a segment), or lie on a segment that
// starts at an acute corner: those were placed on shells around it.
KERNEL(find_mobility, Mesh mesh, int32 keeps_input, uint8 *mobility) {
    for (const Index v : launch) {
        const int32 origin = mesh.vertex_origin[v];
        Mobility found = FREE;
        if (origin >= 0) {
            const Subsegment s = mesh.input_segments[origin];
            found = mesh.acute[s.from] || mesh.acute[s.to] ? FIXED : SLIDING;
        }
        mobility[v] = keeps_input && origin == INPUT_VERTEX ? FIXED : found;
    }
}

KERNEL(fix_segment_ends, Mesh mesh, uint8 *mobility) {
    for (const Index s : launch)
        for (const int32 end : {mesh.subsegments[s].from, mesh.subsegments[s].to})
            if (mesh.vertex_origin[end] == INPUT_VERTEX)
                racing_store(&mobility[end], uint8(FIXED));
}

KERNEL(fix_corners, const Triangle *triangles, const int32 *listed, uint8 *mobility) {
    for (const Index i : launch)
        for (const int32 corner : triangles[listed[i]].vertex)
            racing_store(&mobility[corner], uint8(FIXED));
}

// `incident` starts with NOTHING, `degrees` with 0.
KERNEL(find_stars, const Triangle *triangles, Smoothing smoothing) {
    for (const Index t : launch)
        for (const int32 corner : triangles[t].vertex) {
            atomic_max(&smoothing.incident[corner], int32(t));
            atomic_add(&smoothing.degrees[corner], 1);
        }
}

// ---- Colours --------------------------------------------------------------------------------------------------------

KERNEL(choose_colours, uint8 *colours) {
    for (const Index v : launch)
        colours[v] = uint8(hash32(uint32(v)) % FIRST_COLOURS);
}

// Of two neighbours, whether the first one has precedence.
INLINE bool precedes(int32 u, int32 v) { return hash32(uint32(u)) > hash32(uint32(v)); }

// Whether a neighbour with the same colour precedes v.
INLINE bool loses_colour(const Star &star, int32 v, const uint8 *colours) {
    for (int i = 0; i <= star.count; ++i)
        if (colours[star.ring[i]] == colours[v] && precedes(star.ring[i], v))
            return true;
    return false;
}

// Gives vertices that lose their colour the first one that no neighbour has.
KERNEL(repair_colours, Mesh mesh, Smoothing smoothing, uint8 *repaired) {
    for (const Index i : launch) {
        const int32 v = int32(i);
        uint8 colour = smoothing.colours[v];
        const int32 degree = smoothing.degrees[v];
        if (smoothing.mobility[v] == FIXED || degree == 0 || degree > MOST_NEIGHBOURS) {
            colour = NO_COLOUR;
        } else {
            const Star star(mesh, v, smoothing.incident[v]);
            if (colour == NO_COLOUR || loses_colour(star, v, smoothing.colours)) {
                uint32 used = 0;
                for (int k = 0; k <= star.count; ++k)
                    used |= uint32(1) << (smoothing.colours[star.ring[k]] & 31);
                for (int candidate = COLOURS - 1; candidate >= 0; --candidate)
                    colour = used >> candidate & 1 ? colour : uint8(candidate);
            }
        }
        repaired[v] = colour;
    }
}

// ---- Moves ----------------------------------------------------------------------------------------------------------

// A star whose center moves.
struct MovingStar {
    Point ring[MOST_NEIGHBOURS + 1];
    float64 sides[MOST_NEIGHBOURS]; // squared lengths of the edges from ring[i] to ring[i + 1]
    int count;
    uint32 opposite, first, last; // bit i: this edge of triangle i, seen from the center, is a subsegment
    float64 lens;                 // see Limits
    float64 doubled_area;         // the least bounds of the star's triangles
    float64 squared_edge;

    METHOD MovingStar(const Mesh &mesh, const Limits &limits, const Smoothing &smoothing, const Star &star)
        : count(star.count), opposite(0), first(0), last(0), lens(limits.lens), doubled_area(limits.doubled_area),
          squared_edge(limits.squared_edge) {
        const float64 stricter = 1.0 - 0x1p-40; // as in quality_check.cuh
        for (int i = 0; i <= count; ++i)
            ring[i] = mesh.points[star.ring[i]];
        for (int i = 0; i < count; ++i) {
            sides[i] = squared_length(ring[i], ring[i + 1]);
            const int32 t = star.triangle[i];
            const Triangle &one = mesh.triangles[t];
            const int k = edge_that_starts_at(one, star.ring[i]);
            opposite |= uint32(one.link[k] < 0) << i;
            first |= uint32(one.link[previous_corner(k)] < 0) << i;
            last |= uint32(one.link[next_corner(k)] < 0) << i;
            const float64 own = mesh.area_bounds == nullptr ? 0.0 : 2.0 * stricter * mesh.area_bounds[mesh.ancestor[t]];
            if (own > 0.0 && own < doubled_area)
                doubled_area = own;
            if (smoothing.sizes != nullptr) {
                const float64 size = stricter * (smoothing.sizes[t] * smoothing.sizes[t]);
                squared_edge = size < squared_edge ? size : squared_edge;
            }
            if (smoothing.area_roots != nullptr) {
                const float64 area = 2.0 * stricter * (smoothing.area_roots[t] * smoothing.area_roots[t]);
                doubled_area = area < doubled_area ? area : doubled_area;
            }
        }
    }

    // The sum of the cotangents of the smallest angles with the center at p; `most` or more if that is not below
    // `most`, a cotangent is above `steepest`, or a triangle is reversed or violates a bound.
    METHOD float64 cost(Point p, float64 most, float64 steepest) const {
        float64 sum = 0.0, to_a = squared_length(p, ring[0]);
        for (int i = 0; i < count && sum < most; ++i) {
            const Point a = ring[i], b = ring[i + 1];
            const float64 left = (a.x - p.x) * (b.y - p.y), right = (a.y - p.y) * (b.x - p.x), cross = left - right;
            const float64 to_b = squared_length(p, b);
            const SmallestAngle angle = smallest_angle(to_a, sides[i], to_b, cross);
            const bool valid = cross > ORIENT_BOUND * (magnitude(left) + magnitude(right)) &&
                               angle.dot <= steepest * cross && cross * (1.0 + 0x1p-40) <= doubled_area &&
                               angle.longest <= squared_edge && !encroached(i, p);
            sum = valid ? sum + angle.cotangent() : most;
            to_a = to_b;
        }
        return sum;
    }

    // Whether a corner of triangle i encroaches on a subsegment that is the edge opposite, with the center at p.
    METHOD bool encroached(int i, Point p) const {
        const Point a = ring[i], b = ring[i + 1];
        return (opposite >> i & 1 && encroaches(a, b, p, lens)) || (first >> i & 1 && encroaches(p, a, b, lens)) ||
               (last >> i & 1 && encroaches(b, p, a, lens));
    }

    // The mean of the apexes of the equilateral triangles on the edges of the ring.
    METHOD Point target() const {
        constexpr float64 HEIGHT = 0.8660254037844386; // of an equilateral triangle over its edge
        Point sum = {0.0, 0.0};
        for (int i = 0; i < count; ++i) {
            const Point a = ring[i], b = ring[i + 1];
            sum.x += 0.5 * (a.x + b.x) - HEIGHT * (b.y - a.y);
            sum.y += 0.5 * (a.y + b.y) + HEIGHT * (b.x - a.x);
        }
        return {sum.x / count, sum.y / count};
    }

    // The root of the mean squared distance of the neighbours.
    METHOD float64 radius(Point p) const {
        float64 sum = 0.0;
        for (int i = 0; i < count; ++i)
            sum += squared_length(p, ring[i]);
        return square_root(sum / count);
    }
};

// The places that a vertex can take: anywhere, or on its input segment.
struct Track {
    Point begin;       // the vertex before its move
    float64 parameter; // and its parameter, if it slides
    bool slides;
    Point from, to;
    float64 scale; // 1 over the squared length of the segment

    METHOD Track(const Mesh &mesh, int32 v, bool slides)
        : begin(mesh.points[v]), parameter(mesh.vertex_parameter[v]), slides(slides), from(begin), to(begin),
          scale(0.0) {
        if (slides) {
            const Subsegment s = mesh.input_segments[mesh.vertex_origin[v]];
            from = mesh.points[s.from], to = mesh.points[s.to];
            scale = 1.0 / squared_length(from, to);
        }
    }

    // The parameter after a move by (x, y), which is projected on the segment.
    METHOD float64 parameter_after(Point by) const {
        const float64 t = parameter + scale * (by.x * (to.x - from.x) + by.y * (to.y - from.y));
        return t > 0.0 && t < 1.0 ? t : parameter;
    }

    METHOD Point place_after(Point by) const {
        return slides ? point_on_segment(from, to, parameter_after(by))
                      : Point{admitted(begin.x + by.x), admitted(begin.y + by.y)};
    }
};

// The best move found: the target and the middle of the way to it first, and then twice eight directions around the
// best place so far.
INLINE Point best_move(const MovingStar &star, const Track &track, float64 steepest, float64 reach) {
    constexpr float64 DIAGONAL = 0.70710678118654752;
    constexpr float64 BETTER = 1.0 - 0x1p-20; // relative cost of a move that is worth it
    Point best = {0.0, 0.0};
    float64 least = BETTER * star.cost(track.begin, INFINITE, INFINITE);
    const auto try_move = [&](Point by) {
        const float64 cost = star.cost(track.place_after(by), least, steepest);
        if (cost < least)
            least = BETTER * cost, best = by;
    };
    const Point target = star.target(), way = {target.x - track.begin.x, target.y - track.begin.y};
    try_move(way);
    try_move({0.5 * way.x, 0.5 * way.y});
    float64 length = reach * star.radius(track.begin);
    for (int pass = 0; pass < 2; ++pass) {
        const Point center = best;
        const float64 before = least;
        Point by = {length, 0.0};
        for (int direction = 0; direction < 8; ++direction) {
            try_move({center.x + by.x, center.y + by.y});
            by = {DIAGONAL * (by.x - by.y), DIAGONAL * (by.x + by.y)};
        }
        if (least == before)
            length *= 0.5;
    }
    return best;
}

// The triangle of a star that a place p inside it lies in. Rounding can put a place on the boundary outside of the
// star: then the triangle is the one beside it, at either end.
INLINE int triangle_around(const Mesh &mesh, const Star &star, Point v, Point p) {
    for (int i = 0; i < star.count; ++i)
        if (orient2d(v, mesh.points[star.ring[i]], p) >= 0 && orient2d(mesh.points[star.ring[i + 1]], v, p) >= 0)
            return i;
    const Point end = mesh.points[star.ring[0]];
    return (p.x - v.x) * (end.x - v.x) + (p.y - v.y) * (end.y - v.y) > 0.0 ? 0 : star.count - 1;
}

KERNEL(move_vertices, Mesh mesh, Limits limits, Smoothing smoothing, int32 colour) {
    for (const Index i : launch) {
        const int32 v = int32(i);
        if (smoothing.colours[v] != colour)
            continue;
        const Star star(mesh, v, smoothing.incident[v]);
        if (loses_colour(star, v, smoothing.colours))
            continue;
        const MovingStar moving(mesh, limits, smoothing, star);
        const Track track(mesh, v, smoothing.mobility[v] == SLIDING);
        const Point by = best_move(moving, track, smoothing.steepest, smoothing.reach);
        if (by.x == 0.0 && by.y == 0.0)
            continue;
        const Point p = track.place_after(by);
        if (mesh.attributes != nullptr) {
            const int holder = triangle_around(mesh, star, track.begin, p);
            const int32 corners[3] = {v, star.ring[holder], star.ring[holder + 1]};
            interpolate_in_triangle(corners, mesh.points, p, mesh.width, mesh.attributes,
                                    mesh.attributes + i * mesh.width);
        }
        mesh.points[v] = p;
        mesh.vertex_parameter[v] = track.slides ? track.parameter_after(by) : track.parameter;
        smoothing.moved[v] = 1;
    }
}

// Takes the moves of fixed vertices back.
KERNEL(take_back, Mesh mesh, Smoothing smoothing, const Point *points, const float64 *parameters,
       const float64 *attributes) {
    for (const Index v : launch) {
        if (!smoothing.moved[v] || smoothing.mobility[v] != FIXED)
            continue;
        smoothing.moved[v] = 0;
        mesh.points[v] = points[v];
        mesh.vertex_parameter[v] = parameters[v];
        for (Index column = 0; attributes != nullptr && column < mesh.width; ++column)
            mesh.attributes[v * mesh.width + column] = attributes[v * mesh.width + column];
    }
}
