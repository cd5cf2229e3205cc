// Which bodies belong together: union and find, the smallest index names the set.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

namespace tenon::impulse {

class DisjointSets {
  public:
    void reset(std::size_t count) {
        parent_.resize(count);
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    int root(int i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(int a, int b) {
        a = root(a);
        b = root(b);
        if (a > b) std::swap(a, b);
        parent_[b] = a;
    }

  private:
    std::vector<int> parent_;
};

}  // namespace tenon::impulse
