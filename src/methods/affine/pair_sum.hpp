// All contacts of a pair of bodies in one: what each body feels and how it gives. The Newton system is made of these, so
// that it costs what pairs of bodies cost, not what contacts do.
#pragma once

#include "methods/affine/island.hpp"

namespace tenon::affine {

template <int Dof>
struct PairSum {
    using Block = Eigen::Matrix<double, Dof, Dof>;
    Block aa, bb, ba;
    Mat34 gradient_a, gradient_b;  // dE/dq
    double stretch_a, stretch_b;   // stiffness seen by strain
    // The contacts it was summed from, as PairContacts counts them.
    long seen_a = -1, seen_b = -1, duals = -1;

    bool up_to_date(const PairContacts& contacts) const {
        return seen_a == contacts.seen_a && seen_b == contacts.seen_b && duals == contacts.duals;
    }
    void forget() { seen_a = -1; }
};

// Motion of the material point `local` along `direction`, as a vector over the body's unknowns.
template <int Dof>
Eigen::Matrix<double, Dof, 1> unknowns_of(const Mat34& q, const Vec3& local, const Vec3& direction) {
    Eigen::Matrix<double, Dof, 1> j;
    if constexpr (Dof == 6) {
        j.template head<3>() = linear_part_times(q, local).cross(direction);
        j.template tail<3>() = direction;
    } else {
        for (int k = 0; k < 3; ++k) j.template segment<3>(3 * k) = local[k] * direction;
        j.template tail<3>() = direction;
    }
    return j;
}

// The contact force from which on its turning with the bodies matters beside their inertia.
double relevant_force(const StepContext& context, const CandidatePair& pair);

// The sum at the present poses; nothing to do where it is known.
template <int Dof>
void sum_pair(PairSum<Dof>& sum, int index, const StepContext& context);

extern template void sum_pair<6>(PairSum<6>&, int, const StepContext&);
extern template void sum_pair<12>(PairSum<12>&, int, const StepContext&);

}  // namespace tenon::affine
