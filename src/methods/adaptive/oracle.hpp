// A cheap forecast of which rigid elements would deform: one step of preconditioned conjugate gradients on the system
// of the whole solid (section 3.5), relative to the motion its rigid components would make.
#pragma once

#include <memory>
#include <vector>

#include "methods/adaptive/settings.hpp"
#include "methods/adaptive/solid.hpp"
#include "solve/incomplete_cholesky.hpp"

namespace tenon::adaptive {

// M + h (h + alpha_1) L (x) I, L the mesh's Laplacian weighted with the materials' stiffness: constant, factored once.
class Preconditioning {
  public:
    void prepare(const Solid& solid, const std::vector<char>& pinned, double h, Preconditioner kind);
    void apply(const std::vector<Vec3>& r, std::vector<Vec3>& z) const;

  private:
    void factor(const Solid& solid, const solve::BlockMatrix& matrix);

    double h_ = 0;
    Preconditioner kind_ = Preconditioner::cholesky;
    std::vector<double> diagonal_;
    // The full factor by columns, in the solid's elimination order; the diagonal comes first and is inverted.
    std::vector<int> order_, start_, row_;
    std::vector<double> value_;
    mutable std::vector<Vec3> work_;
    solve::IncompleteCholesky incomplete_;
};

class Oracle {
  public:
    struct Input {
        const Model& model;
        const State& state;
        const Solid& solid;
        const std::vector<Vec3>& driven;           // velocity of driven vertices over the step
        const std::vector<Vec3>& contact_impulse;  // on vertices
        double h;
        double steps = 1;  // that what pulls goes on for
    };
    // Sets the forecast of the squared strain rate of every rigid element.
    void forecast(const Input& in, Preconditioner kind, SolidState& part);

  private:
    void gather_loads(const Input& in, const SolidState& part);
    void subtract_rigid_motion(const Input& in, const SolidState& part);

    Preconditioning preconditioning_;
    std::vector<char> pinned_;
    std::vector<Vec3> r_, z_;
    std::vector<double> curvature_, strain_;
    std::vector<int> list_;  // elements that are elastic or moved from outside, and their loads
    std::vector<Vec12> loads_;
};

}  // namespace tenon::adaptive
