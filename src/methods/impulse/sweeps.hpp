// Equal and opposite impulses: sweeps over contacts in the order of the contact graph, from what is fixed
// upwards and back. Each contact sees the compliance of both its bodies; friction stays in its cone.
#pragma once

#include "methods/impulse/problem.hpp"
#include "methods/impulse/sweep_kernels.hpp"

namespace tenon::impulse {

struct SweepSettings {
    int max_sweeps = 20;
    double tolerance = 1e-5;  // m/s
    bool accelerate = true;   // momentum between sweeps (nonsmooth conjugate gradients)
    bool pyramid = false;     // friction pyramid instead of the cone
    bool graph_order = true;  // false: contacts as they were found (plain PGS)
    Vec3 up = Vec3::UnitY();  // stripes for threads run along it
};

class Sweeper {
  public:
    // Orders the contacts and prepares their rows. Contacts of one pair must follow each other. Those of bodies
    // marked in `settled` take no part in `solve`, only in `correct`.
    void prepare(const ContactProblem& problem, const std::vector<Vec3>& centers,
                 const SweepSettings& settings, const std::vector<char>& settled = {});

    // Solves for the contact impulses; twists leave as after contact. Warm-starts from the impulses given. Kinetic
    // energy never grows, but by what scripted bodies give.
    SolveReport solve(ContactProblem& problem);

    // Pseudo-twists that undo penetration deeper than `slop` at `rate` per step, on the rows of the last `prepare`.
    // They move positions only: no velocity, so no kinetic energy, comes from them. False: nothing to do.
    bool correct(const ContactProblem& problem, double slop, double rate, double max_speed, int sweeps,
                 std::vector<Twist>& pseudo);

  private:
    struct Range {
        int begin, end;  // of groups
    };
    using Phases = std::vector<std::vector<Range>>;  // ranges of one phase share no movable body

    void find_groups(const ContactProblem& problem);
    void find_levels(const ContactProblem& problem);
    int find_borders(const ContactProblem& problem, const std::vector<Vec3>& centers);
    void plan(const ContactProblem& problem, const std::vector<Vec3>& centers,
              const std::vector<char>& settled);
    void make_rows(const ContactProblem& problem);
    SweepResult sweep_contacts(ContactProblem& problem, bool backward, bool keep_change);
    void accelerate(ContactProblem& problem, double beta);
    double scripted_work(const ContactProblem& problem) const;
    double energy_share(const ContactProblem& problem) const;
    void limit_energy(ContactProblem& problem, SolveReport& report);
    void write_back(ContactProblem& problem) const;
    template <class Kernel>
    SweepResult sweep(const Phases& phases, bool backward, const Kernel& kernel);

    SweepSettings settings_;
    std::vector<RowGroup> found_, groups_;  // as found: ranges of contacts; in order: ranges of rows
    std::vector<int> source_;               // row -> contact
    Phases phases_, all_phases_;
    int active_groups_ = 0, active_rows_ = 0;  // the rest are settled
    std::vector<Row> rows_;
    std::vector<RowMass> mass_;
    struct alignas(32) Four {
        double x[4];
    };
    std::vector<Four> change_, step_p_;  // acceleration: of the last sweep, and its direction
    std::vector<Twist> last_v_, step_v_, start_v_;
    std::vector<double> pseudo_impulse_, pseudo_target_;
    std::vector<int> level_, queue_, adjacency_start_, adjacency_, slot_, slot_start_;
    std::vector<double> places_, borders_;
    std::vector<SweepResult> results_;
};

}  // namespace tenon::impulse
