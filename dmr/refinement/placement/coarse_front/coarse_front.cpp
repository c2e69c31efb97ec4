// A coarse front, which extends the lengths of the pieces of an outline into its domain (native.py).
//
// Gmsh's Frontal-Delaunay begins with a triangulation of the divided outline, in which each vertex has a size. A new
// point has the size that is interpolated in the triangle in which it lies at that time. As points come, the triangles
// change, and sizes mix. This is the same process. It fills a small domain with points. In a large one its steps become
// longer: the first points, in the triangles that are largest beside their sizes, decide what is interpolated later.
//
// A triangle is large if the radius of its circumcircle is more than 0.71 steps. The front consists of the large
// triangles that have a wall, or a triangle that is not large, across some edge. The one with the largest radius in
// sizes gets a point on the perpendicular bisector of this edge, at the height of an equilateral triangle whose sides
// are one step long, or at the center of the circumcircle if that is nearer (Rebay 1993). The point is inserted by the
// algorithm of Bowyer and Watson, which does not cross walls, unless it is too near to a vertex or to the outline.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <queue>
#include <vector>

#include "geometry/predicates.cuh"

namespace {

constexpr double LARGE = 0.70710678118654752;  // steps: radius from which a triangle gets a point
constexpr double HEIGHT = 0.86602540378443865; // of an equilateral triangle
constexpr double TOO_NEAR = 0.5;               // steps: no point is inserted nearer to a corner of its cavity,
constexpr double TOO_NEAR_TO_OUTLINE = 0.4;    // or to an edge of its cavity between vertices of the outline
constexpr double OF_LONGER = 0.5;              // of the longest piece at a vertex: its least size
// After its first steps, of one size, a step is (1 + further points / LONGER)^2 sizes long: a mesh with a million
// points has a coarse front with 5,500.
constexpr double LONGER = 1000.0;
// Between two tiny parts that are far from each other, sizes grow at least by GROWTH x^1.5 per unit of distance, and by
// MOST_GROWTH at most, where 1 + x is TINY times their distance over the larger extent. Gmsh's hardly grow there: 16
// holes of 12 short edges can give it a million triangles.
constexpr double TINY = 0.02, GROWTH = 0.01, MOST_GROWTH = 0.15;
constexpr int32 NOTHING = -1, NO_MEMORY = -1;

struct Outline {
    Point *points;               // with room for `most` more
    double *sizes;               // at the points
    int32 *corners, *neighbours; // of triangles, three each, with room for 2 `most` more; edge k is opposite corner k
    const int32 *labels;         // of the triangles
    const unsigned char *filled; // by label: whether the part belongs to the domain
    const int32 *parts;          // of the outline: equal numbers, below `vertices`, for vertices that pieces connect
    const int32 *walls;          // half-edges on both sides of pieces, triangle << 2 | edge; NOTHING beyond the hull
    int32 vertices, triangles, wall_count, unit_steps, most;
    double largest, threshold; // as in native.py
};

struct Candidate {
    double radius; // in sizes
    int32 triangle;
    bool operator<(const Candidate &other) const {
        return radius != other.radius ? radius < other.radius : triangle > other.triangle;
    }
};

// The size at a place, and its least growth.
struct Interpolation {
    double size, growth;
};

// An edge of a cavity, with the cavity on its left.
struct BoundaryEdge {
    int32 start, end, across;
    bool wall;
};

double distance(Point a, Point b) {
    const double x = b.x - a.x, y = b.y - a.y;
    return std::sqrt(x * x + y * y);
}

class CoarseFront {
  public:
    explicit CoarseFront(const Outline &outline)
        : outline_(outline), vertices_(outline.vertices), triangles_(outline.triangles),
          walls_(size_t(outline.triangles) + 2 * size_t(outline.most)), radius_(walls_.size()),
          cavity_of_(walls_.size()) {
        edge_from_.resize(size_t(vertices_) + size_t(outline.most));
        for (int32 k = 0; k < outline.wall_count; ++k)
            if (outline.walls[k] != NOTHING)
                walls_[outline.walls[k] >> 2] |= 1 << (outline.walls[k] & 3);
        set_sizes();
        set_growth();
        for (int32 t = 0; t < triangles_; ++t)
            if (is_filled(t))
                radius_[t] = radius(t);
        for (int32 t = 0; t < triangles_; ++t)
            add_if_in_front(t);
    }

    // Returns the number of points that have been inserted.
    int32 run() {
        while (!queue_.empty() && inserted() < outline_.most) {
            const Candidate next = queue_.top();
            queue_.pop();
            const double further = std::max(0, inserted() - outline_.unit_steps) / LONGER;
            step_ = (1.0 + further) * (1.0 + further);
            // The triangle may have been replaced, or steps have become longer.
            if (next.radius != radius_[next.triangle] || !is_large(next.triangle))
                continue;
            const int edge = front_edge(next.triangle);
            if (edge != NOTHING && !insert(next.triangle, edge))
                radius_[next.triangle] = 0.0; // it stays as it is, and the front does not advance from it
        }
        for (int32 v = outline_.vertices; v < vertices_; ++v)
            outline_.sizes[v] = std::min(outline_.largest, outline_.sizes[v]);
        return inserted();
    }

    // The mean growth of sizes per unit of distance, at most 1, over the triangles that are wanted, and how many these
    // are.
    void measure(double &growth, double &wanted) const {
        growth = wanted = 0.0;
        for (int32 t = 0; t < triangles_; ++t) {
            if (t < outline_.triangles && !is_filled(t))
                continue;
            // In units of the mean size, where a wanted triangle has an area of sqrt(3) / 4.
            const double *sizes = outline_.sizes;
            const double first = sizes[corner(t, 0)], second = sizes[corner(t, 1)], third = sizes[corner(t, 2)];
            const double mean = (first + second + third) / 3.0;
            const Point a = at(corner(t, 0)), b = at(corner(t, 1)), c = at(corner(t, 2));
            const double x = (b.x - a.x) / mean, y = (b.y - a.y) / mean, rise = (second - first) / mean;
            const double u = (c.x - a.x) / mean, v = (c.y - a.y) / mean, other = (third - first) / mean;
            const double twice_area = x * v - y * u;
            const double along_x = rise * v - other * y, along_y = other * x - rise * u; // times twice the area
            wanted += twice_area;
            growth += std::min(std::sqrt(along_x * along_x + along_y * along_y), twice_area);
        }
        growth = wanted > 0.0 ? growth / wanted : 0.0;
        wanted /= HEIGHT;
    }

  private:
    Point at(int32 vertex) const { return outline_.points[vertex]; }
    int32 corner(int32 t, int k) const { return outline_.corners[3 * size_t(t) + k]; }
    int32 &neighbour(int32 t, int k) const { return outline_.neighbours[3 * size_t(t) + k]; }
    bool is_filled(int32 t) const { return outline_.filled[outline_.labels[t]] != 0; }
    bool is_wall(int32 t, int k) const { return (walls_[t] >> k & 1) != 0 || neighbour(t, k) < 0; }
    int32 inserted() const { return vertices_ - outline_.vertices; }
    double at_most_largest(double size) const { return std::min(size, outline_.largest); }
    double step(double size) const { return step_ * at_most_largest(size); }

    // A vertex has the length of the shortest edge there, but at least half of its longest piece. Edges that are not
    // shorter than the threshold count as the largest size, as do those to vertices without pieces.
    void set_sizes() {
        std::vector<double> longest(size_t(vertices_), 0.0);
        for (int32 t = 0; t < triangles_; ++t)
            for (int k = 0; k < 3; ++k)
                if (is_filled(t) && is_wall(t, k))
                    for (const int32 end : {corner(t, (k + 1) % 3), corner(t, (k + 2) % 3)})
                        longest[end] = std::max(longest[end], length(t, k));
        std::fill(outline_.sizes, outline_.sizes + vertices_, outline_.largest);
        for (int32 t = 0; t < triangles_; ++t)
            for (int k = 0; k < 3; ++k) {
                const int32 start = corner(t, (k + 1) % 3), end = corner(t, (k + 2) % 3);
                if (is_filled(t) && longest[start] > 0.0 && longest[end] > 0.0)
                    for (const int32 v : {start, end})
                        outline_.sizes[v] = std::min(outline_.sizes[v], length(t, k));
            }
        for (int32 v = 0; v < vertices_; ++v)
            outline_.sizes[v] = std::max(outline_.sizes[v], OF_LONGER * longest[v]);
    }

    // Returns for each vertex of the outline the extent of its part.
    std::vector<double> extents() const {
        std::vector<Point> low(size_t(vertices_), Point{INFINITY, INFINITY}), high(low.size(), {-INFINITY, -INFINITY});
        for (int32 v = 0; v < vertices_; ++v) {
            Point &least = low[outline_.parts[v]], &most = high[outline_.parts[v]];
            least = {std::min(least.x, at(v).x), std::min(least.y, at(v).y)};
            most = {std::max(most.x, at(v).x), std::max(most.y, at(v).y)};
        }
        std::vector<double> found(low.size());
        for (int32 v = 0; v < vertices_; ++v)
            found[v] = distance(low[outline_.parts[v]], high[outline_.parts[v]]);
        return found;
    }

    // Sets by how much sizes grow at least from each part, per unit of distance.
    void set_growth() {
        growth_.assign(size_t(vertices_), 0.0);
        const std::vector<double> extent_of = extents();
        std::vector<double> of_part(size_t(vertices_), 0.0);
        for (int32 t = 0; t < triangles_; ++t)
            for (int k = 0; k < 3; ++k) {
                const int32 start = corner(t, (k + 1) % 3), end = corner(t, (k + 2) % 3);
                const int32 one = outline_.parts[start], other = outline_.parts[end];
                if (one == other || !is_filled(t) || extent_of[start] == 0.0 || extent_of[end] == 0.0) // no pieces
                    continue;
                const double extent = std::max(extent_of[start], extent_of[end]);
                const double excess = TINY * distance(at(start), at(end)) / extent - 1.0;
                if (excess > 0.0)
                    for (const int32 part : {one, other})
                        of_part[part] =
                            std::max(of_part[part], std::min(GROWTH * excess * std::sqrt(excess), MOST_GROWTH));
            }
        for (int32 v = 0; v < vertices_; ++v)
            growth_[v] = of_part[outline_.parts[v]];
    }

    double length(int32 t, int k) const {
        const double found = distance(at(corner(t, (k + 1) % 3)), at(corner(t, (k + 2) % 3)));
        return found < outline_.threshold ? found : outline_.largest;
    }

    // The radius of the circumcircle of a triangle, in sizes.
    double radius(int32 t) const {
        const double total = outline_.sizes[corner(t, 0)] + outline_.sizes[corner(t, 1)] + outline_.sizes[corner(t, 2)];
        return distance(at(corner(t, 0)), circumcenter(t)) / at_most_largest(total / 3.0);
    }

    Point circumcenter(int32 t) const {
        const Point a = at(corner(t, 0)), b = at(corner(t, 1)), c = at(corner(t, 2));
        const double bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y;
        const double twice = 2.0 * (bx * cy - by * cx), bb = bx * bx + by * by, cc = cx * cx + cy * cy;
        return {a.x + (cy * bb - by * cc) / twice, a.y + (bx * cc - cx * bb) / twice};
    }

    bool is_large(int32 t) const { return radius_[t] >= LARGE * step_; }

    // The first edge from which the front can advance into a triangle. The order matters: a new point is the first
    // corner of the triangles around it, and if the edge that ends there came before the one that begins there, sizes
    // would be those of the mirrored outline, where Gmsh's mesh can have a quarter fewer triangles.
    int front_edge(int32 t) const {
        for (const int k : {2, 0, 1})
            if (is_wall(t, k) || (!is_large(neighbour(t, k)) && radius_[neighbour(t, k)] > 0.0))
                return k;
        return NOTHING;
    }

    void add_if_in_front(int32 t) {
        if (is_large(t) && front_edge(t) != NOTHING)
            queue_.push({radius_[t], t});
    }

    bool insert(int32 t, int edge) {
        const int32 p = corner(t, (edge + 1) % 3), q = corner(t, (edge + 2) % 3);
        const Point a = at(p), b = at(q), center = circumcenter(t);
        const Point middle = {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)};
        const double away = distance(middle, center);
        const double height = HEIGHT * step(0.5 * (outline_.sizes[p] + outline_.sizes[q]));
        const double part = height < away ? height / away : 1.0;
        const Point place = {middle.x + part * (center.x - middle.x), middle.y + part * (center.y - middle.y)};
        if (!(std::isfinite(place.x) && std::isfinite(place.y))) // a nearly flat triangle
            return false;
        const int32 around = locate(t, place);
        if (around == NOTHING)
            return false;
        const Interpolation between = interpolated(around, place);
        const double size = std::min(between.size + between.growth * part * away, outline_.largest);
        if (!find_cavity(around, place, size))
            return false;
        growth_.push_back(between.growth);
        retriangulate(place, size);
        return true;
    }

    // Walks from a triangle to the one that contains a place; NOTHING if a wall is between.
    int32 locate(int32 t, Point place) const {
        for (int32 moves = 0; moves < triangles_; ++moves) {
            int k = 0;
            while (k < 3 && orient2d(at(corner(t, (k + 1) % 3)), at(corner(t, (k + 2) % 3)), place) >= 0)
                ++k;
            if (k == 3)
                return t;
            if (is_wall(t, k))
                return NOTHING;
            t = neighbour(t, k);
        }
        return NOTHING;
    }

    // Collects the triangles whose circumcircles contain a place, from the one around it on, and the edges around them.
    // Returns whether the place can be joined with these edges.
    bool find_cavity(int32 t, Point place, double size) {
        cavity_.clear();
        boundary_.clear();
        ++cavities_;
        take(t);
        for (size_t next = 0; next < cavity_.size(); ++next)
            for (int k = 0; k < 3; ++k) {
                const int32 taken = cavity_[next], across = neighbour(taken, k);
                if (!is_wall(taken, k) && in_cavity(across))
                    continue;
                if (!is_wall(taken, k) && in_circle(across, place)) {
                    take(across);
                    continue;
                }
                const BoundaryEdge edge = {corner(taken, (k + 1) % 3), corner(taken, (k + 2) % 3), across,
                                           (walls_[taken] >> k & 1) != 0};
                if (!can_join(edge, place, size))
                    return false;
                boundary_.push_back(edge);
            }
        return boundary_.size() == cavity_.size() + 2; // no vertex inside, and no hole
    }

    // Whether a place is on the left of an edge, and far enough from it and its ends for the mean of the three sizes.
    bool can_join(const BoundaryEdge &edge, Point place, double size) const {
        const Point a = at(edge.start), b = at(edge.end);
        const double length = step((outline_.sizes[edge.start] + outline_.sizes[edge.end] + size) / 3.0);
        if (distance(a, place) < TOO_NEAR * length || distance(b, place) < TOO_NEAR * length ||
            orient2d(a, b, place) <= 0)
            return false;
        if (edge.start >= outline_.vertices || edge.end >= outline_.vertices)
            return true;
        const double twice_area = (b.x - a.x) * (place.y - a.y) - (b.y - a.y) * (place.x - a.x);
        return twice_area >= TOO_NEAR_TO_OUTLINE * length * distance(a, b);
    }

    bool in_cavity(int32 t) const { return cavity_of_[t] == cavities_; }

    void take(int32 t) {
        cavity_of_[t] = cavities_;
        cavity_.push_back(t);
    }

    bool in_circle(int32 t, Point place) const {
        return incircle(at(corner(t, 0)), at(corner(t, 1)), at(corner(t, 2)), place) > 0;
    }

    // Interpolates at a place in a triangle.
    Interpolation interpolated(int32 t, Point place) const {
        double total = 0.0, size = 0.0, growth = 0.0, least = INFINITY;
        for (int k = 0; k < 3; ++k) {
            const Point a = at(corner(t, (k + 1) % 3)), b = at(corner(t, (k + 2) % 3));
            const double here = outline_.sizes[corner(t, k)];
            const double weight = std::max((b.x - a.x) * (place.y - a.y) - (b.y - a.y) * (place.x - a.x), 0.0);
            total += weight;
            size += weight * here;
            growth += weight * growth_[corner(t, k)];
            least = std::min(least, here);
        }
        if (total == 0.0) // rounding is larger than the triangle
            return {least, 0.0};
        return {size / total, growth / total};
    }

    void retriangulate(Point place, double size) {
        const int32 vertex = vertices_++;
        outline_.points[vertex] = place;
        outline_.sizes[vertex] = size;
        cavity_.push_back(triangles_++);
        cavity_.push_back(triangles_++);
        // In order around the point.
        const size_t count = boundary_.size();
        for (size_t k = 0; k < count; ++k)
            edge_from_[boundary_[k].start] = k;
        ordered_.clear();
        for (size_t k = 0; ordered_.size() < count; k = edge_from_[boundary_[k].end])
            ordered_.push_back(boundary_[k]);
        for (size_t k = 0; k < count; ++k) {
            const BoundaryEdge &edge = ordered_[k];
            const int32 t = cavity_[k], before = cavity_[(k + count - 1) % count], after = cavity_[(k + 1) % count];
            const int32 corners[3] = {vertex, edge.start, edge.end}, around[3] = {edge.across, after, before};
            std::copy(corners, corners + 3, outline_.corners + 3 * size_t(t));
            std::copy(around, around + 3, outline_.neighbours + 3 * size_t(t));
            walls_[t] = edge.wall;
            radius_[t] = radius(t);
            if (edge.across >= 0)
                link(edge, t);
        }
        for (const int32 t : cavity_) {
            add_if_in_front(t);
            if (!is_wall(t, 0) && !is_large(t))
                add_if_in_front(neighbour(t, 0));
        }
    }

    void link(const BoundaryEdge &edge, int32 t) {
        for (int k = 0; k < 3; ++k)
            if (corner(edge.across, (k + 1) % 3) == edge.end && corner(edge.across, (k + 2) % 3) == edge.start)
                neighbour(edge.across, k) = t;
    }

    const Outline outline_;
    int32 vertices_, triangles_, cavities_ = 0;
    double step_ = 1.0;                // length of the next step, in sizes
    std::vector<unsigned char> walls_; // of each triangle, a bit per edge
    std::vector<double> growth_;       // of the least sizes from each vertex on, per unit of distance
    std::vector<double> radius_;       // of the circumcircle, in sizes; 0 where the front does not advance
    std::vector<int32> cavity_of_;     // the number of the last cavity that had the triangle
    std::priority_queue<Candidate> queue_;
    std::vector<int32> cavity_;
    std::vector<BoundaryEdge> boundary_, ordered_; // of the cavity
    std::vector<size_t> edge_from_;                // by vertex, the edge of the boundary that starts there
};

} // namespace

extern "C" int32_t dmr_coarse_front_interface() { return 4; }

// Sets the sizes at the first `vertices` points, and inserts `most` more at most. Measures the mean growth of
// sizes and the number of triangles that are wanted. Returns how many points are inserted, or NO_MEMORY.
extern "C" int32_t dmr_coarse_front(double *points, double *sizes, int32_t vertices, int32_t *corners,
                                    int32_t *neighbours, const int32_t *labels, int32_t triangles,
                                    const unsigned char *filled, const int32_t *parts, const int32_t *walls,
                                    int32_t wall_count, int32_t unit_steps, int32_t most, double largest,
                                    double threshold, double *growth, double *wanted) try {
    const Outline outline = {reinterpret_cast<Point *>(points),
                             sizes,
                             corners,
                             neighbours,
                             labels,
                             filled,
                             parts,
                             walls,
                             vertices,
                             triangles,
                             wall_count,
                             unit_steps,
                             most,
                             largest,
                             threshold};
    CoarseFront front(outline);
    const int32 inserted = front.run();
    front.measure(*growth, *wanted);
    return inserted;
} catch (const std::bad_alloc &) {
    return NO_MEMORY;
}
