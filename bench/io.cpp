// Reading and writing: scenes of many bodies and joints, and meshes. Quality is that what is written reads back
// as the same text.
#include <cstdio>
#include <filesystem>
#include <random>

#include <unistd.h>

#include <fmt/format.h>

#include "bench/bench.hpp"
#include "geometry/mesh_io.hpp"
#include "geometry/shapes.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::bench {
namespace {

// A chain of boxes with ball joints, its numbers with all their digits.
Scene chain(int links) {
    const geometry::ShapeInfo& box = *geometry::find_shape("box");
    GeometrySpec geometry;
    geometry.shape = box.name;
    geometry.shape_params =
        resolve_params(box.parameters, {{"size", std::vector<double>{0.1, 0.02, 0.02}}}, {});
    Scene scene;
    scene.name = "chain";
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (int i = 0; i < links; ++i) {
        BodySpec body;
        body.geometry = scene.add_geometry(geometry);
        body.position = Vec3(0.1 * i + 1e-3 * normal(random), normal(random), normal(random));
        body.rotation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
        scene.add_body(body);
        if (i == 0) continue;
        JointSpec joint;
        joint.bodies = {i - 1, i};
        joint.point = body.position;
        scene.joints.push_back(joint);
    }
    return scene;
}

void report(const Options& options, const std::string& name, double size, double seconds, double bytes,
            double error) {
    Row row;
    row.set("bench", std::string("io")).set("case", name).set("engine", std::string("tenon"));
    row.set("size", size).set("threads", 1.0).set("ms", 1e3 * seconds).set("megabytes", bytes / 1e6);
    row.set("megabytes_per_second", bytes / 1e6 / seconds).set("error", error);
    options.print(row);
}

double median_time(const Options& options, const std::function<void()>& work) {
    std::vector<double> times;
    for (int i = 0; i < options.repeats; ++i) times.push_back(seconds_of(work));
    return median(times);
}

void scenes(const Options& options) {
    for (const int links : options.quick ? std::vector<int>{1000} : std::vector<int>{10'000, 1'000'000}) {
        Options sized = options;
        if (links > 100'000) sized.repeats = 1;
        const Scene scene = chain(links);
        std::string text;
        const double write = median_time(sized, [&] { text = write_scene(scene); });
        Scene back;
        const double read = median_time(sized, [&] { back = parse_scene(text, "bench", ""); });
        const double error = write_scene(back) == text ? 0 : 1;
        const double bytes = static_cast<double>(text.size());
        if (options.wants("scene-write")) report(options, "scene-write", links, write, bytes, error);
        if (options.wants("scene-read")) report(options, "scene-read", links, read, bytes, error);
    }
}

void meshes(const Options& options) {
    if (!options.wants("obj-read")) return;
    const geometry::ShapeInfo& sphere = *geometry::find_shape("icosphere");
    const Mesh mesh =
        sphere.make(resolve_params(sphere.parameters, {{"subdivisions", options.quick ? 3.0 : 8.0}}, {}));
    const std::string file =
        (std::filesystem::temp_directory_path() / fmt::format("tenon-bench-{}.obj", getpid())).string();
    geometry::write_obj(mesh, file);
    const auto bytes = static_cast<double>(std::filesystem::file_size(file));
    Mesh back;
    const double seconds = median_time(options, [&] { back = geometry::read_mesh(file); });
    std::remove(file.c_str());
    double error = back.triangles == mesh.triangles ? 0 : 1;
    for (std::size_t i = 0; error == 0 && i < mesh.vertices.size(); ++i)
        if (back.vertices[i] != mesh.vertices[i]) error = 1;
    report(options, "obj-read", static_cast<double>(mesh.triangles.size()), seconds, bytes, error);
}

void run(const Options& options) {
    if (options.wants("scene-write") || options.wants("scene-read")) scenes(options);
    meshes(options);
}

}  // namespace

Bench io_bench() {
    return {"io", "reading and writing of scenes (up to a million bodies) and meshes", run};
}

}  // namespace tenon::bench
