// Projected Newton on one contact island: the bodies that can influence each other within a step.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "methods/affine/bodies.hpp"
#include "methods/affine/contact_field.hpp"
#include "methods/affine/joints.hpp"
#include "methods/affine/motors.hpp"
#include "solve/block_cholesky.hpp"

namespace tenon::affine {

struct Island {
    std::vector<int> bodies;  // with unknowns, ascending or in a good elimination order
    std::vector<int> pairs;   // of the contact field
    std::vector<int> rows;    // of the joints
    std::vector<int> motors;
    bool held = false;      // some body has fixed coordinates
    bool detailed = false;  // some pair has many candidates
    bool in_order = false;  // bodies are in a good elimination order
};

// Islands from candidate pairs; bodies that cannot move separate them. Deterministic order.
std::vector<Island> find_islands(const StepBodies& bodies, const ContactField& field,
                                 const std::vector<ConstraintRow>& rows, const std::vector<Motor>& motors);

// Islands are solved beside each other, and large ones share the work on their bodies and pairs: whoever has no island
// left helps the others. Detailed pairs are shared one by one.
constexpr std::size_t large_island = 24;  // pairs
inline std::size_t grain_of(const Island& island, std::size_t grain) {
    if (island.pairs.size() >= large_island) return grain;
    return island.detailed ? 1 : ~std::size_t{0};
}

// Memory of a Newton solve, and where finished ones leave theirs for the next.
struct IslandMemory;
class IslandMemories {
  public:
    IslandMemories();
    ~IslandMemories();
    std::unique_ptr<IslandMemory> take();
    void give(std::unique_ptr<IslandMemory> memory);

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<IslandMemory>> free_;
};

void for_islands(const std::vector<Island>& islands, const std::function<void(std::size_t)>& solve);

// What all islands of a step share.
struct StepContext {
    const Settings& settings;
    const StepBodies& bodies;
    const std::vector<Motion>& motions;
    ContactField& field;
    std::vector<Mat34>& q;  // current iterate; an island touches its own bodies only
    const std::vector<ConstraintRow>& constraint_rows;
    const std::vector<Motor>& motors;
    std::vector<double>& multipliers;  // per joint row: what holds it, J s^2 / m
    std::vector<Mat34>& heading;       // where bodies were heading when one of their island left its margin
    std::vector<char>& outside;        // bodies that left their margin
    std::vector<int>& node;            // body to unknown within its island, -1 for still bodies
    std::vector<std::unique_ptr<solve::BlockCholesky>>& solvers;  // by an island's first body
    IslandMemories& memories;
    double dt = 0.0;
    double friction_eps = 0.0;    // m
    double tolerance = 0.0;       // m: largest motion of a converged Newton step
    double largest_motion = 0.0;  // m: of any body in this step, without contact
    bool record_path = false;
    std::vector<char> strained = {};  // bodies of islands that needed all twelve unknowns in this step
    std::string dump = {};  // beginning of the names of files for the step's Newton systems; empty: none
};

// One Newton iteration, for the log.
struct IterationLog {
    double energy = 0.0;    // after the step
    double slope = 0.0;     // gradient . direction
    double motion = 0.0;    // of the fastest point over the full Newton step, m
    double filtered = 0.0;  // step length that CCD left
    double length = 0.0;    // step length taken
    int contacts = 0;
    int bodies = 0;  // that were free to move
    bool affine = false;
};

struct IslandResult {
    std::vector<IterationLog> log;
    int iterations = 0;
    int solves = 0;
    int fallbacks = 0;  // solves by L D L^T
    int line_search_steps = 0;
    bool converged = false;
    bool out_of_margin = false;
    double assemble_ms = 0, solve_ms = 0, ccd_ms = 0, energy_ms = 0, move_ms = 0;
    std::vector<std::vector<Mat34>> path;  // accepted pieces, poses in the order of the island's bodies

    void go_on(IslandResult later);      // of the same island, from where this one ended
    void go_beside(IslandResult later);  // of another part of the same island
};

// Evaluates contacts at the given poses of the island's bodies; then E(q) of them, J s^2.
void evaluate_pairs(const Island& island, StepContext& context, const std::vector<Mat34>& poses);
double motor_off(const Motor& motor, const StepContext& context, const std::vector<Mat34>& poses);
double energy_at(const Island& island, const StepContext& context, const std::vector<Mat34>& poses);

IslandResult solve_island(const Island& island, StepContext& context, bool fresh);

}  // namespace tenon::affine
