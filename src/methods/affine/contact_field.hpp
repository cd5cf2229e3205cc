// All contacts of a step: distances, barrier energies, lagged friction and step bounds over the candidate set.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/separating_axis_lanes.hpp"
#include "methods/affine/barrier.hpp"
#include "methods/affine/candidates.hpp"
#include "methods/affine/pair_memory.hpp"
#include "tenon/state.hpp"

namespace tenon::affine {

// One active pair of primitives acts like a spring between two material points along the normal.
struct ContactPoint {
    Vec3 local_a,
        local_b;  // closest points in the bodies' rest frames, of their cores where bodies are round
    Vec3 touch_a, touch_b;  // the same on their surfaces: where friction acts
    Vec3 normal;            // unit, from b to a
    double distance = 0.0;
    double force = 0.0;      // -dE/dd, N
    double stiffness = 0.0;  // d2E/dd2, N/m
    double weight = 1.0;     // of the barrier: how many pairs of primitives meet in these very points
    int candidate = -1;      // of the pair, the first that has these points
};

// A direction in which moving the two bodies shortens the distance to second order: the force resists it.
struct ContactCurvature {
    double stiffness = 0.0;  // N/m per squared unit of the direction
    Mat34 a, b;              // the direction as a load on each body's q
};

// Contact of an earlier pose, whose normal force limits the friction of this step (Eq. 12).
struct FrictionPoint {
    Vec3 local_a, local_b;
    Vec3 normal;
    double limit = 0.0;        // mu x normal force, N
    Vec3 dual = Vec3::Zero();  // friction's direction on a as Newton sees it: at most a unit vector
};

// A candidate in range and the contact it belongs to.
struct MergedCandidate {
    int candidate;  // of the pair
    int active;     // bits of the vertices that hold its closest points
    int contact;
};

// Of pairs with fewer candidates no directions are kept: a few distances cost less than the memory.
constexpr int many_candidates = 256;

struct PairContacts {
    std::vector<ContactPoint> points;
    std::vector<MergedCandidate> merged;
    std::vector<FrictionPoint> friction;
    double strength = 0.0;    // joules, of the barrier
    double stiffening = 1.0;  // times what the loads ask for
    ContactRange range;
    double mu = 0.0;
    double energy = 0.0;            // J, barrier only
    double closest = 1e300;         // m, of the points
    float nearest = 0.0f;           // of its candidates, as the field's list says
    long seen_a = -1, seen_b = -1;  // versions of the bodies' poses that the contacts belong to
    long duals = 0;                 // counts changes of the friction directions
    bool linked = false;            // has its block in the Newton system
};

// World positions of a body's vertices, with its shape.
struct BodyPoints {
    const ContactShape* shape = nullptr;
    std::vector<int> used;               // vertices that candidates have; the others' places are unknown
    std::vector<char> is_used;           // per vertex
    bool uses_all = true;                // all count, whatever candidates have
    std::size_t up_to_date = 0;          // of those that count, so many are where q says
    std::vector<Vec3> x;                 // and one more, for kernels that read four numbers at once
    std::vector<Vec3> step;              // displacement of a trial step, and one more
    Mat34 displacement = Mat34::Zero();  // of the trial step
    Mat34 q = Mat34::Constant(1e300);    // pose that x belongs to
    long version = 0;                    // counts changes of q
    double step_bound = 0.0;             // of any vertex's displacement in the trial step
    double swelling =
        0.0;  // m: how far strain takes the drawn surface beyond the round one during the trial step
    double odometer = 0.0;  // bound on the path of any vertex since the candidates were built

    std::size_t count() const { return uses_all ? shape->shape->mesh.vertices.size() : used.size(); }
    void use_none();
    void use(const std::vector<int>& more);
};

struct ContactScale {
    double dhat = 1e-3;
    double reference_acceleration = 10.0;  // what the barrier holds at half range, m/s^2
    double friction_eps = 1e-6;            // m: eps_v times the step
};

// What each body brings to its contacts.
struct ContactLoads {
    std::vector<double> mass;        // kg
    std::vector<double> force = {};  // N, applied to it beside gravity; empty: none

    double force_on(int body) const { return force.empty() ? 0.0 : force[body]; }
};

struct ContactLook;

class ContactField {
  public:
    ContactField(const Model& model, const State& state);
    // Before any candidates are found: these bodies touch as the round things that they are drawn for.
    void make_round(const Model& model, const std::vector<char>& bodies, double dhat);

    // New candidates for the bodies' reference motions.
    void rebuild(const Model& model, const std::vector<Motion>& motions, const ContactScale& scale,
                 const ContactLoads& loads);
    // The same, where only the reference motions of some bodies have changed: what is known of other pairs stays.
    void rebuild(const Model& model, const std::vector<Motion>& motions, const std::vector<char>& changed,
                 const ContactScale& scale, const ContactLoads& loads);
    // A step with the candidates there are.
    void start_step(const Model& model, const ContactScale& scale, const ContactLoads& loads);

    int pair_count() const { return static_cast<int>(set_.pairs.size()); }
    const CandidatePair& pair(int k) const { return set_.pairs[k]; }
    PairContacts& contacts(int k) { return contacts_[set_.pairs[k].slot]; }
    const PairContacts& contacts(int k) const { return contacts_[set_.pairs[k].slot]; }
    const ContactShape& shape(int body) const { return *points_[body].shape; }
    const Box3& local_box(int body) const { return points_[body].shape->shape->box; }
    std::size_t candidate_count() const {
        std::size_t count = 0;
        for (const CandidatePair& pair : set_.pairs) count += pair.end - pair.begin;
        return count;
    }
    const CandidateSet& candidates() const { return set_; }
    const std::vector<const ContactShape*>& shapes() const { return body_shapes_; }

    void set_pose(int body, const Mat34& q);  // updates vertex positions when it changed
    void set_trial(int body, const Mat34& q_from, const Mat34& q_to);
    // The same in two parts: without the second, only whether pairs may close can be asked.
    void plan_trial(int body, const Mat34& q_from, const Mat34& q_to);
    void place_trial(int body);
    bool may_close(int k, double t_max, double keep) const;  // false: the whole trial step is safe
    void evaluate(int k);  // contacts of pair k at the present poses; nothing to do where neither body moved
    // Whether bodies of pair k, as last evaluated, are within their minimum separation.
    bool overlaps(int k) const { return contacts(k).energy >= 1e300; }
    // Positive part of force x (-second derivative of the distance): up to two directions. Returns their number.
    int curvatures(int k, const ContactPoint& point, std::array<ContactCurvature, 2>& out) const;
    void lag_friction(int k);  // takes present contacts as the friction's normal forces
    double safe_step(int k, double t_max, double keep) const;           // along the trial step, CCD
    double least_gap(int k) const { return least_gap(set_.pairs[k]); }  // m: no step closes a gap below it
    // Where pair k's contacts have come far closer than barriers usually let them: a stronger one from the next evaluation
    // on. True when that was so.
    bool stiffen_if_close(int k);

    // Contact ranges at the start of a step, with all poses set: of pairs that are closer than the scene's range when the
    // method starts (`fresh`), their gap; of those that have a shorter range, as far as their gap has grown.
    void grow_ranges(const ContactScale& scale, const ContactLoads& loads, double smallest_dhat, bool fresh);
    // At the end of a step: keeps what was stiffened, half of it where there is no need any more.
    void keep_stiffening();
    PairMemory& memory() { return memory_; }
    const PairMemory& memory() const { return memory_; }

  private:
    void compact();
    void set_barrier(PairContacts& pair, const CandidatePair& bodies, const ContactScale& scale,
                     const ContactLoads& loads, double dhat, double stiffening);
    void note_starts(const std::vector<Motion>& motions);
    void start_pair(int k);
    void find_touching_points(const CandidatePair& bodies, PairContacts& pair) const;
    float weight_of(const CandidatePair& bodies, Candidate& candidate) const;
    void collect(const CandidatePair& bodies, PairContacts& pair);
    void look_at(const CandidatePair& bodies, const ContactRange& range, ContactLook& look);
    void find_repeats(const CandidatePair& bodies, const ContactLook& look) const;
    void merge(const CandidatePair& bodies, const ContactLook& look, PairContacts& pair);
    double safe_step(const CandidatePair& bodies, int k, double t_max, double keep) const;
    double least_clear(const CandidatePair& bodies, const PairContacts& pair, double t_max,
                       double keep) const;
    double least_gap(const CandidatePair& bodies) const;
    void find_near(const CandidatePair& bodies, const PairContacts& pair, double t_max, double keep,
                   std::vector<int>& near) const;

    std::vector<std::unique_ptr<ContactShape>> shape_table_, round_table_;  // per world shape
    std::vector<const ContactShape*> body_shapes_;
    std::vector<BodyPoints> points_;
    CandidateBuilder builder_;
    CandidateSet set_;
    std::vector<Mat34>
        start_;  // per body: where it was when the step began that its candidates were found in
    std::vector<PairContacts> contacts_;  // by slots
    // Per candidate.
    struct Known {
        std::vector<float>
            clear;  // at most its distance when last looked at, plus the odometers of both bodies then
        std::vector<geometry::LooseDirection>
            toward;  // from its second side's closest point to the first's when last looked at

        void grow(std::size_t count) {
            if (count <= clear.size()) return;
            clear.resize(count);
            toward.resize(count);
        }
    };
    Known known_;
    PairMemory memory_;
    std::vector<int> added_;  // pairs of the last partial rebuild
};

}  // namespace tenon::affine
