// The complementarity problems of a step in the space of contact impulses: W = J A^-1 J^T by blocks of contacts.
#pragma once

#include <array>
#include <vector>

#include "methods/volume/contacts.hpp"
#include "methods/volume/motion.hpp"
#include "solve/block_pgs.hpp"

namespace tenon::volume {

// Rows are divided by the contact's area, so that unknowns are impulses (or lengths times masses) and residuals
// velocities (or lengths). A contact has one normal row, and in the velocity problem two friction rows (Eqs. 16, 17, 21).
class ContactProblem {
  public:
    ContactProblem(const Model& model, const State& state, const Motion& motion)
        : model_(model), state_(state), motion_(motion) {}

    // Velocities without approach, with a friction pyramid.
    void set_velocities(const std::vector<VolumeContact>& contacts, bool friction_at_center);

    // Positions (Eqs. 18, 19) with the allowed mean depth left in place, that many pixels, and what is deeper than
    // `most_pixels` beyond that. `whole`: elastic bodies that move without changing shape, those that are pinned not at
    // all.
    void set_positions(const std::vector<VolumeContact>& contacts, double allowed_pixels, bool whole,
                       double most_pixels = 1e300);

    // Builds W; needed before solve().
    void couple();

    // A first guess of the normal impulses: even pressure over each patch, that is, over the contacts of one pair of
    // bodies. How rigid bodies share a load among contacts is undetermined; without this, it would be by their order.
    void guess(const std::vector<VolumeContact>& contacts, std::vector<double>& impulse) const;

    // `impulse` is the warm start and the solution, block() values for each contact; `change` gets A^-1 J^T impulse.
    solve::PgsResult solve(const solve::BlockPgsSettings& settings, std::vector<double>& impulse,
                           std::vector<double>& change);

    int block() const { return block_; }
    // J v of one contact, at the motion's velocities.
    Vec3 relative_velocity(int contact) const;
    void respond(const std::vector<double>& impulse, std::vector<double>& change) const;

  private:
    void polish(const solve::BlockPgsSettings& settings, std::vector<double>& impulse,
                solve::PgsResult& result) const;
    using Rows6 = Eigen::Matrix<double, 6, 3>;
    // What one body has of a contact's rows: six coordinates each, or one weight per vertex for all of them.
    struct Side {
        int contact = -1;
        Rows6 rigid = Rows6::Zero();                 // J^T
        std::vector<std::pair<int, double>> weight;  // (vertex, weight), ascending
        std::vector<int> place;                      // of each in the participant's vertices
    };
    struct Reference {
        int participant = -1, side = -1;
    };
    // A body as the problem sees it.
    struct Participant {
        int body = -1;
        bool as_rigid = true;
        Eigen::Matrix<double, 6, 6> inverse_mass = Eigen::Matrix<double, 6, 6>::Zero();
        Vec3 center = Vec3::Zero();
        std::vector<Side> sides;
        std::vector<Rows6> rigid_response;  // A^-1 J^T of each side
        std::vector<Eigen::Matrix3Xd>
            elastic_response;       // the same at the vertices below, by rows of the block
        std::vector<int> vertices;  // that any side touches, ascending
    };

    void begin(const std::vector<VolumeContact>& contacts, int block, bool whole);
    void add_contact(const VolumeContact& contact, int index, bool friction_at_center);
    void add_side(const VolumeContact& contact, int index, int side, bool friction_at_center);
    void gather_weights(const VolumeContact& contact, int side, Side& out) const;
    void prepare_whole_body(Participant& participant) const;
    void respond_elastic(Participant& participant) const;
    void add_block(const Participant& participant, const Side& from, std::size_t to, double* block) const;
    Participant& participant_of(int body);

    const Model& model_;
    const State& state_;
    const Motion& motion_;
    int block_ = 1;
    bool whole_ = false;
    std::vector<std::array<Vec3, 3>> direction_;  // of each contact's rows
    std::vector<Participant> participants_;
    std::vector<int> participant_of_body_;
    std::vector<std::array<Reference, 2>> sides_of_;  // of each contact; a surface that meets itself has one
    solve::BlockLcp lcp_;
};

}  // namespace tenon::volume
