#include "methods/impulse/sleeping.hpp"

#include <algorithm>

#include "math/binary_io.hpp"

namespace tenon::impulse {

void Sleeping::resize(int bodies) {
    asleep_.assign(bodies, 0);
    quiet_.assign(bodies, 0.0);
}

int Sleeping::count() const {
    return static_cast<int>(std::count(asleep_.begin(), asleep_.end(), 1));
}

// Movable bodies that touch belong together; fixed ones do not join groups.
void Sleeping::find_groups(const std::vector<char>& movable, const ContactFinder& finder) {
    groups_.reset(movable.size());
    for (const Manifold& m : finder.manifolds())
        if (m.count > 0 && movable[m.a] && movable[m.b]) groups_.join(m.a, m.b);
}

void Sleeping::wake(const std::vector<char>& movable, const std::vector<char>& active,
                    const ContactFinder& finder) {
    if (std::find(asleep_.begin(), asleep_.end(), 1) == asleep_.end()) return;
    find_groups(movable, finder);
    std::vector<char> wakes(movable.size(), 0);
    for (std::size_t i = 0; i < movable.size(); ++i)
        if (movable[i] && (!asleep_[i] || active[i])) wakes[groups_.root(static_cast<int>(i))] = 1;
    for (const Manifold& m : finder.manifolds()) {
        if (m.count == 0) continue;
        if (movable[m.a] && !movable[m.b] && active[m.b]) wakes[groups_.root(m.a)] = 1;
        if (movable[m.b] && !movable[m.a] && active[m.a]) wakes[groups_.root(m.b)] = 1;
    }
    for (std::size_t i = 0; i < movable.size(); ++i)
        if (asleep_[i] && wakes[groups_.root(static_cast<int>(i))]) {
            asleep_[i] = 0;
            quiet_[i] = 0;
        }
}

const std::vector<int>& Sleeping::settle(const std::vector<char>& movable, const std::vector<double>& speed,
                                         double slow, double dt, double time, const ContactFinder& finder) {
    fell_asleep_.clear();
    bool candidate = false;
    for (std::size_t i = 0; i < movable.size(); ++i) {
        if (!movable[i] || asleep_[i]) continue;
        quiet_[i] = speed[i] < slow ? quiet_[i] + dt : 0.0;
        candidate = candidate || quiet_[i] >= time;
    }
    if (!candidate) return fell_asleep_;
    find_groups(movable, finder);
    group_ready_.assign(movable.size(), 1);
    std::vector<char> touching(movable.size(), 0);  // what floats freely does not sleep
    for (const Manifold& m : finder.manifolds())
        if (m.count > 0) touching[m.a] = touching[m.b] = 1;
    for (std::size_t i = 0; i < movable.size(); ++i)
        if (movable[i] && !asleep_[i] && (quiet_[i] < time || !touching[i]))
            group_ready_[groups_.root(static_cast<int>(i))] = 0;
    for (std::size_t i = 0; i < movable.size(); ++i)
        if (movable[i] && !asleep_[i] && group_ready_[groups_.root(static_cast<int>(i))]) {
            asleep_[i] = 1;
            fell_asleep_.push_back(static_cast<int>(i));
        }
    return fell_asleep_;
}

void Sleeping::save(std::ostream& out) const {
    write_values(out, asleep_);
    write_values(out, quiet_);
}

void Sleeping::load(std::istream& in) {
    read_values(in, asleep_, asleep_.size());
    read_values(in, quiet_, quiet_.size());
}

}  // namespace tenon::impulse
