// Sets of numbered things that are joined in pairs; the smallest number stands for its set.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace tenon {

class UnionFind {
  public:
    explicit UnionFind(std::size_t count = 0) { reset(count); }

    void reset(std::size_t count) {
        parent_.resize(count);
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    std::size_t size() const { return parent_.size(); }

    int root(int i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    // False when the two were in one set already.
    bool join(int i, int j) {
        i = root(i);
        j = root(j);
        parent_[std::max(i, j)] = std::min(i, j);
        return i != j;
    }

  private:
    std::vector<int> parent_;
};

}  // namespace tenon
