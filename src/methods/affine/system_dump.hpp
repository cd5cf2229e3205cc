// Newton systems as Matrix Market files, for a look with other tools.
#pragma once

#include <string>
#include <vector>

#include "solve/block_matrix.hpp"

namespace tenon::affine {

// Writes `name`.mtx (the lower half of the symmetric matrix) and `name`-rhs.mtx. Throws InputError when it cannot.
void dump_system(const std::string& name, const solve::BlockMatrix& matrix, const std::vector<double>& right);

}  // namespace tenon::affine
