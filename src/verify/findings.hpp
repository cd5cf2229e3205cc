// Collects findings: the same trouble between the same bodies is one entry, with a count.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "verify/verify.hpp"

namespace tenon::verify {

class FindingList {
  public:
    explicit FindingList(std::size_t max_listed) : max_listed_(max_listed) {}

    void add(Finding finding);  // its text is completed with frame, time and names
    std::vector<Finding> take() { return std::move(list_); }

  private:
    std::size_t max_listed_;
    std::vector<Finding> list_;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index_;
};

}  // namespace tenon::verify
