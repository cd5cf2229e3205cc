#include "geometry/closest.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/distance.hpp"

namespace tenon::geometry {
namespace {

// Squared distance from a point, relative to the tree's origin, to a node's box.
double squared_distance_to(const Bvh::Node& node, const Vec3& p) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double outside = std::max({node.lo[k] - p[k], p[k] - node.hi[k], 0.0});
        sum += outside * outside;
    }
    return sum;
}

// The closest point on the second side of a pair.
Vec3 foot(const Closest& closest, const Vec3& p) {
    return p - closest.difference;
}

void search_block(const SurfaceTree& surface, int b, const Vec3& p, SurfacePoint& best) {
    const SurfaceTree::Block block = surface.block(b);
    const auto x = surface.vertices();
    for (const auto& triangle : block.triangles) {
        const Triangle& t = surface.triangles()[triangle.id];
        const Closest c = closest_point_triangle(p, x[t[0]], x[t[1]], x[t[2]]);
        if (c.squared < best.squared) best = {c.squared, foot(c, p), triangle.id, -1, -1};
    }
    if (surface.has_loose_edges()) {
        for (const auto& edge : block.edges) {
            if (!surface.loose_edge(edge.id)) continue;
            const Edge& e = surface.edges()[edge.id];
            const Closest c = closest_point_edge(p, x[e[0]], x[e[1]]);
            if (c.squared < best.squared) best = {c.squared, foot(c, p), -1, edge.id, -1};
        }
    }
    if (surface.has_loose_points()) {
        for (int i = 0; i < block.owned; ++i) {
            const int v = block.vertices[i];
            const double squared = (p - x[v]).squaredNorm();
            if (surface.loose_point(v) && squared < best.squared) best = {squared, x[v], -1, -1, v};
        }
    }
}

}  // namespace

SurfacePoint closest_point(const SurfaceTree& surface, const Vec3& p, double reach) {
    SurfacePoint best;
    const Bvh& tree = surface.tree();
    if (tree.empty()) return best;
    best.squared = std::nextafter(reach * reach, std::numeric_limits<double>::infinity());
    const Vec3 local = p - tree.origin();
    struct Entry {
        int node;
        double squared;
    };
    std::array<Entry, Bvh::max_depth + 2> stack;
    int top = 0;
    stack[top++] = {0, squared_distance_to(tree.nodes()[0], local)};
    while (top > 0) {
        const Entry entry = stack[--top];
        if (entry.squared >= best.squared) continue;
        const Bvh::Node& node = tree.nodes()[entry.node];
        if (node.leaf()) {
            search_block(surface, node.item, p, best);
            continue;
        }
        const int left = entry.node + 1, right = tree.right_child(entry.node);
        Entry near{left, squared_distance_to(tree.nodes()[left], local)};
        Entry far{right, squared_distance_to(tree.nodes()[right], local)};
        if (far.squared < near.squared) std::swap(near, far);
        stack[top++] = far;
        stack[top++] = near;
    }
    if (!best.found()) best.squared = std::numeric_limits<double>::infinity();
    return best;
}

RayHit first_hit(const SurfaceTree& surface, const Vec3& origin, const Vec3& direction, double t_max) {
    RayHit hit;
    hit.t = t_max;
    const auto x = surface.vertices();
    // Blocks come in tree order, not along the ray; what lies beyond the best hit so far is passed over.
    surface.tree().visit_ray(origin, direction, hit.t, [&](int b) {
        for (const auto& triangle : surface.block(b).triangles) {
            const Triangle& t = surface.triangles()[triangle.id];
            const Vec3 u = x[t[1]] - x[t[0]], v = x[t[2]] - x[t[0]], w = origin - x[t[0]];
            const Vec3 dv = direction.cross(v);
            const double det = u.dot(dv);
            if (det == 0.0) continue;
            const double a = w.dot(dv) / det;
            const Vec3 wu = w.cross(u);
            const double c = direction.dot(wu) / det, at = v.dot(wu) / det;
            if (a >= 0.0 && c >= 0.0 && a + c <= 1.0 && at >= 0.0 && at <= hit.t &&
                (at < hit.t || !hit.found()))
                hit = {at, triangle.id};
        }
    });
    if (!hit.found()) hit.t = std::numeric_limits<double>::infinity();
    return hit;
}

namespace {

// Solid angle of a triangle seen from the origin, by the formula of Van Oosterom and Strackee.
double solid_angle(const Vec3& a, const Vec3& b, const Vec3& c) {
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    const double numerator = a.dot(b.cross(c));
    const double denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    return 2.0 * std::atan2(numerator, denominator);
}

}  // namespace

WindingNumber::WindingNumber(const SurfaceTree& surface) : surface_(&surface) {
    const Bvh& tree = surface.tree();
    const auto x = surface.vertices();
    dipoles_.resize(tree.nodes().size());
    for (int i = static_cast<int>(dipoles_.size()) - 1; i >= 0; --i) {
        Dipole& dipole = dipoles_[i];
        const Bvh::Node& node = tree.nodes()[i];
        Vec3 moment = Vec3::Zero();
        if (node.leaf()) {
            for (const auto& triangle : surface.block(node.item).triangles) {
                const Triangle& t = surface.triangles()[triangle.id];
                const Vec3 normal = 0.5 * (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]);
                const double area = normal.norm();
                dipole.normal += normal;
                dipole.area += area;
                moment += area / 3.0 * (x[t[0]] + x[t[1]] + x[t[2]]);
            }
        } else {
            for (int child : {i + 1, tree.right_child(i)}) {
                dipole.normal += dipoles_[child].normal;
                dipole.area += dipoles_[child].area;
                moment += dipoles_[child].area * dipoles_[child].center;
            }
        }
        const Box3 box = tree.node_box(i);
        dipole.center = dipole.area > 0.0 ? Vec3(moment / dipole.area) : box.center();
        dipole.radius = (dipole.center - box.lo).cwiseMax(box.hi - dipole.center).norm();
    }
}

double WindingNumber::block_angle(int b, const Vec3& p) const {
    double sum = 0.0;
    const auto x = surface_->vertices();
    for (const auto& triangle : surface_->block(b).triangles) {
        const Triangle& t = surface_->triangles()[triangle.id];
        sum += solid_angle(x[t[0]] - p, x[t[1]] - p, x[t[2]] - p);
    }
    return sum;
}

double WindingNumber::at(const Vec3& p, double accuracy) const {
    double angle = 0.0;
    const auto nodes = surface_->tree().nodes();
    for (int i = 0; i < static_cast<int>(nodes.size());) {
        const Dipole& dipole = dipoles_[i];
        const Vec3 r = dipole.center - p;
        const double squared = r.squaredNorm(), reach = accuracy * dipole.radius;
        if (squared > reach * reach) {
            angle += dipole.normal.dot(r) / (squared * std::sqrt(squared));
            i = nodes[i].escape;
            continue;
        }
        if (nodes[i].leaf()) angle += block_angle(nodes[i].item, p);
        ++i;
    }
    return angle / (4.0 * std::numbers::pi);
}

double WindingNumber::exact(const Vec3& p) const {
    double angle = 0.0;
    for (int b = 0; b < surface_->blocks(); ++b) angle += block_angle(b, p);
    return angle / (4.0 * std::numbers::pi);
}

double WindingNumber::signed_distance(const Vec3& p) const {
    const double distance = std::sqrt(closest_point(*surface_, p).squared);
    return inside(p) ? -distance : distance;
}

}  // namespace tenon::geometry
