// Projected Newton on one island, a stage a file: search_direction.cpp, ccd_filter.cpp, line_search.cpp,
// friction_update.cpp, active_bodies.cpp.
#pragma once

#include "math/parallel.hpp"
#include "math/timer.hpp"
#include "methods/affine/island.hpp"
#include "methods/affine/newton_system.hpp"

namespace tenon::affine {

struct IslandMemory {
    NewtonSystem<6> rigid_system;
    NewtonSystem<12> affine_system;
    solve::BlockCholesky part_solver;
    Direction direction;
    std::vector<Mat34> poses, trial, last_step;
    std::vector<double> motion, excess;
    std::vector<char> stale;
};

constexpr std::size_t pair_grain = 4;  // pairs that a thread takes at once

// Largest fraction of the straight move between poses that keeps every gap open, down to the part `keep` of it.
double safe_fraction(const Island& island, StepContext& context, const std::vector<Mat34>& from,
                     const std::vector<Mat34>& to, double keep);

class IslandNewton {
  public:
    IslandNewton(const Island& island, StepContext& context);
    ~IslandNewton() { context_.memories.give(std::move(memory_)); }
    IslandResult run(bool fresh);

  private:
    struct Clock {
        explicit Clock(double& sum_) : sum(sum_), start(StageTimer::Clock::now()) {}
        ~Clock() { sum += StageTimer::elapsed_ms(start); }
        double& sum;
        StageTimer::Clock::time_point start;
    };

    void start();

    void solve_active_set();

    std::vector<Island> active_sets();

    std::vector<std::vector<Mat34>> path_of(const std::vector<Island>& parts,
                                            std::vector<IslandResult>& results) const;

    void stay_where_converged(const std::vector<Island>& parts, const std::vector<IslandResult>& results);

    void find_direction();

    void strain_matters();

    solve::BlockCholesky& solver();

    template <int Dof>
    bool link(NewtonSystem<Dof>& system) {
        Clock clock(result_.assemble_ms);
        return system.link(island_, context_);
    }

    template <int Dof>
    void direction_with(NewtonSystem<Dof>& system, solve::BlockCholesky& factors);

    void rest_bodies();

    void move_trial(double t);

    void stiffen_blockers();

    bool stiffen_close_contacts();

    void note_heading();

    const ContactShape& shape(std::size_t n) const { return context_.field.shape(island_.bodies[n]); }

    void note_motion();

    bool within_margin(std::size_t n) const {
        const Motion& reference = context_.motions[island_.bodies[n]];
        return deviation_from(reference, trial_[n], shape(n)) <= reference.margin;
    }

    bool within_margin() const;

    bool right_handed() const;

    double filter(double t);

    template <class Change>
    void for_friction(const Change& change) {
        const auto& bodies = context_.bodies.body;
        parallel_for(island_.pairs.size(), grain_of(island_, pair_grain), [&](std::size_t k) {
            PairContacts& contacts = context_.field.contacts(island_.pairs[k]);
            if (contacts.friction.empty()) return;
            const CandidatePair& pair = context_.field.pair(island_.pairs[k]);
            change(k, pair, contacts, context_.q[pair.a] - bodies[pair.a].slide_from,
                   context_.q[pair.b] - bodies[pair.b].slide_from);
        });
    }

    void start_friction_again();

    Mat34 step_of(int body) const {
        const int n = context_.node[body];
        return n >= 0 ? direction_.step[n] : Mat34(Mat34::Zero());
    }

    bool stiffen_reversals();

    void move_friction();

    double extrapolated_length();

    double round_contact_noise() const;  // J s^2

    void take_step();

    void accept(double energy);

    void start_from_prediction();

    const Island& island_;
    StepContext& context_;
    IslandResult result_;
    std::unique_ptr<IslandMemory> memory_;
    NewtonSystem<6>& rigid_system_ = memory_->rigid_system;
    NewtonSystem<12>& affine_system_ = memory_->affine_system;
    Direction& direction_ = memory_->direction;
    std::vector<Mat34>&poses_ = memory_->poses, &trial_ = memory_->trial;
    double energy_ = 0.0;
    double round_off_ = 0.0;  // of energies, beyond what their size says
    std::vector<char>& stale_ = memory_->stale;
    std::vector<double>& excess_ = memory_->excess;
    std::vector<std::size_t> resting_;
    std::vector<double>& motion_ =
        memory_->motion;  // m, of each body's fastest point over the whole Newton step
    std::vector<Mat34>& last_step_ = memory_->last_step;
    double last_length_ = 0.0;    // of it that was taken; 0: none
    double trial_length_ = -1.0;  // of the step that `trial_` is at; negative: of none
    bool friction_stale_ = false;
    bool overshot_ = false;  // the last step had to be shortened although nothing was in its path
    int blocked_steps_ = 0;  // one after the other that CCD has left little of
    bool stuck_ = false;     // no step leads down
    int stale_steps_ = 0;
    int poor_steps_ = 0;
    int depth_ = 0;
    bool was_small_ = false;  // the last step was within the tolerance
    bool polish_ = false;     // beyond the tolerance
    int polishes_ = 0;
    int crawls_ = 0;  // steps one after the other that moved next to nothing, with nothing in their way
    bool may_split_ = true;
    bool affine_ = false;
};

}  // namespace tenon::affine
