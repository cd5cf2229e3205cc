#include "render/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "render/marks.hpp"
#include "render/scene_hints.hpp"
#include "render/struts.hpp"

namespace tenon::render {
namespace {

constexpr int prism_sides = 8;
constexpr std::size_t many_bodies = 60;

Box3 box_of(const Mesh& mesh) {
    Box3 box;
    for (const Vec3& vertex : mesh.vertices) box.add(vertex);
    return box;
}

void add_wires_and_points(const Mesh& mesh, DrawMesh& out) {
    if (mesh.edges.empty() && mesh.points.empty()) return;
    const float radius = static_cast<float>(std::max(0.006 * box_of(mesh).diagonal(), 1e-4));
    for (const Edge& edge : mesh.edges)
        add_capsule(mesh.vertices[edge[0]].cast<float>(), mesh.vertices[edge[1]].cast<float>(), radius,
                    prism_sides, out);
    for (int point : mesh.points) add_ball(mesh.vertices[point].cast<float>(), 2 * radius, out);
}

void measure(DrawMesh& mesh) {
    if (mesh.vertices.empty()) return;
    Vec3f lo = mesh.vertices[0], hi = lo;
    for (const Vec3f& v : mesh.vertices) {
        lo = lo.cwiseMin(v);
        hi = hi.cwiseMax(v);
    }
    mesh.center = 0.5f * (lo + hi);
    for (const Vec3f& v : mesh.vertices) mesh.radius = std::max(mesh.radius, (v - mesh.center).norm());
}

// All vertices at one distance from the centre; or from an axis through it, but for the middles of the two ends.
Quarters quarters_of(const DrawMesh& mesh) {
    constexpr std::size_t fewest_vertices = 20;  // fewer make a polyhedron that shows how it turns
    constexpr float as_round = 0.02f;
    if (!mesh.closed || mesh.vertices.size() < fewest_vertices) return Quarters::none;
    const auto round = [&](const Vec3f& across) {
        const auto distance = [&](const Vec3f& v) { return across.cwiseProduct(v - mesh.center).norm(); };
        float largest = 0;
        for (const Vec3f& v : mesh.vertices) largest = std::max(largest, distance(v));
        const bool ball = across.minCoeff() > 0;
        return std::all_of(mesh.vertices.begin(), mesh.vertices.end(), [&](const Vec3f& v) {
            const float r = distance(v);
            return r >= (1 - as_round) * largest || (!ball && r <= as_round * largest);
        });
    };
    if (round(Vec3f::Ones())) return Quarters::of_ball;
    if (round(Vec3f(0, 1, 1))) return Quarters::about_x;
    if (round(Vec3f(1, 0, 1))) return Quarters::about_y;
    if (round(Vec3f(1, 1, 0))) return Quarters::about_z;
    return Quarters::none;
}

DrawMesh box_mesh(const Box3& box) {
    Mesh mesh;
    for (int k = 0; k < 8; ++k)
        mesh.vertices.emplace_back(k & 1 ? box.hi.x() : box.lo.x(), k & 2 ? box.hi.y() : box.lo.y(),
                                   k & 4 ? box.hi.z() : box.lo.z());
    mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                      {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
    return draw_mesh(mesh, true);
}

void add_shape(Drawing& model, const Mesh& mesh, bool closed) {
    model.meshes.push_back(draw_mesh(mesh, closed));
    Box3 box = box_of(mesh);
    if (box.empty()) box.add(Vec3::Zero());
    model.boxes.push_back(box);
    model.coarse.push_back(box_mesh(box));
}

std::vector<int> tets_of_surface(const std::vector<Triangle>& surface, const std::vector<Tet>& tets) {
    std::map<std::array<int, 3>, int> owner;
    for (std::size_t t = 0; t < tets.size(); ++t)
        for (int skip = 0; skip < 4; ++skip) {
            std::array<int, 3> face;
            for (int k = 0, n = 0; k < 4; ++k)
                if (k != skip) face[n++] = tets[t][k];
            std::sort(face.begin(), face.end());
            owner.emplace(face, static_cast<int>(t));
        }
    std::vector<int> result;
    for (Triangle triangle : surface) {
        std::sort(triangle.begin(), triangle.end());
        const auto found = owner.find(triangle);
        result.push_back(found == owner.end() ? -1 : found->second);
    }
    return result;
}

DrawElastic draw_elastic(const run::ElasticInfo& solid) {
    DrawElastic drawn;
    drawn.tets = solid.tets;
    if (!solid.embedded.triangles.empty()) {
        drawn.triangles = solid.embedded.triangles;
        drawn.embedded_tet = solid.embedded_tet;
        drawn.embedded_weight = solid.embedded_weight;
        for (const Triangle& triangle : drawn.triangles)
            drawn.triangle_tet.push_back(solid.embedded_tet[triangle[0]]);
    } else {
        drawn.triangles = solid.surface;
        drawn.triangle_tet = tets_of_surface(solid.surface, solid.tets);
    }
    return drawn;
}

// Which region each drawn triangle lies in, by the middle of its tetrahedron; the last region that holds it counts.
void add_regions(const run::ElasticInfo& solid, const MaterialRegions& regions, DrawElastic& drawn) {
    std::map<std::string, int> number;
    for (const MaterialRegions::Box& box : regions.boxes)
        number.emplace(box.material, static_cast<int>(number.size()));
    const Quat back = regions.pose.rotation.conjugate();
    for (const int t : drawn.triangle_tet) {
        int material = -1, corners = 0;
        Vec3 middle = Vec3::Zero();
        for (int k = 0; t >= 0 && k < 4; ++k)
            if (const int v = solid.tets[t][k]; v >= 0) middle += solid.rest[v], ++corners;
        middle = back * (middle / std::max(corners, 1) - regions.pose.position);
        for (const MaterialRegions::Box& box : regions.boxes)
            if (t >= 0 && (middle.array() >= box.lo.array()).all() &&
                (middle.array() <= box.hi.array()).all())
                material = number[box.material];
        drawn.triangle_material.push_back(material);
    }
}

void color_all(Drawing& model, const std::vector<ColorKey>& keys, std::size_t body_count) {
    const std::vector<Vec3f> colors = choose_colors(keys);
    for (std::size_t i = 0; i < body_count; ++i) model.bodies[i].color = colors[i];
    for (std::size_t i = body_count; i < keys.size(); ++i) model.elastic[i - body_count].color = colors[i];
}

Vec3 up_axis(const std::string& name) {
    return name == "z" ? Vec3::UnitZ() : Vec3::UnitY();
}

}  // namespace

std::vector<Vec3f> corner_normals(const std::vector<Vec3f>& vertices,
                                  const std::vector<Triangle>& triangles) {
    // area-weighted face normals; those of zero area stay zero
    std::vector<Vec3f> face(triangles.size());
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        const auto& [a, b, c] = triangles[t];
        face[t] = (vertices[b] - vertices[a]).cross(vertices[c] - vertices[a]);
    }
    std::vector<int> start(vertices.size() + 1, 0), entries(3 * triangles.size());
    for (const Triangle& triangle : triangles)
        for (int v : triangle) ++start[v + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<int> place(start.begin(), start.end() - 1);
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (int v : triangles[t]) entries[place[v]++] = static_cast<int>(t);

    const float flat = static_cast<float>(std::cos(crease_degrees * M_PI / 180));
    std::vector<Vec3f> normals(3 * triangles.size());
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        const float length = face[t].norm();
        for (int k = 0; k < 3; ++k) {
            const int v = triangles[t][k];
            Vec3f sum = Vec3f::Zero();
            for (int e = start[v]; e < start[v + 1]; ++e) {
                const Vec3f& other = face[entries[e]];
                if (other.dot(face[t]) >= flat * length * other.norm()) sum += other;
            }
            const float norm = sum.norm();
            normals[3 * t + k] = norm > 0 ? Vec3f(sum / norm) : Vec3f(Vec3f::UnitY());
        }
    }
    return normals;
}

DrawMesh draw_mesh(const Mesh& mesh, bool closed) {
    DrawMesh drawn;
    for (const Vec3& vertex : mesh.vertices) drawn.vertices.push_back(vertex.cast<float>());
    drawn.triangles = mesh.triangles;
    drawn.closed = closed && mesh.edges.empty() && mesh.points.empty();
    add_wires_and_points(mesh, drawn);
    drawn.corner_normals = corner_normals(drawn.vertices, drawn.triangles);
    measure(drawn);
    drawn.quarters = quarters_of(drawn);
    return drawn;
}

std::vector<Vec3f> drawn_vertices(const DrawElastic& elastic, const std::vector<Vec3>& x) {
    std::vector<Vec3f> vertices;
    if (elastic.embedded_tet.empty()) {
        for (const Vec3& point : x) vertices.push_back(point.cast<float>());
        return vertices;
    }
    for (std::size_t i = 0; i < elastic.embedded_tet.size(); ++i) {
        const Tet& tet = elastic.tets[elastic.embedded_tet[i]];
        Vec3 point = Vec3::Zero();
        for (int k = 0; k < 4; ++k)
            if (tet[k] >= 0) point += elastic.embedded_weight[i][k] * x[tet[k]];
        vertices.push_back(point.cast<float>());
    }
    return vertices;
}

Drawing model_of(const run::RunReader& reader) {
    return model_of(reader.model(), scene_hints(reader.scene_json()));
}

Drawing model_of(const run::RunModel& run, const SceneHints& hints) {
    Drawing model;
    model.up = up_axis(hints.up);
    model.camera = hints.camera;
    for (const run::ShapeData& shape : run.shapes) add_shape(model, shape.mesh, shape.closed);
    std::vector<ColorKey> keys;
    for (const run::BodyInfo& body : run.bodies) {
        const bool moves = body.type == BodyType::dynamic_body;
        model.bodies.push_back({body.shape, moves, Vec3f::Ones()});
        keys.push_back({body.shape, moves, body.type == BodyType::kinematic_body, body.color});
    }
    for (std::size_t e = 0; e < run.elastic.size(); ++e) {
        model.elastic.push_back(draw_elastic(run.elastic[e]));
        if (const auto regions = hints.regions.find(run.elastic[e].name); regions != hints.regions.end())
            add_regions(run.elastic[e], regions->second, model.elastic.back());
        keys.push_back({static_cast<int>(run.shapes.size() + e), true, false, run.elastic[e].color});
    }
    color_all(model, keys, model.bodies.size());
    add_struts(model, world_anchors(run));
    return model;
}

namespace {

void add_corners(const Box3& box, std::vector<Vec3>& points) {
    for (int k = 0; k < 8; ++k)
        points.emplace_back(k & 1 ? box.hi.x() : box.lo.x(), k & 2 ? box.hi.y() : box.lo.y(),
                            k & 4 ? box.hi.z() : box.lo.z());
}

Box3 placed(const Box3& box, const Mat34& q) {
    std::vector<Vec3> corners;
    add_corners(box, corners);
    Box3 world;
    for (const Vec3& corner : corners) world.add(transform(q, corner));
    return world;
}

// The box of everything; but where few of many bodies would more than double it along an axis (flying debris), one
// in fifty is left out at each end.
Box3 usual_extent(const std::vector<Box3>& boxes) {
    Box3 whole, extent;
    for (const Box3& box : boxes) whole.add(box);
    if (boxes.size() < many_bodies) return whole;
    const std::size_t cut = boxes.size() / 50;
    std::vector<double> values(boxes.size());
    for (int axis = 0; axis < 3; ++axis) {
        for (std::size_t i = 0; i < boxes.size(); ++i) values[i] = boxes[i].lo[axis];
        std::nth_element(values.begin(), values.begin() + cut, values.end());
        extent.lo[axis] = values[cut];
        for (std::size_t i = 0; i < boxes.size(); ++i) values[i] = boxes[i].hi[axis];
        std::nth_element(values.begin(), values.end() - 1 - cut, values.end());
        extent.hi[axis] = values[values.size() - 1 - cut];
        if (whole.size()[axis] < 2 * extent.size()[axis] || whole.size()[axis] < 0.5 * whole.diagonal()) {
            extent.lo[axis] = whole.lo[axis];
            extent.hi[axis] = whole.hi[axis];
        }
    }
    return extent;
}

}  // namespace

std::vector<Vec3> points_of_interest(const Drawing& model, const std::vector<run::Frame>& frames) {
    std::vector<Box3> moving, still;
    for (const run::Frame& frame : frames) {
        for (std::size_t i = 0; i < model.bodies.size(); ++i) {
            const DrawBody& body = model.bodies[i];
            if (body.mesh >= 0)
                (body.moves ? moving : still).push_back(placed(model.boxes[body.mesh], frame.q[i]));
        }
        for (const Strut& strut : model.struts) {
            Box3 box;
            for (const Vec3f& vertex : strut.mesh.vertices) box.add(vertex.cast<double>());
            moving.push_back(placed(box, frame.q[strut.body]));
        }
        for (const std::vector<Vec3>& solid : frame.x) {
            Box3 box;
            for (const Vec3& point : solid) box.add(point);
            if (!box.empty()) moving.push_back(box);
        }
    }
    std::vector<Vec3> points;
    if (moving.empty()) {
        for (const Box3& box : still) add_corners(box, points);
        return points;
    }
    const Box3 extent = usual_extent(moving);
    for (Box3& box : moving) {
        box.lo = box.lo.cwiseMax(extent.lo);
        box.hi = box.hi.cwiseMin(extent.hi);
        if (!box.empty()) add_corners(box, points);
    }
    // statics: only what is near the motion, or where it may go when only its start is known; of a floor or a wall that
    // goes on beyond that, no more than a rim around what moves
    Box3 near = extent, rim = extent;
    near.inflate((frames.size() > 1 ? 0.3 : 0.7) * extent.diagonal());
    rim.inflate((frames.size() > 1 ? 0.06 : 0.4) * extent.diagonal());
    for (Box3& box : still) {
        const auto spans = (box.lo.array() <= near.lo.array() && box.hi.array() >= near.hi.array()).count();
        if (spans >= 2) {
            box.lo = box.lo.cwiseMax(rim.lo);
            box.hi = box.hi.cwiseMin(rim.hi);
        }
        box.lo = box.lo.cwiseMax(near.lo);
        box.hi = box.hi.cwiseMin(near.hi);
        if (!box.empty()) add_corners(box, points);
    }
    return points;
}

}  // namespace tenon::render
