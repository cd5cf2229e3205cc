// Groups of touching bodies that have come to rest are set aside until something touches them.
#pragma once

#include <iosfwd>
#include <vector>

#include "math/union_find.hpp"
#include "methods/impulse/contact_finder.hpp"

namespace tenon::impulse {

class Sleeping {
  public:
    void resize(int bodies);
    bool asleep(int body) const { return asleep_[body]; }
    int count() const;

    // Before the solve: groups with an active member wake. `active` marks kinematic bodies that move, and
    // bodies whose velocity or forces were changed from outside.
    void wake(const std::vector<char>& movable, const std::vector<char>& active, const ContactFinder& finder);

    // After the solve: counts how long each body has been slow, and puts groups to sleep. Returns the new sleepers.
    const std::vector<int>& settle(const std::vector<char>& movable, const std::vector<double>& speed,
                                   double slow, double dt, double time, const ContactFinder& finder);

    void save(std::ostream& out) const;
    void load(std::istream& in);

  private:
    void find_groups(const std::vector<char>& movable, const ContactFinder& finder);

    std::vector<char> asleep_;
    std::vector<double> quiet_;
    UnionFind groups_;
    std::vector<int> fell_asleep_;
    std::vector<char> group_ready_;
};

}  // namespace tenon::impulse
