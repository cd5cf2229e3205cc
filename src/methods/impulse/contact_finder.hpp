// From poses to contacts: broad phase, manifolds per pair, and what persists of them between steps.
#pragma once

#include <iosfwd>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "geometry/collide/collide.hpp"
#include "methods/impulse/problem.hpp"
#include "tenon/state.hpp"

namespace tenon::impulse {

// A contact as it persists: anchored in both bodies, with its impulses for the next warm start.
struct ManifoldContact {
    Vec3 local_a, local_b;  // points on the two surfaces, body frames
    Vec3 local_normal;      // in a's frame, from a to b
    Vec3 normal, point;     // world frame, now
    double distance = 0.0;
    double normal_impulse = 0.0;
    Vec3 friction_impulse = Vec3::Zero();  // world frame
    Vec3 total_impulse = Vec3::Zero();     // of the last step, impacts included: reported, no warm start
    std::uint64_t id = 0;                  // as wide as the rest: no padding in checkpoints
};

// The contacts of one pair of bodies.
struct Manifold {
    int a = -1, b = -1;
    int begin = 0, count = 0;
    double friction = 0.0, restitution = 0.0;
    double margin = 0.0;             // contacts farther apart than this were not looked for
    Vec3 relative_t = Vec3::Zero();  // pose of b seen from a when the contacts were found
    Mat3 relative_R = Mat3::Identity();
};

class ContactFinder {
  public:
    ContactFinder(const Model& model, const geometry::SignedDistanceOptions& options);

    // Contacts at the present poses. `twist` looks ahead by dt: what will meet within the step has a contact
    // already. Pairs with no entry set in `awake` keep the contacts they had.
    void find(const Model& model, const State& state, const std::vector<Twist>& twist,
              const std::vector<char>& awake, double dt);

    std::vector<Manifold>& manifolds() { return manifolds_; }
    std::vector<ManifoldContact>& contacts() { return contacts_; }
    const std::vector<Manifold>& manifolds() const { return manifolds_; }
    const std::vector<ManifoldContact>& contacts() const { return contacts_; }
    int pairs_tested() const { return pairs_tested_; }
    double size_of(int body) const { return radius_[body]; }  // a body's own length scale

    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    struct ChunkResult {
        std::vector<Manifold> manifolds;
        std::vector<ManifoldContact> contacts;
        geometry::collide::ContactList found;
        int tested = 0;
        std::size_t first_manifold = 0, first_contact = 0;  // where they go
    };
    void find_pairs(const Model& model, const State& state, const std::vector<Twist>& twist, double dt);
    void find_pair(const Model& model, const State& state, const geometry::ItemPair& pair,
                   const Manifold* old, const std::vector<Twist>& twist, const std::vector<char>& awake,
                   double dt, ChunkResult& out);
    void join(std::size_t chunks);
    bool refresh(const State& state, const Manifold& old, double margin, ChunkResult& out) const;

    std::vector<geometry::collide::Collider> colliders_;  // per shape
    std::vector<double> radius_;                          // per body
    std::vector<char> is_plane_, is_round_;               // per body
    std::vector<int> planes_;
    geometry::BroadPhase broad_phase_;
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    std::vector<geometry::ItemPair> pairs_, raw_pairs_;
    std::vector<Manifold> manifolds_, old_manifolds_;
    std::vector<ManifoldContact> contacts_, old_contacts_;
    std::vector<ChunkResult> chunks_;
    int pairs_tested_ = 0;
};

}  // namespace tenon::impulse
