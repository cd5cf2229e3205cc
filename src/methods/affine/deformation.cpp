#include "methods/affine/deformation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "methods/affine/rigidity.hpp"

namespace tenon::affine {
namespace {

constexpr double most_strain = 1e-4;    // |A^T A - I| from which a body is made stiffer
constexpr double wanted_strain = 1e-5;  // what that is to bring it to
constexpr double most_stiffer = 1e4;    // times: beyond it round-off of the stiff energy would be motion
constexpr double told_strain = 1e-3;    // warned of

}  // namespace

void report_deformation(const Model& model, const State& state, double kappa,
                        std::vector<double>& rigidity_factor, StepReport& report) {
    double largest = 0.0;
    int most = -1;
    for (std::size_t i = 0; i < state.q.size(); ++i) {
        if (state.type[i] == BodyType::static_body) continue;
        const double deformation = strain(state.q[i].leftCols<3>()).cwiseAbs().maxCoeff();
        if (deformation > most_strain)
            rigidity_factor[i] = std::min(most_stiffer, rigidity_factor[i] * deformation / wanted_strain);
        if (deformation <= largest) continue;
        largest = deformation;
        most = static_cast<int>(i);
    }
    report.metrics.emplace_back("deformation_max", largest);
    if (largest > told_strain && kappa == 0.0)
        report.warnings.push_back(fmt::format(
            "'{}' is strained by {:.2g}: bodies are meant to be rigid; take a smaller step, or give `kappa` "
            "for bodies that may deform",
            model.bodies.name[most], largest));
}

}  // namespace tenon::affine
