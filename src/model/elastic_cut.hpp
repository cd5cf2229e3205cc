// Cutting an elastic body while it moves: its tetrahedra are divided along the plane before the start, and the doubled
// vertices stay bonded until the cut reaches them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "geometry/tet_mesh.hpp"
#include "tenon/params.hpp"
#include "tenon/state.hpp"

namespace tenon {

// World frame at the start, like the points and axes of joints.
struct CutSpec {
    std::string body;
    Vec3 point = Vec3::Zero(), normal = Vec3::UnitX();
    Vec3 sweep = Vec3::Zero();    // the way the cut runs; zero: everywhere at once
    double from = 0.0, to = 0.0;  // s: when it begins and when it is through
};

std::vector<ParamInfo> cut_parameters();                // of a method that can cut
std::optional<CutSpec> read_cut(const Params& params);  // of such a method
std::optional<CutSpec> cut_of(const Scene& scene);      // from the scene's method parameters

// Divides the tetrahedra of a body, given in its own frame. Throws InputError for a plane that misses the body.
void cut_elastic(geometry::TetMesh& mesh, const CutSpec& cut, const ElasticSpec& spec, const Origin& origin);

// Two vertices that began in one place, and when the cut parts them.
struct Bond {
    int a = -1, b = -1;
    double until = 0.0;
};
std::vector<Bond> bonds_of(const ElasticBody& body, const CutSpec& cut);

}  // namespace tenon
