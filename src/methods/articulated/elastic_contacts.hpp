// Where elastic solids touch: vertices of a solid against signed distances of bodies, probes of bodies and vertices of
// other solids against the triangles of a solid. The law of a contact is that of bodies.
//
// A contact with what does not move freely joins the solid's own matrix; one between two that move is three soft rows of the
// coupling (ElasticComponent). A solid does not touch itself, nor what it is pinned to.
#pragma once

#include "geometry/bvh.hpp"
#include "methods/articulated/contacts.hpp"
#include "methods/articulated/elastic_solid.hpp"

namespace tenon::articulated {

// Elastic solids are numbered after the bodies. An end on a solid has a point of it, one on a body xa or xb of the law.
struct ElasticContact {
    ContactPoint law;
    std::array<int, 2> solid{{-1, -1}};
    std::array<SolidPoint, 2> point;
    bool both_move = false;
};

class ElasticContacts {
  public:
    ElasticContacts(const Model& model, const std::vector<ElasticSolid>& solids,
                    const ContactOptions& options);

    // The contacts of the step that begins. `hit`: solids, by number, that meet something at speed; `impacts` receives the
    // bodies that do.
    void find(const Model& model, const State& state, const BodyField& field,
              const std::vector<ElasticSolid>& solids, double h, std::vector<char>& hit,
              std::vector<int>& impacts);

    std::vector<ElasticContact>& points() { return points_; }
    const std::vector<ElasticContact>& points() const { return points_; }

    static Vec3 separation(const ElasticContact& contact, const BodyField& field,
                           const std::vector<ElasticSolid>& solids);
    double slide() const { return slide_; }

    void write(const BodyField& field, const std::vector<ElasticSolid>& solids, Outputs& outputs) const;
    double min_distance(const BodyField& field, const std::vector<ElasticSolid>& solids) const;

    void remember();
    const ContactForces& forces() const { return last_force_; }
    void set_forces(const ContactForces& forces) { last_force_ = forces; }
    void save(std::ostream& out) const { save_forces(last_force_, out); }
    void load(std::istream& in) { load_forces(last_force_, in); }

  private:
    struct Side {  // of a contact that was found
        int body = -1, solid = -1;
        SolidPoint point;
        Vec3 at = Vec3::Zero();
    };
    struct Nearest {
        bool found = false;
        double distance = 0.0;
        Vec3 normal = Vec3::Zero();
        SolidPoint point;
    };
    struct Step {  // what a search works on
        const Model& model;
        const State& state;
        const BodyField& field;
        const std::vector<ElasticSolid>& solids;
        double h = 0.0;
        std::vector<char>& hit;
        std::vector<int>& impacts;
    };
    Nearest nearest(const ElasticSolid& solid, const std::vector<Vec3>& x, const Vec3& point,
                    double reach) const;
    void solid_on_body(const Step& step, int solid, int body, const Box3& box, double near);
    void body_on_solid(const Step& step, int body, int solid, double near);
    void solid_on_solid(const Step& step, int of, int on, double near);
    void add(const Step& step, const Side& a, const Side& b, const Vec3& normal, double distance,
             std::uint64_t feature);

    ContactOptions options_;
    std::vector<geometry::collide::Collider> colliders_;  // per shape
    std::vector<std::vector<Probe>> probes_;              // per shape
    std::vector<int> bodies_;                             // that collide
    std::vector<std::vector<char>> holds_;                // per solid: bodies that it is pinned to
    std::vector<geometry::Bvh> trees_;                    // of the solids' triangles
    std::vector<Box3> boxes_;                             // of solids
    std::vector<Box3> triangle_boxes_;
    std::vector<ElasticContact> points_;
    ContactForces last_force_;
    double slide_ = 0.0;
};

}  // namespace tenon::articulated
