// Oracle: the whole KKT system of jointed bodies, dense, in long double.
#pragma once

#include <vector>

#include "tenon/types.hpp"

namespace tenon::solve {

struct KktBlock {
    std::vector<int> bodies;                   // those with gradients
    std::vector<std::vector<Vec12>> gradient;  // [body][row]
    std::vector<double> residual, compliance;  // per row
};

struct KktProblem {
    std::vector<Mat12> H;
    std::vector<Vec12> force;
    std::vector<KktBlock> blocks;
};

struct KktSolution {
    std::vector<Vec12> increment;    // per body
    std::vector<double> multiplier;  // rows of all blocks in order
};

//   [ H   C^T ] [ dq     ]   [  force    ]
//   [ C   -E  ] [ lambda ] = [ -residual ]
KktSolution solve_kkt_dense(const KktProblem& problem);

}  // namespace tenon::solve
