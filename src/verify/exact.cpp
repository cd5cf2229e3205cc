#include "verify/exact.hpp"

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/intersections.h>

namespace tenon::verify {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Point = Kernel::Point_3;

Point point(const Vec3& x) {
    return Point(x.x(), x.y(), x.z());
}

// What a cell is once corners that fall together or lie on a line are taken into account.
struct Cell {
    int dimension = 2;
    std::array<Point, 3> corner;
};

Cell classify(const Corners& corners) {
    Cell cell;
    for (int k = 0; k < 3; ++k) cell.corner[k] = point(corners[k]);
    auto& [a, b, c] = cell.corner;
    if (!CGAL::collinear(a, b, c)) return cell;
    if (a == b && b == c) {
        cell.dimension = 0;
        return cell;
    }
    // The two outermost of three collinear points.
    cell.dimension = 1;
    const std::array<std::array<int, 3>, 3> orders{{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}};
    for (const auto& order : orders) {
        const Point &p = cell.corner[order[0]], &q = cell.corner[order[1]], &middle = cell.corner[order[2]];
        if (p != q && CGAL::collinear_are_ordered_along_line(p, middle, q)) {
            const Point first = p, second = q;
            cell.corner[0] = first;
            cell.corner[1] = second;
            break;
        }
    }
    return cell;
}

Kernel::Triangle_3 triangle(const Cell& cell) {
    return Kernel::Triangle_3(cell.corner[0], cell.corner[1], cell.corner[2]);
}

Kernel::Segment_3 segment(const Cell& cell) {
    return Kernel::Segment_3(cell.corner[0], cell.corner[1]);
}

}  // namespace

bool cells_intersect(const Corners& a, const Corners& b) {
    const Cell first = classify(a), second = classify(b);
    if (first.dimension == 2 && second.dimension == 2)
        return CGAL::do_intersect(triangle(first), triangle(second));
    if (first.dimension == 2 && second.dimension == 1)
        return CGAL::do_intersect(triangle(first), segment(second));
    if (first.dimension == 1 && second.dimension == 2)
        return CGAL::do_intersect(segment(first), triangle(second));
    return false;
}

Crossing crossing(const Vec3& from, const Vec3& to, const Corners& corners) {
    const Point p = point(from), q = point(to);
    const Point a = point(corners[0]), b = point(corners[1]), c = point(corners[2]);
    if (CGAL::collinear(a, b, c)) return Crossing::none;
    const auto start = CGAL::orientation(a, b, c, p), end = CGAL::orientation(a, b, c, q);
    if (start == CGAL::COPLANAR || end == CGAL::COPLANAR) return Crossing::degenerate;
    if (start == end) return Crossing::none;
    const auto ab = CGAL::orientation(p, q, a, b), bc = CGAL::orientation(p, q, b, c),
               ca = CGAL::orientation(p, q, c, a);
    const bool positive = ab == CGAL::POSITIVE || bc == CGAL::POSITIVE || ca == CGAL::POSITIVE;
    const bool negative = ab == CGAL::NEGATIVE || bc == CGAL::NEGATIVE || ca == CGAL::NEGATIVE;
    if (positive && negative) return Crossing::none;
    const bool on_edge = ab == CGAL::COPLANAR || bc == CGAL::COPLANAR || ca == CGAL::COPLANAR;
    return on_edge ? Crossing::degenerate : Crossing::once;
}

}  // namespace tenon::verify
