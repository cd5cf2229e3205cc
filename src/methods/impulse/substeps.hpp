// The default contact solver: Gauss-Seidel passes in sub-steps of the step.
#pragma once

#include <vector>

#include "methods/impulse/problem.hpp"
#include "methods/impulse/wide_contacts.hpp"

namespace tenon::impulse {

struct SubstepSettings {
    int substeps = 4;
    int max_sweeps = 1;      // passes that push, and as many that relax, in each sub-step
    double tolerance = 0.0;  // m/s: passes of a sub-step end when no contact's velocity is off by more
    double touching = 0.0;   // m: gaps that count as closed
    double slop = 0.0;       // m: penetration that is left alone
    double frequency = 0.0;  // Hz: how fast contacts undo penetration
    double damping = 10.0;   // ratio to critical, of the same
    double max_push = 0.0;   // m/s, of the same
};

// Each sub-step adds its share of the forces, starts from the impulses of the last one, makes a pass that also pushes
// penetrating bodies apart, moves the bodies, and makes a pass without pushing: what pushing added to the velocities goes
// again. Load travels one body further through a pile with each sub-step at new positions, which rests better than as
// many sweeps at the old ones.
//
// Passes run in single precision. The linear velocities and displacements that leave are computed once more from the
// impulses, in double precision, so that momentum is kept to round-off.
class SubstepSolver {
  public:
    // Packs the contacts into lanes: patches of one colour share no movable body. Contacts of one pair must follow each
    // other. Those of bodies marked in `done` take no part.
    void prepare(const ContactProblem& problem, const SubstepSettings& settings,
                 const std::vector<char>& done);

    // Twists leave as after contact; contacts get the impulses of the last sub-step (as if of a whole step) and those of
    // the whole step.
    SolveReport solve(ContactProblem& problem, const std::vector<char>& done);

    // Displacement of each body over the step: linear, and a rotation vector.
    const std::vector<Twist>& moved() const { return moved_; }

  private:
    struct Patch {
        int a, b, begin, count;
    };
    struct Range {
        int begin, end;  // of wide patches
    };
    struct alignas(32) Motion {  // linear, 0, angular, 0
        float x[8] = {};
    };

    void find_patches(const ContactProblem& problem, const std::vector<char>& done);
    void colour(const ContactProblem& problem);
    void pack(const ContactProblem& problem);
    void fill_lane(const ContactProblem& problem, const Patch& patch, WidePatch& wide, int lane);
    float sweep(const PassSettings& pass);
    void start(const ContactProblem& problem, const std::vector<char>& done);
    void next_substep();
    void move(float h);
    void finish(ContactProblem& problem, const std::vector<char>& done);
    void write_back(ContactProblem& problem, const WidePatch& wide);

    SubstepSettings settings_;
    std::vector<Patch> patches_;
    std::vector<std::uint64_t> used_;  // colours of each body
    std::vector<int> colour_, start_, fill_, slot_;
    std::vector<char> kind_;  // of each patch: with load or without, points
    std::vector<Range> colours_;
    std::vector<WidePatch> wide_;
    std::vector<WidePoint> points_;
    std::vector<int> source_;                   // contact of each lane of each point, or -1
    std::vector<Motion> twist_, last_, shift_;  // now, at the start of the sub-step; displacement
    std::vector<char> in_contact_;
    std::vector<Twist> moved_;
    std::vector<float> worst_;
};

}  // namespace tenon::impulse
