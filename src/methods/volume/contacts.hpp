// From bodies to volume contacts: pairs, their intersection volumes by cells, contact frames (section 4.2), and the rows
// of the complementarity problems.
#pragma once

#include <memory>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "methods/volume/intersection.hpp"
#include "methods/volume/motion.hpp"
#include "solve/pgs.hpp"
#include "tenon/world.hpp"

namespace tenon::volume {

// One cell of one pair's intersection. Bodies are numbered as in Contact: elastic ones after the rigid ones.
struct VolumeContact {
    int a = -1, b = -1;
    CellVolume cell;
    Vec3 normal = Vec3::Zero();  // from a to b
    std::array<Vec3, 2> tangent;
    Vec3 center = Vec3::Zero();
    double area = 0.0;  // projected on the normal
    double friction = 0.0;
    double depth() const { return cell.volume() / area; }  // mean
};

struct ContactSettings {
    Grid grid;
    bool self_contact = true;  // of elastic bodies
    double inflate = 0.0;      // m: surfaces are moved outward by this much
};

class ContactFinder {
  public:
    ContactFinder(const World& world, const ContactSettings& settings);

    // Contacts at the positions in `motion`, in an order that depends on nothing but those.
    void find(const World& world, const Motion& motion, std::vector<VolumeContact>& contacts);

    const IntersectionStats& stats() const { return stats_; }
    const std::vector<std::string>& warnings() const {
        return warnings_;
    }  // bodies that cannot take part, and why
    const Grid& grid() const { return settings_.grid; }

  private:
    struct ShapeSurface {
        Mesh mesh;
        std::vector<Edge> edges;
        geometry::SurfaceTree tree;
        bool usable = false;
    };

    void prepare_shapes(const World& world);
    void place(const World& world, const Motion& motion);
    void prepare_touching(const World& world);
    void add_contacts(const World& world, int a, int b, std::vector<CellVolume>& cells,
                      std::vector<VolumeContact>& contacts) const;

    ContactSettings settings_;
    std::vector<std::unique_ptr<ShapeSurface>> shapes_;
    std::vector<Mesh> elastic_mesh_;
    std::vector<std::vector<Edge>> elastic_edges_;
    std::vector<geometry::SurfaceTree> elastic_tree_;
    std::vector<Solid> solids_;
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    geometry::BroadPhase broad_phase_;
    std::vector<geometry::ItemPair> pairs_;
    IntersectionStats stats_;
    std::vector<std::string> warnings_;
};

// Rows of contacts for the velocity problem (one normal and two friction rows each, Eqs. 16, 17, 21) or, without
// friction, for the position problem (Eqs. 18, 19) with the allowed mean depth left in place. Rows are divided by the
// contact's area, so that unknowns are impulses and residuals velocities (or lengths).
class ContactRows {
  public:
    ContactRows(const World& world, const Motion& motion) : world_(world), motion_(motion) {}

    void velocity_problem(const std::vector<VolumeContact>& contacts, bool at_center);
    void position_problem(const std::vector<VolumeContact>& contacts, double allowed_depth);
    const solve::PgsProblem& problem() const { return problem_; }

  private:
    void add_row(const VolumeContact& contact, const Vec3& direction, bool at_center);
    void add_side(const VolumeContact& contact, int side, const Vec3& direction, bool at_center);

    const World& world_;
    const Motion& motion_;
    solve::PgsProblem problem_;
    std::vector<int> columns_, b_columns_;
    std::vector<double> j_, b_;
};

}  // namespace tenon::volume
