// The end of a straight piece of motion, as `Outputs::path_sink` takes it and the run file keeps it: the poses of all
// bodies, then all elastic vertices in their order, four to a matrix, the last one filled up with zeros.
#pragma once

#include <vector>

#include "tenon/types.hpp"

namespace tenon {

std::vector<Mat34> path_piece(const std::vector<Mat34>& poses, const std::vector<std::vector<Vec3>>& x);

}  // namespace tenon
