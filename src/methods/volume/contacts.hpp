// From bodies to volume contacts: pairs, their intersection volumes by cells, and contact frames (section 4.2).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "geometry/broad_phase.hpp"
#include "methods/volume/intersection.hpp"
#include "methods/volume/motion.hpp"
#include "tenon/state.hpp"

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
    double pixel = 0.0;                                                            // m, of its images
    double depth() const { return std::min(cell.volume() / area, cell.reach()); }  // mean
};

struct ContactSettings {
    Grid grid;
    int refine = 0;            // most halvings of the pixel, for pairs with a body under four pixels thin
    bool self_contact = true;  // of elastic bodies
    double inflate = 0.0;      // m: surfaces are moved outward by this much
};

class ContactFinder {
  public:
    ContactFinder(const Model& model, const State& state, const ContactSettings& settings);

    // Contacts at the positions in `motion`, in an order that depends on nothing but those.
    void find(const Model& model, const Motion& motion, std::vector<VolumeContact>& contacts);

    const IntersectionStats& stats() const { return stats_; }
    const std::vector<std::string>& warnings() const {
        return warnings_;
    }  // bodies that cannot take part, and why
    // Bodies with rays that leave them without having entered, in the last find().
    const std::vector<int>& leaking() const { return leaking_; }
    double thickness(int body) const { return thickness_[body]; }  // smallest side of its box at rest
    Grid grid_of(int a, int b) const;                              // of a pair's images
    const Grid& grid() const { return settings_.grid; }

  private:
    struct ShapeSurface {
        Mesh mesh;
        std::vector<Edge> edges;
        geometry::SurfaceTree tree;
        bool usable = false;
    };

    void prepare_shapes(const Model& model);
    void warn_of_open_surfaces(const Model& model);
    void place(const Model& model, const Motion& motion);
    void find_pairs(const Model& model);
    void find_unchanged();
    void prepare_touching(const Model& model);
    void search();
    void collect(const Model& model);
    void add_contacts(const Model& model, int a, int b, std::vector<CellVolume>& cells,
                      std::vector<VolumeContact>& contacts) const;

    ContactSettings settings_;
    std::vector<std::unique_ptr<ShapeSurface>> shapes_;
    std::vector<Mesh> elastic_mesh_;
    std::vector<std::vector<Edge>> elastic_edges_;
    std::vector<geometry::SurfaceTree> elastic_tree_;  // their division into blocks stays
    std::vector<geometry::Bvh> elastic_blocks_;        // boxes of the blocks as they are now
    std::vector<char> stale_;                          // they are not, since nothing came near
    std::vector<char> elastic_usable_;
    std::vector<std::vector<Vec3>> placed_;  // vertices of elastic bodies as they were last seen
    std::vector<char> moved_;                // bodies, since the last search
    struct FoundPair {
        geometry::ItemPair pair;
        IntersectionStats stats;
        std::size_t begin = 0, end = 0;  // of its contacts
    };
    // Of this search and of the last: pairs of which neither body has moved keep what they had.
    std::vector<FoundPair> found_pairs_, last_pairs_;
    std::vector<VolumeContact> found_, last_;
    std::vector<int> unchanged_;                  // of each pair: where it is among the last ones, or -1
    std::vector<int> searched_;                   // pairs that are looked at anew
    std::vector<std::vector<CellVolume>> cells_;  // of these
    std::vector<Solid> solids_;
    std::vector<Box3> boxes_;
    std::vector<char> moves_;
    geometry::BroadPhase broad_phase_;
    std::vector<geometry::ItemPair> pairs_;
    std::vector<Intersection> images_;  // of the pairs searched
    std::vector<double> thickness_;
    std::vector<int> leaking_;
    IntersectionStats stats_;
    std::vector<std::string> warnings_;
};

}  // namespace tenon::volume
