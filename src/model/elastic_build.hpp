// Elastic bodies of a scene, made into vertices and tetrahedra.
#pragma once

#include "tenon/state.hpp"

namespace tenon {

void build_elastic_bodies(Model& model, const Scene& scene);  // throws InputError

}  // namespace tenon
