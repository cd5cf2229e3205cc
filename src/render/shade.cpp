#include "render/shade.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "math/parallel.hpp"
#include "render/light.hpp"

namespace tenon::render {
namespace {

constexpr std::uint32_t ground_id = 0xfffffffeu;
constexpr float occlusion_reach = 0.10f;  // of the scene's radius

const Vec3f horizon_color = linear_from_srgb({0.955, 0.962, 0.972});
const Vec3f zenith_color = linear_from_srgb({0.80, 0.855, 0.925});
const Vec3f sky_light(0.66f, 0.72f, 0.82f);
const Vec3f bounce_light(0.46f, 0.43f, 0.40f);
const Vec3f key_light(1.18f, 1.12f, 1.02f);

struct Sample {
    Vec3f albedo = Vec3f::Zero();
    Vec3f normal = Vec3f::Zero();
    float light = 1.0f, open = 1.0f;
};

float smooth_step(float from, float to, float x) {
    const float t = std::clamp((x - from) / (to - from), 0.0f, 1.0f);
    return t * t * (3 - 2 * t);
}

// Everything the passes over the samples share.
struct Painter {
    const DrawList& list;
    const Projection& view;
    const Lighting& lighting;
    Visibility seen;
    Vec3f east, north;  // the level directions along which the grid runs
    float cell = 1.0f;

    Painter(const DrawList& draw_list, const Projection& projection, const Lighting& the_lighting)
        : list(draw_list),
          view(projection),
          lighting(the_lighting),
          seen(rasterize(projection, draw_list.batches)) {
        east = lighting.up.z() > 0.5f ? Vec3f::UnitX() : lighting.up.unitOrthogonal();
        north = lighting.up.cross(east);
        // a round number that gives about sixteen cells across the scene
        const float wanted = lighting.radius / 8;
        const float decade = std::pow(10.0f, std::floor(std::log10(wanted)));
        cell = wanted < 2 * decade ? decade : wanted < 5 * decade ? 2 * decade : 5 * decade;
    }

    Vec3f position(int x, int y) const {
        return view.eye + view.ray(x + 0.5f, y + 0.5f) / seen.depth[seen.index(x, y)];
    }

    void add_ground();
    float grid_shade(int x, int y, const Vec3f& point) const;
    Sample surface(int x, int y) const;
    Vec3f background(int y) const;
    Vec3f lit(int x, int y, const Sample& sample, const Vec3f& to_light) const;
};

void Painter::add_ground() {
    const float above = lighting.up.dot(view.eye) - lighting.ground_height;
    if (!lighting.ground || above <= 0) return;
    parallel_for(seen.height, 8, [&](std::size_t y) {
        for (int x = 0; x < seen.width; ++x) {
            const float down = -lighting.up.dot(view.ray(x + 0.5f, static_cast<float>(y) + 0.5f));
            const std::size_t index = seen.index(x, static_cast<int>(y));
            if (down <= 0 || down / above <= seen.depth[index]) continue;
            seen.depth[index] = down / above;
            seen.id[index] = ground_id;
        }
    });
}

// Dark lines on a level plane through `point`: one where a line covers the sample, filtered by the sample's footprint.
float Painter::grid_shade(int x, int y, const Vec3f& point) const {
    const float height = lighting.up.dot(point - view.eye);
    float coverage[2] = {0, 0};  // of fine and of coarse lines
    Vec3f beside[2];
    for (int k = 0; k < 2; ++k) {
        const Vec3f ray = view.ray(x + 0.5f + (k == 0), y + 0.5f + (k == 1));
        const float down = lighting.up.dot(ray);
        if (down * height <= 0) return 1.0f;
        beside[k] = view.eye + height / down * ray - point;
    }
    for (const Vec3f* axis : {&east, &north}) {
        const float footprint = std::abs(axis->dot(beside[0])) + std::abs(axis->dot(beside[1])) + 1e-9f;
        for (int level = 0; level < 2; ++level) {
            const float spacing = level == 0 ? cell : 5 * cell;
            const float offset = axis->dot(point) / spacing;
            const float distance = std::abs(offset - std::round(offset)) * spacing;
            const float width =
                std::max(0.012f * cell * (1.0f + 0.6f * static_cast<float>(level)), 0.6f * footprint);
            const float covered =
                std::clamp((0.5f * width + 0.5f * footprint - distance) / footprint, 0.0f, 1.0f);
            const float fade = 1.0f - smooth_step(0.15f, 0.6f, footprint / spacing);
            coverage[level] = std::max(coverage[level], covered * fade);
        }
    }
    return 1.0f - 0.15f * coverage[0] - 0.15f * coverage[1];
}

Sample Painter::surface(int x, int y) const {
    Sample sample;
    const std::uint32_t id = seen.id[seen.index(x, y)];
    if (id == ground_id) {
        sample.normal = lighting.up;
        sample.albedo = horizon_color * grid_shade(x, y, position(x, y));
        return sample;
    }
    const std::size_t batch_index = list.batch_of(id);
    const Batch& batch = list.batches[batch_index];
    const Surface& paint = list.surfaces[batch_index];
    const std::size_t t = id - batch.first_id;
    const auto& triangle = batch.triangles[t];
    const Vec3f &a = batch.vertices[triangle[0]], &b = batch.vertices[triangle[1]],
                &c = batch.vertices[triangle[2]];
    const Vec3f point = position(x, y), face = (b - a).cross(c - a);
    const float area = std::max(face.squaredNorm(), 1e-30f);
    const float wb = std::clamp((point - a).cross(c - a).dot(face) / area, 0.0f, 1.0f);
    const float wc = std::clamp((b - a).cross(point - a).dot(face) / area, 0.0f, 1.0f);
    const Vec3f* corners = paint.corner_normals + 3 * t;
    Vec3f normal =
        paint.turn * (std::max(0.0f, 1 - wb - wc) * corners[0] + wb * corners[1] + wc * corners[2]);
    normal.normalize();
    if (face.dot(view.eye - point) < 0) normal = -normal;
    sample.normal = normal;
    sample.albedo = paint.triangle_colors ? paint.triangle_colors[t] : paint.color;
    if (paint.two_shades && paint.two_shades->is_other(point)) sample.albedo = paint.two_shades->other;
    if (paint.gridded && normal.dot(lighting.up) > 0.9995f) sample.albedo *= grid_shade(x, y, point);
    return sample;
}

Vec3f Painter::background(int y) const {
    const Vec3f ray = view.ray(0.5f * view.width, y + 0.5f).normalized();
    const float rise = std::clamp(lighting.up.dot(ray) * 1.6f + 0.05f, 0.0f, 1.0f);
    return horizon_color + rise * (zenith_color - horizon_color);
}

Vec3f Painter::lit(int x, int y, const Sample& sample, const Vec3f& to_light) const {
    const Vec3f point = position(x, y);
    const float fog = smooth_step(2.2f, 7.0f, (point - lighting.focus).norm() / lighting.radius);
    if (seen.id[seen.index(x, y)] == ground_id) {
        // fully lit ground is exactly the horizon's colour: a studio floor without an end
        const float dim = (0.52f + 0.48f * sample.light) * (0.45f + 0.55f * sample.open);
        const Vec3f shadow_tint(0.97f * dim, 0.985f * dim, dim);
        const Vec3f color = sample.albedo.cwiseProduct(dim < 1 ? shadow_tint : Vec3f(Vec3f::Ones()));
        return color + fog * (horizon_color - color);
    }
    const Vec3f to_eye = (view.eye - point).normalized();
    const float facing = std::max(0.0f, sample.normal.dot(to_light)) * sample.light;
    const float height = 0.5f + 0.5f * sample.normal.dot(lighting.up);
    const float front = std::max(0.0f, sample.normal.dot(to_eye));
    Vec3f light =
        (0.62f * (bounce_light + height * (sky_light - bounce_light)) + Vec3f::Constant(0.10f * front)) *
        (0.25f + 0.75f * sample.open);
    light += 0.78f * facing * key_light;
    const Vec3f half = (to_light + to_eye).normalized();
    const float shine = 0.10f * std::pow(std::max(0.0f, sample.normal.dot(half)), 36.0f) * sample.light;
    const Vec3f color = sample.albedo.cwiseProduct(light) + Vec3f::Constant(shine);
    return color + fog * (horizon_color - color);
}

// Whether two samples lie on one smooth piece of surface, so that they may share their light.
bool alike(const Visibility& seen, const std::vector<Sample>& samples, std::size_t a, std::size_t b) {
    return seen.id[a] != nothing && seen.id[b] != nothing &&
           samples[a].normal.dot(samples[b].normal) > 0.9f &&
           std::abs(seen.depth[a] - seen.depth[b]) < 0.02f * seen.depth[b];
}

// Averages light and openness over 4x4 pixels on the same surface: the period of the tap pattern.
void blur(const Painter& painter, const std::vector<Sample>& samples, int per_pixel, int x, int y,
          float& light, float& open) {
    const Visibility& seen = painter.seen;
    const std::size_t here = seen.index(x, y);
    float light_sum = 0, open_sum = 0, weight = 0;
    for (int dy = -2; dy < 2; ++dy)
        for (int dx = -2; dx < 2; ++dx) {
            const int nx = x + dx * per_pixel, ny = y + dy * per_pixel;
            if (nx < 0 || ny < 0 || nx >= seen.width || ny >= seen.height) continue;
            const std::size_t there = seen.index(nx, ny);
            if (!alike(seen, samples, there, here)) continue;
            light_sum += samples[there].light;
            open_sum += samples[there].open;
            weight += 1;
        }
    light = weight > 0 ? light_sum / weight : samples[here].light;
    open = weight > 0 ? open_sum / weight : samples[here].open;
}

// Bends values above 0.8 gently towards one instead of cutting them off.
Pixel to_pixel(const Vec3f& linear) {
    Pixel pixel;
    for (int k = 0; k < 3; ++k) {
        float v = linear[k];
        if (v > 0.8f) v = 0.8f + 0.2f * (1 - std::exp(-(v - 0.8f) / 0.2f));
        pixel[k] = static_cast<std::uint8_t>(std::lround(255 * srgb_from_linear(v)));
    }
    return pixel;
}

// Arrows and other marks: opaque where they are in front, translucent where something hides them.
void add_overlay(const Painter& overlay, const Painter& scene, int x, int y, const Vec3f& to_light,
                 Vec3f& color) {
    const std::size_t index = overlay.seen.index(x, y);
    if (overlay.seen.id[index] == nothing) return;
    const Vec3f mark = overlay.lit(x, y, overlay.surface(x, y), to_light);
    const float alpha = overlay.seen.depth[index] >= scene.seen.depth[index] ? 1.0f : 0.5f;
    color += alpha * (mark - color);
}

}  // namespace

std::size_t DrawList::batch_of(std::size_t id) const {
    const auto after =
        std::upper_bound(batches.begin(), batches.end(), id,
                         [](std::size_t value, const Batch& batch) { return value < batch.first_id; });
    return static_cast<std::size_t>(after - batches.begin()) - 1;
}

Image shade(const DrawList& solid, const DrawList& overlay, const Projection& view, const Lighting& lighting,
            int samples) {
    Painter painter(solid, view, lighting);
    painter.add_ground();
    const Painter marks(overlay, view, lighting);

    // the key light stands to the upper left of the camera
    const Vec3f right = view.axes.row(0).transpose();
    const Vec3f back = lighting.up.cross(right) * -1.0f;
    const Vec3f to_light = (1.15f * lighting.up - 0.62f * right + 0.55f * back).normalized();
    const ShadowMap shadows(solid.batches, to_light, lighting.focus, 1.5f * lighting.radius,
                            std::max(view.width, view.height) / samples);

    // what is seen, and how much light reaches it: samples of a pixel on one surface share that
    std::vector<Sample> buffer(painter.seen.id.size());
    Image image(view.width / samples, view.height / samples);
    parallel_for(image.height, 2, [&](std::size_t row) {
        for (int column = 0; column < image.width; ++column) {
            const int x0 = column * samples, y0 = static_cast<int>(row) * samples;
            const TapPattern pattern(column, static_cast<int>(row));
            for (int k = 0; k < samples * samples; ++k) {
                const int x = x0 + k % samples, y = y0 + k / samples;
                const std::size_t index = painter.seen.index(x, y), first = painter.seen.index(x0, y0);
                if (painter.seen.id[index] == nothing) continue;
                Sample& sample = buffer[index] = painter.surface(x, y);
                if (k > 0 && alike(painter.seen, buffer, first, index)) {
                    sample.light = buffer[first].light;
                    sample.open = buffer[first].open;
                    continue;
                }
                const Vec3f point = painter.position(x, y);
                if (sample.normal.dot(to_light) > 0)
                    sample.light = shadows.light_at(point, sample.normal, pattern);
                sample.open = ambient_occlusion(painter.seen, view, point, sample.normal,
                                                occlusion_reach * lighting.radius, pattern);
            }
        }
    });

    // light the samples and average them into pixels
    parallel_for(image.height, 2, [&](std::size_t row) {
        for (int column = 0; column < image.width; ++column) {
            Vec3f sum = Vec3f::Zero();
            for (int k = 0; k < samples * samples; ++k) {
                const int x = column * samples + k % samples,
                          y = static_cast<int>(row) * samples + k / samples;
                const std::size_t index = painter.seen.index(x, y);
                Vec3f color = painter.background(y);
                if (painter.seen.id[index] != nothing) {
                    Sample sample = buffer[index];
                    blur(painter, buffer, samples, x, y, sample.light, sample.open);
                    color = painter.lit(x, y, sample, to_light);
                }
                add_overlay(marks, painter, x, y, to_light, color);
                sum += color.cwiseMin(1.5f);
            }
            image.at(column, static_cast<int>(row)) = to_pixel(sum / static_cast<float>(samples * samples));
        }
    });
    return image;
}

}  // namespace tenon::render
