// Parts of a checkpoint whose structures have gaps between their members: written member by member, so that the same state
// is always the same bytes.
#pragma once

#include "math/binary_io.hpp"
#include "methods/affine/candidates.hpp"
#include "methods/affine/restitution.hpp"

namespace tenon::affine {

template <class Visit, class Plan>
void visit_members(const Visit& visit, Plan& plan) {
    visit(plan.integrator);
    visit(plan.dhat);
    visit(plan.stiffness);
    visit(plan.wanted);
    visit(plan.speed);
    visit(plan.one);
    visit(plan.four);
    visit(plan.enough_dt);
}

inline void write_plan(std::ostream& out, const BouncePlan& plan) {
    visit_members([&](const auto& member) { write_value(out, member); }, plan);
}

inline void read_plan(std::istream& in, BouncePlan& plan) {
    visit_members([&](auto& member) { read_value(in, member); }, plan);
}

inline void write_motions(std::ostream& out, const std::vector<Motion>& motions) {
    write_value(out, static_cast<std::uint64_t>(motions.size()));
    for (const Motion& motion : motions) {
        write_value(out, motion.q0);
        write_value(out, motion.q1);
        write_value(out, motion.margin);
        write_value(out, static_cast<char>(motion.moves));
        write_value(out, motion.start);
    }
}

// None, or one for each body.
inline void read_motions(std::istream& in, std::vector<Motion>& motions, std::size_t bodies) {
    std::uint64_t count = 0;
    read_value(in, count);
    if (count != 0 && count != bodies)
        throw std::runtime_error("the checkpoint holds another number of bodies");
    motions.resize(count);
    for (Motion& motion : motions) {
        char moves = 0;
        read_value(in, motion.q0);
        read_value(in, motion.q1);
        read_value(in, motion.margin);
        read_value(in, moves);
        read_value(in, motion.start);
        motion.moves = moves != 0;
    }
}

}  // namespace tenon::affine
