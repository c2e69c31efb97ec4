// The tie rule: which of the triangulations of cocircular points is the Delaunay triangulation.
//
// Points are lifted to the paraboloid x^2 + y^2, where the Delaunay triangulation is the lower hull. Every lifted point
// is lowered by an infinitesimal amount, that of point 0 infinitely larger than that of point 1, and so on (symbolic
// perturbation: Edelsbrunner and Muecke, "Simulation of simplicity", 1990, here of the heights only). So no four points
// are cocircular, and the triangulation is unique, constrained by segments or not: of the two diagonals of four
// cocircular points, the one at the lowest number is an edge. Coordinates are not perturbed: a point on a segment or on
// an edge of the convex hull stays there.
#pragma once

#include "geometry/predicates.cuh"

// A point and the number that decides ties.
struct Numbered {
    Point at;
    int32 number;
};

// The sign of the in-circle determinant of lowered heights, if that of the given ones is 0: four distinct cocircular
// points. To lower d by e adds e times the determinant of abc; to lower a subtracts e times that of bcd, and so on. The
// lowest number decides, because no three of the points are collinear.
OUTLINE int broken_tie(Numbered a, Numbered b, Numbered c, Numbered d) {
    const int32 ab = a.number < b.number ? a.number : b.number, cd = c.number < d.number ? c.number : d.number;
    const int32 lowest = ab < cd ? ab : cd;
    if (lowest == d.number)
        return orient2d(a.at, b.at, c.at);
    if (lowest == a.number)
        return -orient2d(b.at, c.at, d.at);
    return lowest == b.number ? -orient2d(c.at, a.at, d.at) : -orient2d(a.at, b.at, d.at);
}

// `incircle` with ties broken: 1 if d lies inside the circumcircle of the counter-clockwise triangle abc, otherwise -1.
INLINE int incircle_untied(Numbered a, Numbered b, Numbered c, Numbered d) {
    const int sign = incircle(a.at, b.at, c.at, d.at);
    return sign == 0 ? broken_tie(a, b, c, d) : sign;
}
