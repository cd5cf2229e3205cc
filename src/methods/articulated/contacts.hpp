// Contact of moving bodies with colliders and with each other, as soft terms of one step.
//
// A contact is a pair of material points and a normal, found at the step's start; its gap is linear in the bodies'
// coordinates. Its potential is convex in the separation: k/2 min(0, gap - aim)^2 for the normal, and for friction, with the
// normal force f_n of the last iteration, mu f_n times the length of the slide u, smoothed below eps_v h. A linear solve has its
// quadratic about the present slide: k_t/2 |u|^2 with k_t = mu f_n / (eps_v h) where the points stick; where they slide along t, the
// force mu f_n along t and k_t = mu f_n / |u| across it. Against a static or scripted body these are terms of one body's
// matrix; between two moving bodies they are soft rows of the dual system (DualRows), so that the body matrices stay separate.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "geometry/collide/collider.hpp"
#include "methods/articulated/body_field.hpp"
#include "methods/articulated/bounded_terms.hpp"
#include "methods/articulated/near_colliders.hpp"
#include "methods/articulated/probes.hpp"

namespace tenon::articulated {

struct ContactOptions {
    double stiffness = 1.0;     // times the stiffness chosen from material and step
    double slide_speed = 1e-3;  // m/s, eps_v: friction is smoothed below it
    int max_iterations = 4;     // solves spent on the active set of contacts
};

// Contact forces are solved for to this share of the largest force.
constexpr double contact_tolerance = 1e-3;

// Names a contact by its bodies and the features that touch: the same from step to step.
std::uint64_t contact_key(int a, int b, std::uint64_t feature);

struct ContactPoint {
    int a = -1, b = -1;  // b moves; a may be static or scripted
    Vec3 xa, xb;         // material points, body frames
    Vec3 normal;         // from a to b
    double stiffness = 0.0, friction = 0.0;
    double aim = 0.0;       // gap that an active contact returns to
    std::uint64_t key = 0;  // of the pair and its features: the same from step to step
    Vec3 start;             // x_b - x_a at the step's start (a at its end pose when it does not move freely)
    bool active = false;    // on the pressing branch
    double force = 0.0;     // normal force at the last iterate
    double friction_limit = 0.0;   // mu f_n, lagged
    double slide_stiffness = 0.0;  // k_t
    Vec3 slides = Vec3::Zero();    // direction of the slide; none where the points stick
    bool both_move = false;
    bool bounces = false;
    // Where something round touches, its radius from `center` stays what it is in the world however the body turns, but for
    // tilts of its axis: another point of it touches.
    struct Round {
        bool is = false;
        Vec3 center = Vec3::Zero(), axis = Vec3::Zero();  // body frame; no axis: a ball
        Vec3 radius = Vec3::Zero();                       // in the world
    };
    Round round_a, round_b;
};

// The law of a contact; `slide`: below this length of a slide friction is smoothed.
// The gradient of the potential with respect to the separation.
Vec3 contact_slope(const ContactPoint& contact, const Vec3& separation, double slide);
// The branch on which a separation is.
void choose_contact_branch(ContactPoint& contact, const Vec3& separation, double slide);
// The friction that a contact's force in a solve allows.
FrictionLimit friction_allowed(ContactPoint& contact, const Vec3& force);
// Normal force and branch at the iterate; by how much friction misses what that force allows, N.
double renew_contact(ContactPoint& contact, const Vec3& separation, double slide);

// The normal, and two directions along the surface, as columns: where the points slide, the first of these is that of the slide.
Mat3 contact_directions(const ContactPoint& contact);
// Stiffness on the present branch along these directions.
Vec3 contact_stiffness(const ContactPoint& contact);

constexpr double overlap_left = 0.8;  // share of an overlap that may remain after a step: no pop

// How far a point of the body can move in the step, by its velocity.
double step_reach(const State& state, const BodyField& field, int body, double radius, double h);
// What a collider's body takes up in the world.
Box3 collider_box(const geometry::collide::Collider& collider, const Mat34& x, double margin);

// Normal forces by key, from one step to the next.
using ContactForces = std::unordered_map<std::uint64_t, double>;
void save_forces(const ContactForces& forces, std::ostream& out);
void load_forces(ContactForces& forces, std::istream& in);

class ContactSet {
  public:
    ContactSet(const Model& model, const State& state, const ContactOptions& options);

    bool enabled() const { return enabled_; }
    // The step that the next ones make up together: overlaps are mended no faster in a step that is cut up.
    void set_whole_step(double dt) { whole_step_ = dt; }

    // Bodies that joints bind: the contacts of each rigid one have to be stiff enough for all of them. An elastic one
    // gives way to its neighbours by itself.
    void carry(const std::vector<int>& bodies, const BodyField& field);

    // Finds the contacts of the step that begins: bodies at the iterate, colliders at the step's end.
    // `impacts` receives moving bodies that are hit at speed.
    void find(const Model& model, const State& state, const BodyField& field, double h,
              std::vector<int>& impacts);

    // Two bodies that have met so fast that they were far beyond each other within a step; -1: none.
    std::pair<int, int> too_fast() const { return too_fast_; }

    // Bodies go from one state to the next. `wake`: they have been put elsewhere by something else.
    void moved(const Model& model, const std::vector<Mat34>& from, const std::vector<Mat34>& to);
    void wake() { near_.wake(); }

    std::vector<ContactPoint>& points() { return points_; }
    const std::vector<ContactPoint>& points() const { return points_; }

    // Terms of contacts with colliders on their present branches, into dense matrices and forces of the bodies they touch.
    void make_dense(BodyField& field, const std::vector<int>& bodies) const;
    // Forces of contacts with colliders at the iterate, as the potentials have them.
    void set_forces(BodyField& field, const std::vector<int>& bodies) const;
    bool touches(int body) const { return !first_of_body_.empty() && first_of_body_[body] >= 0; }

    // The gradient of a contact's potential with respect to the separation.
    Vec3 slope(const ContactPoint& contact, const Vec3& separation) const;
    // The same on the contact's present branch.
    static Vec3 model_slope(const ContactPoint& contact, const Vec3& separation);
    void choose_branch(ContactPoint& contact, const Vec3& separation) const;

    // The points of balls that touch at the iterate, of contacts with colliders and of a list.
    void roll(const BodyField& field, const std::vector<int>& bodies);
    void roll_listed(const BodyField& field, const std::vector<int>& contacts);

    // Normal forces and branches at the iterate. Returns by how much the friction of one misses what its force allows, N.
    double renew(const BodyField& field, int body);
    double renew(const BodyField& field, const std::vector<int>& contacts);

    // The contacts of a body with colliders, by index: the first, and the next; -1 after the last.
    int first_of(int body) const { return first_of_body_[body]; }
    int next_of(int contact) const { return next_of_body_[contact]; }

    static Vec3 separation(const ContactPoint& contact, const BodyField& field);

    void write(const BodyField& field, Outputs& outputs) const;
    double min_distance(const BodyField& field) const;
    int count() const;  // active ones

    void remember();  // forces by key, for the next step
    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    double renew(ContactPoint& contact, const BodyField& field) const;
    void roll(ContactPoint& contact, const BodyField& field) const;
    void bear_what_is_above(const Model& model, const State& state, const BodyField& field);
    void collider_pairs(const Model& model, const State& state, const BodyField& field, double h);
    void add_pair(const Model& model, const State& state, const BodyField& field, int a, int b, double h,
                  std::vector<int>& impacts);

    ContactOptions options_;
    bool enabled_ = false;
    bool links_collide_ = false;                          // some two moving bodies may touch
    std::vector<geometry::collide::Collider> colliders_;  // per shape
    std::vector<std::vector<Probe>> probes_;              // per shape of moving bodies
    std::vector<int> fixed_;                              // static and scripted bodies that collide
    std::vector<int> moving_;                             // moving bodies that collide
    std::vector<double> carried_;                         // per body, kg: what contacts have to hold
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    std::vector<geometry::ItemPair> pairs_;
    geometry::BroadPhase broad_;  // where links may touch each other
    NearColliders near_;          // where they may not
    std::vector<Box3> fixed_boxes_;
    std::vector<int> hits_;
    geometry::collide::ContactList found_;
    std::vector<ContactPoint> points_;
    std::vector<int> next_of_body_, first_of_body_;  // contacts with colliders, listed per moving body
    ContactForces last_force_;
    double slide_ = 0.0;       // eps_v h of this step
    double whole_step_ = 0.0;  // s
    std::pair<int, int> too_fast_{-1, -1};
    const std::vector<Mat34>* start_ = nullptr;  // poses at the start of this step
    std::vector<double> borne_;  // per body, kg: the heaviest of what rests on it, itself included
};

// The contacts of some bodies with colliders, as terms of a convex solve.
class ColliderTerms : public BoundedTerms {
  public:
    ColliderTerms(ContactSet& contacts, const std::vector<int>& bodies);
    std::size_t term_count() const override { return contact_.size(); }
    void read_terms(const BodyField& field, BoundedTerm* terms) override;
    Vec3 term_slope(std::size_t k, const Vec3& at) const override {
        return contacts_.slope(contacts_.points()[contact_[k]], at);
    }
    void choose_branches(const BoundedTerm* terms) override;
    void list_friction(const BoundedTerm* terms, std::vector<FrictionLimit>& list) override;
    double term_tolerance(std::size_t) const override { return contact_tolerance; }
    double term_noise(std::size_t) const override { return 0.0; }

  private:
    ContactSet& contacts_;
    std::vector<int> contact_;
};

}  // namespace tenon::articulated
