// Forces that a scene applies to elastic bodies: entries of World::forces whose body number is that of an elastic body.
#pragma once

#include <vector>

#include "tenon/state.hpp"

namespace tenon {

// How one of World::forces is shared among vertices: by the weights of its point, or by mass without one.
struct ElasticLoad {
    int force = -1;
    std::vector<int> vertices;
    std::vector<double> share;  // in all 1
};

std::vector<ElasticLoad> elastic_loads(const Model& model, int elastic);

// Adds those that act at a time.
void add_loads(const Model& model, const std::vector<ElasticLoad>& loads, double time,
               std::vector<Vec3>& force);

}  // namespace tenon
