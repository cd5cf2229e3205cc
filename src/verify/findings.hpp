// Collects findings: the same trouble between the same bodies is one entry, with a count.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "verify/verify.hpp"

namespace tenon::verify {

// A finding about a frame, its text still without frame, time and names.
inline Finding finding(const char* kind, long frame, double time, const std::string& a,
                       const std::string& text, double amount = 0.0) {
    Finding made;
    made.kind = kind;
    made.frame = frame;
    made.time = time;
    made.a = a;
    made.text = text;
    made.amount = amount;
    return made;
}

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
