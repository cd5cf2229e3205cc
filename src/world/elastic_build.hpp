// Elastic bodies of a scene, made into vertices and tetrahedra.
#pragma once

#include "tenon/world.hpp"

namespace tenon {

void build_elastic_bodies(World& world, const Scene& scene);  // throws InputError

}  // namespace tenon
