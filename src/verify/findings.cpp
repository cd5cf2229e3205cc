#include "verify/findings.hpp"

#include <fmt/format.h>

namespace tenon::verify {

void FindingList::add(Finding finding) {
    const auto key = std::make_tuple(finding.kind, finding.a, finding.b);
    const auto known = index_.find(key);
    if (known != index_.end()) {
        ++list_[known->second].times;
        return;
    }
    if (list_.size() >= max_listed_) return;
    std::string who = finding.b.empty() ? finding.a : finding.a + " and " + finding.b;
    if (!who.empty()) who = ", " + who;
    finding.text = fmt::format("frame {} ({:.6g} s){}: {}", finding.frame, finding.time, who, finding.text);
    index_[key] = list_.size();
    list_.push_back(std::move(finding));
}

}  // namespace tenon::verify
