// What a step moves, kept until the step has succeeded.
#pragma once

#include <vector>

#include "tenon/world.hpp"

namespace tenon {

class LastGoodState {
  public:
    void keep(const World& world) {
        q_ = world.bodies.q;
        rate_ = world.bodies.rate;
        x_.resize(world.elastic.size());
        v_.resize(world.elastic.size());
        for (std::size_t i = 0; i < world.elastic.size(); ++i) {
            x_[i] = world.elastic[i].x;
            v_[i] = world.elastic[i].v;
        }
    }
    void restore(World& world) const {
        world.bodies.q = q_;
        world.bodies.rate = rate_;
        for (std::size_t i = 0; i < world.elastic.size(); ++i) {
            world.elastic[i].x = x_[i];
            world.elastic[i].v = v_[i];
        }
        world.contacts.clear();
    }

    const std::vector<Mat34>& rate() const { return rate_; }  // of the bodies, as kept

  private:
    std::vector<Mat34> q_, rate_;
    std::vector<std::vector<Vec3>> x_, v_;
};

}  // namespace tenon
