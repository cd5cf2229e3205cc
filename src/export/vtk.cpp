#include "export/vtk.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "export/vtu.hpp"

namespace tenon::exporting {
namespace {

void append(std::vector<double>& values, const Vec3& v) {
    values.insert(values.end(), v.data(), v.data() + 3);
}

VtuGrid bodies_grid(const run::RunReader& run, const run::Frame& frame) {
    VtuGrid grid;
    std::vector<double> velocity;
    std::vector<std::int32_t> body;
    for (std::size_t i = 0; i < run.bodies().size(); ++i) {
        const Mesh& mesh = run.shapes()[run.bodies()[i].shape].mesh;
        const auto first = static_cast<std::int32_t>(grid.point_count());
        for (const Vec3& v : mesh.vertices) {
            grid.add_point(transform(frame.q[i], v));
            append(velocity, transform(frame.rate[i], v));
        }
        for (const Triangle& t : mesh.triangles)
            grid.add_cell(Cell::triangle, {first + t[0], first + t[1], first + t[2]});
        for (const Edge& e : mesh.edges) grid.add_cell(Cell::line, {first + e[0], first + e[1]});
        for (int p : mesh.points) grid.add_cell(Cell::vertex, {first + p});
        body.resize(grid.types.size(), static_cast<std::int32_t>(i));
    }
    grid.point_data = {{"velocity", 3, std::move(velocity)}};
    grid.cell_data = {{"body", 1, std::move(body)}};
    return grid;
}

VtuGrid solids_grid(const run::RunReader& run, const run::Frame& frame) {
    VtuGrid grid;
    std::vector<double> velocity, state;
    std::vector<std::int32_t> body;
    for (std::size_t e = 0; e < run.elastic().size(); ++e) {
        const auto first = static_cast<std::int32_t>(grid.point_count());
        for (const Vec3& x : frame.x[e]) grid.add_point(x);
        for (const Vec3& v : frame.v[e]) append(velocity, v);
        const std::vector<float>& states = frame.element_state[e];
        const std::vector<Tet>& tets = run.elastic()[e].tets;
        for (std::size_t k = 0; k < tets.size(); ++k) {
            const Tet& t = tets[k];
            if (t[3] < 0)  // plane strain
                grid.add_cell(Cell::triangle, {first + t[0], first + t[1], first + t[2]});
            else
                grid.add_cell(Cell::tetrahedron, {first + t[0], first + t[1], first + t[2], first + t[3]});
            state.push_back(k < states.size() ? states[k] : 0.0);
        }
        body.resize(grid.types.size(), static_cast<std::int32_t>(run.bodies().size() + e));
    }
    grid.point_data = {{"velocity", 3, std::move(velocity)}};
    grid.cell_data = {{"body", 1, std::move(body)}, {"element_state", 1, std::move(state)}};
    return grid;
}

VtuGrid contacts_grid(const run::Frame& frame) {
    VtuGrid grid;
    std::vector<double> force, normal, distance;
    std::vector<std::int32_t> pair;
    for (const Contact& contact : frame.contacts) {
        grid.add_cell(Cell::vertex, {grid.add_point(contact.point)});
        append(force, contact.force);
        append(normal, contact.normal);
        distance.push_back(contact.distance);
        pair.insert(pair.end(), {contact.a, contact.b});
    }
    grid.point_data = {{"force", 3, std::move(force)},
                       {"normal", 3, std::move(normal)},
                       {"distance", 1, std::move(distance)},
                       {"bodies", 2, std::move(pair)}};
    return grid;
}

}  // namespace

ExportReport write_vtk(const run::RunReader& run, const ExportOptions& options) {
    namespace fs = std::filesystem;
    const std::vector<long> frames = selected_frames(run, options);
    const fs::path output(options.output);
    const std::string folder = output.stem().string() + "_vtk";
    make_folder((output.parent_path() / folder).string());

    ExportReport report;
    std::string series =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
        "byte_order=\"LittleEndian\">\n<Collection>\n";
    const auto add = [&](const char* what, int part, long index, double time, const VtuGrid& grid) {
        const std::string name = fmt::format("{}/{}_{:06}.vtu", folder, what, index);
        write_file((output.parent_path() / name).string(), {vtu_text(grid)}, report);
        series += fmt::format("<DataSet timestep=\"{}\" group=\"{}\" part=\"{}\" file=\"{}\"/>\n", time, what,
                              part, name);
    };
    std::vector<std::pair<long, double>> untouched;  // frames before the first contact, if one comes at all
    bool touched = false;
    for (long index : frames) {
        const run::Frame frame = run.frame(index);
        if (!run.bodies().empty()) add("bodies", 0, index, frame.time, bodies_grid(run, frame));
        if (!run.elastic().empty()) add("solids", 1, index, frame.time, solids_grid(run, frame));
        if (!touched && frame.contacts.empty()) {
            untouched.emplace_back(index, frame.time);
        } else {
            for (const auto& [earlier, time] : std::exchange(untouched, {}))
                add("contacts", 2, earlier, time, contacts_grid({}));
            touched = true;
            add("contacts", 2, index, frame.time, contacts_grid(frame));
        }
        ++report.frames;
    }
    series += "</Collection>\n</VTKFile>\n";
    write_file(options.output, {series}, report);
    std::swap(report.files.front(), report.files.back());
    return report;
}

}  // namespace tenon::exporting
