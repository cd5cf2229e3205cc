// Contacts of wholly rigid solids that lie still on fixed bodies: only those that span the support are solved.
//
// Elastic solids rest on many vertices, a rigid body on four. While nothing changes, the others go on pushing as they
// did: the same load for the oracle, and one wrench for the solver. When a solved one notices something, all are solved again.
#pragma once

#include "methods/adaptive/contacts.hpp"

namespace tenon::adaptive {

class RestingContacts {
  public:
    // Takes contacts that need no solving out of `points`. `still`: the speed below which a solid rests.
    void take(const std::vector<Solid>& solids, const std::vector<SolidState>& states,
              const std::vector<PairRange>& ranges, double still, std::vector<TouchPoint>& points);
    // Gives a solid's contacts back: it is no longer rigid.
    void release(int solid, std::vector<TouchPoint>& points);

    const std::vector<TouchPoint>& held() const { return held_; }
    // Impulse and its moment about the solid's centre, of the contacts that are held.
    const std::vector<Vec6>& pushes() const { return pushes_; }

    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    struct Patch {  // a solid on a fixed body
        int solid = -1, body = -1, count = 0, calm = 0;
        bool on = false;
        Vec6 push = Vec6::Zero();
        std::vector<char> solved;     // of its contacts, in their order
        std::vector<Vec3> reference;  // impulses of those when the others were taken out
    };
    void sort_patches();
    Patch* find(int solid, int body);
    void take_patch(Patch& patch, const SolidState& state, const TouchPoint* points) const;
    void set_apart(const std::vector<PairRange>& ranges, std::vector<TouchPoint>& points);
    bool as_before(const Patch& patch, const TouchPoint* points) const;

    std::vector<Patch> patches_, next_;
    std::vector<std::pair<std::uint64_t, int>> sorted_;  // patches by solid and body
    std::vector<TouchPoint> held_, kept_;
    std::vector<Vec6> pushes_;
    std::vector<char> touched_;
};

}  // namespace tenon::adaptive
