#include "render/raster.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::render {
namespace {

constexpr int tile_size = 64;
constexpr std::size_t chunk_triangles = 16384;

struct ScreenTriangle {
    Vec3f corner[3];  // x, y, depth key
    std::uint32_t id;
};

// A run of triangles of one batch.
struct Piece {
    const Batch* batch;
    std::size_t begin, end;
};

// Some pieces, their screen triangles, and which of them touch which tile.
struct Chunk {
    std::vector<Piece> pieces;
    std::vector<ScreenTriangle> triangles;
    std::vector<std::array<std::uint32_t, 2>> touches;  // tile, triangle
};

// Chunks of about equal work: large batches are cut, small ones share a chunk.
std::vector<Chunk> cut_into_chunks(const std::vector<Batch>& batches) {
    std::vector<Chunk> chunks;
    std::size_t filled = chunk_triangles;
    for (const Batch& batch : batches)
        for (std::size_t begin = 0; begin < batch.triangle_count;) {
            if (filled >= chunk_triangles) {
                chunks.emplace_back();
                filled = 0;
            }
            const std::size_t end = std::min(batch.triangle_count, begin + chunk_triangles - filled);
            chunks.back().pieces.push_back({&batch, begin, end});
            filled += end - begin;
            begin = end;
        }
    return chunks;
}

struct Grid {
    int columns, rows;
};

void emit(const Projection& projection, const Grid& grid, const Vec3f view[3], std::uint32_t id,
          bool cull_back, Chunk& chunk) {
    ScreenTriangle triangle{{projection.view_to_sample(view[0]), projection.view_to_sample(view[1]),
                             projection.view_to_sample(view[2])},
                            id};
    const Vec3f& a = triangle.corner[0];
    const Vec3f& b = triangle.corner[1];
    const Vec3f& c = triangle.corner[2];
    const float area = (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
    if (area == 0 || !std::isfinite(area)) return;
    if (area > 0) {  // y points down: positive is clockwise, a back face
        if (cull_back) return;
        std::swap(triangle.corner[1], triangle.corner[2]);
    }
    const float min_x = std::min({a.x(), b.x(), c.x()}), max_x = std::max({a.x(), b.x(), c.x()});
    const float min_y = std::min({a.y(), b.y(), c.y()}), max_y = std::max({a.y(), b.y(), c.y()});
    if (max_x < 0 || max_y < 0 || min_x >= projection.width || min_y >= projection.height) return;
    const int x0 = static_cast<int>(std::max(0.0f, min_x)) / tile_size;
    const int y0 = static_cast<int>(std::max(0.0f, min_y)) / tile_size;
    const int x1 = std::min<float>(projection.width - 1, max_x) / tile_size;
    const int y1 = std::min<float>(projection.height - 1, max_y) / tile_size;
    const auto index = static_cast<std::uint32_t>(chunk.triangles.size());
    for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x)
            chunk.touches.push_back({static_cast<std::uint32_t>(y * grid.columns + x), index});
    chunk.triangles.push_back(triangle);
}

// Cuts off what lies before the near plane and emits the rest as a fan.
void emit_clipped(const Projection& projection, const Grid& grid, const Vec3f view[3], std::uint32_t id,
                  bool cull_back, Chunk& chunk) {
    Vec3f kept[4];
    int count = 0;
    for (int k = 0; k < 3; ++k) {
        const Vec3f &p = view[k], &q = view[(k + 1) % 3];
        const bool p_in = p.z() >= projection.near, q_in = q.z() >= projection.near;
        if (p_in) kept[count++] = p;
        if (p_in != q_in) kept[count++] = p + (projection.near - p.z()) / (q.z() - p.z()) * (q - p);
    }
    for (int k = 1; k + 1 < count; ++k) {
        const Vec3f fan[3] = {kept[0], kept[k], kept[k + 1]};
        emit(projection, grid, fan, id, cull_back, chunk);
    }
}

void project_piece(const Projection& projection, const Grid& grid, const Piece& piece, Chunk& chunk) {
    const Batch& batch = *piece.batch;
    for (std::size_t t = piece.begin; t < piece.end; ++t) {
        Vec3f view[3];
        int behind = 0;
        for (int k = 0; k < 3; ++k) {
            view[k] = projection.to_view(batch.vertices[batch.triangles[t][k]]);
            behind += !projection.parallel && view[k].z() < projection.near;
        }
        const auto id = static_cast<std::uint32_t>(batch.first_id + t);
        if (behind == 0)
            emit(projection, grid, view, id, batch.cull_back, chunk);
        else if (behind < 3)
            emit_clipped(projection, grid, view, id, batch.cull_back, chunk);
    }
}

// Fills the part of a triangle inside a tile. Corners are counter-clockwise on a picture whose y points down. Large
// triangles need doubles, or cracks open along their edges.
template <class Real>
void fill(const ScreenTriangle& triangle, int x0, int y0, int x1, int y1, Visibility& out) {
    using Corner = Eigen::Matrix<Real, 3, 1>;
    const Corner a = triangle.corner[0].cast<Real>(), b = triangle.corner[1].cast<Real>(),
                 c = triangle.corner[2].cast<Real>();
    const auto pixel = [](Real value) { return static_cast<int>(std::clamp(value, Real(-1e6), Real(1e6))); };
    const int left = std::max(x0, pixel(std::floor(std::min({a.x(), b.x(), c.x()}))));
    const int right = std::min(x1 - 1, pixel(std::ceil(std::max({a.x(), b.x(), c.x()}))));
    const int top = std::max(y0, pixel(std::floor(std::min({a.y(), b.y(), c.y()}))));
    const int bottom = std::min(y1 - 1, pixel(std::ceil(std::max({a.y(), b.y(), c.y()}))));
    // edge functions, positive inside: barycentric weights times the area
    const auto edge = [](const Corner& p, const Corner& q, Real x, Real y) {
        return (x - p.x()) * (q.y() - p.y()) - (y - p.y()) * (q.x() - p.x());
    };
    const Real area = edge(a, b, c.x(), c.y());
    if (!(area > 0)) return;
    const Real step_a = c.y() - b.y(), step_b = a.y() - c.y(), step_c = b.y() - a.y();
    const Real depth_step = (step_a * a.z() + step_b * b.z() + step_c * c.z()) / area;
    for (int y = top; y <= bottom; ++y) {
        const Real px = left + Real(0.5), py = y + Real(0.5);
        const Real wa = edge(b, c, px, py), wb = edge(c, a, px, py), wc = edge(a, b, px, py);
        const Real depth = (wa * a.z() + wb * b.z() + wc * c.z()) / area;
        const std::size_t row = out.index(0, y);
        for (int x = left; x <= right; ++x) {
            const Real n = static_cast<Real>(x - left);
            if (wa + n * step_a < 0 || wb + n * step_b < 0 || wc + n * step_c < 0) continue;
            const float here = static_cast<float>(depth + n * depth_step);
            if (here > out.depth[row + x]) {
                out.depth[row + x] = here;
                out.id[row + x] = triangle.id;
            }
        }
    }
}

bool is_large(const ScreenTriangle& triangle) {
    float most = 0;
    for (const Vec3f& corner : triangle.corner)
        most = std::max({most, std::abs(corner.x()), std::abs(corner.y())});
    const float extent = (triangle.corner[1] - triangle.corner[0]).head<2>().norm() +
                         (triangle.corner[2] - triangle.corner[0]).head<2>().norm();
    return extent > 200 || most > 20000;
}

}  // namespace

Visibility rasterize(const Projection& projection, const std::vector<Batch>& batches) {
    Visibility out;
    out.width = projection.width;
    out.height = projection.height;
    out.depth.assign(static_cast<std::size_t>(out.width) * out.height, -1e30f);
    out.id.assign(out.depth.size(), nothing);
    const Grid grid{(out.width + tile_size - 1) / tile_size, (out.height + tile_size - 1) / tile_size};

    // project and sort into tiles; within a tile the order of ids is kept
    std::vector<Chunk> chunks = cut_into_chunks(batches);
    parallel_for(chunks.size(), 1, [&](std::size_t i) {
        for (const Piece& piece : chunks[i].pieces) project_piece(projection, grid, piece, chunks[i]);
    });
    const std::size_t tiles = static_cast<std::size_t>(grid.columns) * grid.rows;
    std::vector<std::size_t> start(tiles + 1, 0);
    for (const Chunk& chunk : chunks)
        for (const auto& touch : chunk.touches) ++start[touch[0] + 1];
    for (std::size_t tile = 0; tile < tiles; ++tile) start[tile + 1] += start[tile];
    std::vector<const ScreenTriangle*> sorted(start[tiles]);
    std::vector<std::size_t> place(start.begin(), start.end() - 1);
    for (const Chunk& chunk : chunks)
        for (const auto& touch : chunk.touches) sorted[place[touch[0]]++] = &chunk.triangles[touch[1]];

    parallel_for(tiles, 1, [&](std::size_t tile) {
        const int x0 = static_cast<int>(tile % grid.columns) * tile_size;
        const int y0 = static_cast<int>(tile / grid.columns) * tile_size;
        const int x1 = std::min(out.width, x0 + tile_size), y1 = std::min(out.height, y0 + tile_size);
        for (std::size_t i = start[tile]; i < start[tile + 1]; ++i) {
            const auto draw = is_large(*sorted[i]) ? fill<double> : fill<float>;
            draw(*sorted[i], x0, y0, x1, y1, out);
        }
    });
    return out;
}

}  // namespace tenon::render
