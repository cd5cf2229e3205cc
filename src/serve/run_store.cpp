#include "serve/run_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "serve/frame_chunk.hpp"
#include "serve/model_json.hpp"
#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

ElasticSurface surface_of(const render::DrawElastic& solid) {
    ElasticSurface surface;
    std::size_t largest = 0;
    for (const Triangle& triangle : solid.triangles)
        for (const int corner : triangle) largest = std::max(largest, static_cast<std::size_t>(corner) + 1);
    std::vector<int> place(largest, -1);
    for (const Triangle& triangle : solid.triangles) {
        Triangle& renumbered = surface.triangles.emplace_back();
        for (int k = 0; k < 3; ++k) {
            int& index = place[triangle[k]];
            if (index < 0) {
                index = static_cast<int>(surface.vertices.size());
                surface.vertices.push_back(triangle[k]);
            }
            renumbered[k] = index;
        }
    }
    surface.tet = solid.triangle_tet;
    surface.tet.resize(surface.triangles.size(), -1);
    return surface;
}

// A thousandth of a pixel when the smallest moving body fills a tenth of a screen, but no finer than floats can tell.
double quantum_of(const render::Drawing& drawn, const Box3& interest) {
    double smallest = 1e300;
    for (const render::DrawBody& body : drawn.bodies)
        if (body.moves && body.mesh >= 0)
            smallest = std::min(smallest, static_cast<double>(drawn.meshes[body.mesh].radius));
    const double extent = std::max(interest.diagonal(), 1e-9);
    return std::clamp(1e-5 * smallest, std::ldexp(extent, -24), std::ldexp(extent, -18));
}

Box3 interest_of(const render::Drawing& drawn, const run::RunReader& reader) {
    std::vector<run::Frame> frames;
    const long count = reader.frame_count();
    for (const long index : {0L, count / 2, count - 1})
        if (index >= 0 && index < count) frames.push_back(reader.frame(index));
    Box3 box;
    for (const Vec3& point : render::points_of_interest(drawn, frames)) box.add(point);
    if (box.empty()) box.add(Vec3::Zero());
    return box;
}

}  // namespace

OpenRun::OpenRun(const std::string& file, long generation_number)
    : generation(generation_number), reader(file) {
    try {
        database = run::Database(file, run::Database::Mode::read_only);
        database.pragma("SELECT count(*) FROM sqlite_master");
    } catch (const run::SqliteError&) {  // on a disk that cannot hold the log's index
        database = run::Database(file, run::Database::Mode::immutable);
    }
    if (reader.frame_count() == 0)
        throw InputError(file, "frames", "there are none", "let the run go on for longer");
    drawn = render::model_of(reader);
    for (const render::DrawElastic& solid : drawn.elastic) surfaces.push_back(surface_of(solid));
    interest = interest_of(drawn, reader);
    quantum = quantum_of(drawn, interest);
    geometry = pack_geometry(*this);
    model_json = describe_model(*this);
}

long OpenRun::bytes_per_frame() const {
    long vertices = 0;
    for (const ElasticSurface& surface : surfaces) vertices += static_cast<long>(surface.vertices.size());
    const auto moving = std::count_if(reader.bodies().begin(), reader.bodies().end(),
                                      [](const auto& body) { return body.type != BodyType::static_body; });
    return 16 + moving * pose_bytes + vertices * vertex_bytes;
}

int OpenRun::chunk_frames() const {
    constexpr long wanted = 2L << 20;
    return static_cast<int>(std::clamp<long>(wanted / bytes_per_frame(), 1, max_chunk_frames));
}

std::vector<double> OpenRun::times(long first, long limit) const {
    const std::lock_guard lock(mutex);
    try {
        run::Statement row(database, "SELECT time FROM frames WHERE id >= ? ORDER BY id LIMIT ?");
        row.bind(0, first).bind(1, limit);
        std::vector<double> values;
        while (row.next()) values.push_back(row.number(0));
        return values;
    } catch (const run::SqliteError& error) {
        throw InputError(reader.file(), "frames", error.what(), "run the scene again");
    }
}

RunStore::RunStore(std::string file) : file_(std::move(file)) {
    identify(file_, identity_);
    run_ = std::make_shared<OpenRun>(file_, 1);
}

bool RunStore::identify(const std::string& file, Identity& identity) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return false;
    identity = {static_cast<unsigned long>(info.st_dev), static_cast<unsigned long>(info.st_ino)};
    return true;
}

std::shared_ptr<const OpenRun> RunStore::open() const {
    const std::lock_guard lock(mutex_);
    return run_;
}

Growth RunStore::look() {
    Growth growth;
    Identity now;
    const bool there = identify(file_, now);
    const std::lock_guard lock(mutex_);
    if (there && now != identity_) {
        try {
            run_ = std::make_shared<OpenRun>(file_, run_->generation + 1);
            identity_ = now;
            problem_.clear();
        } catch (const std::exception& error) {
            problem_ = error.what();
        }
    }
    growth.generation = run_->generation;
    growth.problem = there ? problem_ : "the run file was removed";
    const std::lock_guard reading(run_->mutex);
    growth.status = there ? run_->reader.meta("status") : "gone";
    growth.method = run_->reader.meta("method");
    growth.frames = run_->reader.frame_count();
    run::Statement row(run_->database, "SELECT time FROM frames WHERE id = ?");
    row.bind(0, growth.frames - 1);
    if (row.next()) growth.time = row.number(0);
    return growth;
}

}  // namespace tenon::serve
