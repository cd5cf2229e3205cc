#include "model/elastic_cut.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "geometry/tet_cut.hpp"
#include "tenon/error.hpp"

namespace tenon {

std::vector<ParamInfo> cut_parameters() {
    constexpr double far = 1e9;
    const std::vector<double> zero{0, 0, 0};
    return {
        {"cut_body", std::string(), "elastic body that is cut by a plane while it moves; empty: none"},
        {"cut_point", zero, "a point of the cutting plane, world frame at the start", -far, far, {}, "m"},
        {"cut_normal", std::vector<double>{1, 0, 0}, "normal of the cutting plane", -far, far},
        {"cut_sweep", zero, "the way the cut runs; zero: everywhere at once", -far, far},
        {"cut_from", 0.0, "when the cut begins", 0.0, far, {}, "s"},
        {"cut_takes", 0.0, "until it is through", 0.0, far, {}, "s"},
    };
}

std::optional<CutSpec> read_cut(const Params& params) {
    CutSpec cut;
    cut.body = params.text("cut_body");
    if (cut.body.empty()) return std::nullopt;
    cut.point = params.vec3("cut_point");
    cut.normal = params.vec3("cut_normal");
    cut.sweep = params.vec3("cut_sweep");
    cut.from = params.number("cut_from");
    cut.to = cut.from + params.number("cut_takes");
    return cut;
}

std::optional<CutSpec> cut_of(const Scene& scene) {
    const std::vector<ParamInfo> known = cut_parameters();
    std::map<std::string, ParamValue> given;
    for (const ParamInfo& info : known)
        if (const auto at = scene.method_params.find(info.name); at != scene.method_params.end())
            given.insert(*at);
    return read_cut(resolve_params(known, given, {scene.file, "method"}));
}

void cut_elastic(geometry::TetMesh& mesh, const CutSpec& cut, const ElasticSpec& spec, const Origin& origin) {
    if (spec.plane_strain || !spec.surface_file.empty())
        throw InputError(origin.file, origin.path, "only tetrahedra without an embedded surface can be cut",
                         "leave \"plane_strain\" and \"surface\" away");
    const Quat back = spec.rotation.normalized().conjugate();
    if (!(cut.normal.norm() > 0) ||
        geometry::cut_tets(mesh, back * (cut.point - spec.position), back * cut.normal).empty())
        throw InputError(origin.file, "method.cut_point",
                         "the plane does not cut the body '" + spec.name + "'",
                         "\"cut_point\" and \"cut_normal\" are given in the world frame at the start");
}

std::vector<Bond> bonds_of(const ElasticBody& body, const CutSpec& cut) {
    std::map<std::array<double, 3>, int> first;
    std::vector<Bond> bonds;
    double begin = 1e300, end = -1e300;
    for (int v = 0; v < static_cast<int>(body.rest.size()); ++v) {
        const Vec3& x = body.rest[v];
        const auto [at, added] = first.try_emplace({x.x(), x.y(), x.z()}, v);
        if (added) continue;
        bonds.push_back({at->second, v, cut.sweep.dot(x)});
        begin = std::min(begin, bonds.back().until);
        end = std::max(end, bonds.back().until);
    }
    for (Bond& bond : bonds) {  // so far how far along the sweep
        const double part = end > begin ? (bond.until - begin) / (end - begin) : 0.0;
        bond.until = cut.from + part * (cut.to - cut.from);
    }
    return bonds;
}

}  // namespace tenon
