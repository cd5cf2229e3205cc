#include "render/render.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "render/marks.hpp"
#include "render/shade.hpp"

namespace tenon::render {
namespace {

constexpr float coarse_below_samples = 3.0f;  // radius on screen under which a body is drawn as its box
constexpr int coarse_above_triangles = 24;
const Vec3f force_color = linear_from_srgb({0.86, 0.16, 0.12});

// All vertices of a frame in world space, and the draw list over them.
struct Placed {
    std::vector<std::vector<Vec3f>> vertices;  // one per body, then one per elastic solid
    std::vector<std::vector<Vec3f>> normals;   // elastic solids only
    std::vector<std::vector<Vec3f>> colors;
    std::vector<std::vector<Vec3f>> struts;
    DrawList list;
};

Projection projection_of(const Stage& stage, const RenderOptions& options) {
    Projection view;
    view.axes = stage.camera.axes().cast<float>();
    view.eye = stage.camera.eye.cast<float>();
    view.width = options.width * options.samples;
    view.height = options.height * options.samples;
    view.scale = static_cast<float>(0.5 * std::min(view.width, view.height) /
                                    std::tan(0.5 * stage.camera.fov * M_PI / 180));
    view.near = static_cast<float>(std::max(1e-4 * stage.radius, 1e-7));
    return view;
}

// How large a sample is at a body's distance; zero when it is behind the camera.
double sample_size(const Mat34& q, const DrawMesh& mesh, const Projection& view) {
    const Vec3f center = transform(q, mesh.center.cast<double>()).cast<float>();
    const float distance = view.to_view(center).z();
    return distance > 0 ? distance / view.scale : 0.0;
}

// What a body is drawn as: its mesh; its box when it is a few samples wide; and when it is thinner than a pixel in
// two directions (a rod, a grain) its box made that thick, so that it stays visible.
struct Detail {
    const DrawMesh* mesh = nullptr;
    Vec3f stretch = Vec3f::Ones();
};

Detail level_of_detail(const Drawing& model, const DrawBody& body, const Mat34& q, const Projection& view,
                       int samples) {
    const DrawMesh& fine = model.meshes[body.mesh];
    const double size = sample_size(q, fine, view);
    if (size <= 0) return {&fine};
    const Vec3 half = 0.5 * model.boxes[body.mesh].size();
    const double visible = 0.75 * samples * size;
    Vec3 sorted = half;
    std::sort(sorted.data(), sorted.data() + 3);
    if (sorted[1] < visible && sorted[0] > 0)
        return {&model.coarse[body.mesh],
                half.cwiseInverse().cwiseProduct(half.cwiseMax(visible)).cast<float>()};
    const bool small = fine.radius < coarse_below_samples * size;
    const bool detailed = static_cast<int>(fine.triangles.size()) > coarse_above_triangles;
    return {small && detailed ? &model.coarse[body.mesh] : &fine};
}

// Dark bodies get lighter quarters, light ones darker.
std::optional<TwoShades> two_shades_of(const DrawMesh& mesh, const Mat34& q, const Vec3f& color) {
    if (mesh.quarters == Quarters::none) return std::nullopt;
    TwoShades shades;
    shades.to_body = q.leftCols<3>().inverse().cast<float>();
    shades.origin = transform(q, mesh.center.cast<double>()).cast<float>();
    shades.signs = mesh.quarters == Quarters::about_x   ? Eigen::Array3i(0, 1, 1)
                   : mesh.quarters == Quarters::about_y ? Eigen::Array3i(1, 0, 1)
                   : mesh.quarters == Quarters::about_z ? Eigen::Array3i(1, 1, 0)
                                                        : Eigen::Array3i(1, 1, 1);
    const float lightness = color.dot(Vec3f(0.21f, 0.72f, 0.07f));
    shades.other = lightness < 0.35f ? Vec3f(color + 0.30f * (Vec3f::Ones() - color)) : Vec3f(0.55f * color);
    return shades;
}

void place_bodies(const Drawing& model, const run::Frame& frame, const Projection& view, int samples,
                  Placed& placed) {
    const std::size_t count = std::min(model.bodies.size(), frame.q.size());
    std::vector<const DrawMesh*> mesh(count, nullptr);
    parallel_for(count, 64, [&](std::size_t i) {
        if (model.bodies[i].mesh < 0) return;
        const Detail detail = level_of_detail(model, model.bodies[i], frame.q[i], view, samples);
        mesh[i] = detail.mesh;
        const Eigen::Matrix3f turn = frame.q[i].leftCols<3>().cast<float>() * detail.stretch.asDiagonal();
        const Vec3f center = frame.q[i].leftCols<3>().cast<float>() * mesh[i]->center;
        const Vec3f shift = frame.q[i].col(3).cast<float>() + center - turn * mesh[i]->center;
        placed.vertices[i].resize(mesh[i]->vertices.size());
        for (std::size_t v = 0; v < placed.vertices[i].size(); ++v)
            placed.vertices[i][v] = turn * mesh[i]->vertices[v] + shift;
    });
    for (std::size_t i = 0; i < count; ++i) {
        if (!mesh[i] || mesh[i]->triangles.empty()) continue;
        placed.list.batches.push_back({placed.vertices[i].data(), mesh[i]->triangles.data(),
                                       placed.vertices[i].size(), mesh[i]->triangles.size(), 0,
                                       mesh[i]->closed});
        placed.list.surfaces.push_back(
            {model.bodies[i].color, mesh[i]->corner_normals.data(), frame.q[i].leftCols<3>().cast<float>(),
             nullptr, !model.bodies[i].moves,
             model.bodies[i].moves ? two_shades_of(*mesh[i], frame.q[i], model.bodies[i].color)
                                   : std::nullopt});
    }
}

void place_struts(const Drawing& model, const run::Frame& frame, Placed& placed) {
    static const Vec3f color = linear_from_srgb({0.45, 0.47, 0.5});
    placed.struts.resize(model.struts.size());
    for (std::size_t i = 0; i < model.struts.size(); ++i) {
        const auto& [body, mesh] = model.struts[i];
        if (body >= static_cast<int>(frame.q.size())) continue;
        for (const Vec3f& vertex : mesh.vertices)
            placed.struts[i].push_back(transform(frame.q[body], vertex.cast<double>()).cast<float>());
        placed.list.batches.push_back({placed.struts[i].data(), mesh.triangles.data(),
                                       placed.struts[i].size(), mesh.triangles.size(), 0, false});
        placed.list.surfaces.push_back(
            {color, mesh.corner_normals.data(), frame.q[body].leftCols<3>().cast<float>(), nullptr, false});
    }
}

// Zero keeps the body's colour; whole numbers from one up pick palette colours, parts of one mix towards blue.
Vec3f state_color(const Vec3f& base, float state) {
    if (!(state > 0)) return base;
    if (state >= 1) return palette(static_cast<int>(state));
    return base + state * (palette(1) - base);
}

// Regions of another material: greys, so that the body's own colour stays its own.
Vec3f region_color(const Vec3f& own, int material) {
    const Vec3f grey =
        linear_from_srgb({0.50, 0.53, 0.57}) * (1.0f + 0.5f * static_cast<float>(material % 2));
    return 0.15f * own + 0.85f * grey;
}

void place_elastic(const Drawing& model, const run::Frame& frame, const RenderOptions& options,
                   Placed& placed) {
    for (std::size_t e = 0; e < std::min(model.elastic.size(), frame.x.size()); ++e) {
        const DrawElastic& solid = model.elastic[e];
        if (solid.triangles.empty()) continue;
        std::vector<Vec3f>& vertices = placed.vertices[model.bodies.size() + e];
        vertices = drawn_vertices(solid, frame.x[e]);
        placed.normals[e] = corner_normals(vertices, solid.triangles);
        const bool by_state =
            options.element_state && e < frame.element_state.size() && !frame.element_state[e].empty();
        if (by_state)
            for (int tet : solid.triangle_tet)
                placed.colors[e].push_back(tet < 0 ? solid.color
                                                   : state_color(solid.color, frame.element_state[e][tet]));
        else
            for (int material : solid.triangle_material)
                placed.colors[e].push_back(material < 0 ? solid.color : region_color(solid.color, material));
        placed.list.batches.push_back(
            {vertices.data(), solid.triangles.data(), vertices.size(), solid.triangles.size(), 0, false});
        placed.list.surfaces.push_back({solid.color, placed.normals[e].data(), Eigen::Matrix3f::Identity(),
                                        placed.colors[e].empty() ? nullptr : placed.colors[e].data(), false});
    }
}

void number_triangles(DrawList& list) {
    std::size_t next = 0;
    for (Batch& batch : list.batches) {
        batch.first_id = next;
        next += batch.triangle_count;
    }
}

// Height of what the picture shows at the target's distance: arrows are sized by it, whatever the scene's size.
double view_height(const Camera& camera) {
    return 2 * (camera.target - camera.eye).norm() * std::tan(0.5 * camera.fov * M_PI / 180);
}

// Contact forces as arrows from the contact point, on the second body. Very large ones are cut at a third of the view.
DrawMesh force_arrows(const run::Frame& frame, const Stage& stage) {
    DrawMesh arrows;
    const double height = view_height(stage.camera);
    for (const Contact& contact : frame.contacts) {
        Vec3 arrow = stage.force_scale * contact.force;
        const double length = arrow.norm();
        if (!(length > 0.004 * height)) continue;
        if (length > height / 3) arrow *= height / 3 / length;
        add_arrow(contact.point.cast<float>(), (contact.point + arrow).cast<float>(),
                  static_cast<float>(0.0028 * height), arrows);
    }
    arrows.corner_normals = corner_normals(arrows.vertices, arrows.triangles);
    return arrows;
}

// Nine in ten contact forces are drawn shorter than an eighth of the view.
double suitable_force_scale(const std::vector<run::Frame>& frames, double height) {
    std::vector<double> sizes;
    for (const run::Frame& frame : frames)
        for (const Contact& contact : frame.contacts)
            if (contact.force.norm() > 0) sizes.push_back(contact.force.norm());
    if (sizes.empty()) return 0.0;
    const std::size_t place = sizes.size() - 1 - sizes.size() / 10;
    std::nth_element(sizes.begin(), sizes.begin() + place, sizes.end());
    return height / 8 / sizes[place];
}

}  // namespace

Stage make_stage(const Drawing& model, const std::vector<run::Frame>& frames, const RenderOptions& options,
                 const CameraWish& wish) {
    Stage stage;
    const std::vector<Vec3> points = points_of_interest(model, frames);
    CameraWish complete = wish;
    for (const auto& [name, value] : model.camera) complete.hints.emplace(name, value);  // the user's own win
    stage.camera =
        fit_camera(points, model.up, static_cast<double>(options.width) / options.height, complete);
    Box3 box;
    for (const Vec3& point : points) box.add(point);
    if (box.empty()) box.add(Vec3::Zero());
    stage.focus = box.center();
    stage.radius = std::max(0.5 * box.diagonal(), 1e-6);
    // a little lower than the lowest body: a static plane at the bottom must not flicker through it
    stage.ground_height = std::min(model.up.dot(box.lo), model.up.dot(box.hi)) - 2e-3 * stage.radius;
    stage.force_scale = options.force_scale > 0 ? options.force_scale
                                                : suitable_force_scale(frames, view_height(stage.camera));
    return stage;
}

Image render_frame(const Drawing& model, const run::Frame& frame, const Stage& stage,
                   const RenderOptions& options) {
    const Projection view = projection_of(stage, options);
    Placed placed;
    placed.vertices.resize(model.bodies.size() + model.elastic.size());
    placed.normals.resize(model.elastic.size());
    placed.colors.resize(model.elastic.size());
    place_bodies(model, frame, view, options.samples, placed);
    place_struts(model, frame, placed);
    place_elastic(model, frame, options, placed);
    number_triangles(placed.list);

    DrawMesh arrows;
    DrawList overlay;
    if (options.forces) {
        arrows = force_arrows(frame, stage);
        overlay.batches.push_back({arrows.vertices.data(), arrows.triangles.data(), arrows.vertices.size(),
                                   arrows.triangles.size(), 0, false});
        overlay.surfaces.push_back(
            {force_color, arrows.corner_normals.data(), Eigen::Matrix3f::Identity(), nullptr, false});
    }
    Lighting lighting;
    lighting.up = model.up.cast<float>();
    lighting.focus = stage.focus.cast<float>();
    lighting.radius = static_cast<float>(stage.radius);
    lighting.ground = options.ground;
    lighting.ground_height = static_cast<float>(stage.ground_height);
    return shade(placed.list, overlay, view, lighting, options.samples);
}

}  // namespace tenon::render
