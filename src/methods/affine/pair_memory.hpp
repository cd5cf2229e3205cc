// What pairs of bodies carry from step to step: a contact range shorter than the scene's, a stiffer barrier than usual.
//
// Where bodies start is not energy: a pair that starts closer than the contact range dhat acts from its own gap on, and
// its range grows only as far as the gap does. A barrier that a load has pressed to a small part of its range is
// stiffened, within the step, and softens again when the load has gone.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::affine {

struct PairRecord {
    int a = 0, b = 0;         // bodies, a < b
    double dhat = 0.0;        // m
    double stiffening = 1.0;  // times the usual strength of the barrier
};

// Pairs that differ from the scene's rule only; all others have its range and stiffness.
class PairMemory {
  public:
    const PairRecord* find(int a, int b) const {
        if (records_.empty()) return nullptr;
        const auto found = std::lower_bound(
            records_.begin(), records_.end(), std::pair(a, b),
            [](const PairRecord& r, const std::pair<int, int>& p) { return std::pair(r.a, r.b) < p; });
        return found != records_.end() && found->a == a && found->b == b ? &*found : nullptr;
    }
    void replace(std::vector<PairRecord> sorted) { records_ = std::move(sorted); }
    // Replaces or adds what is known of some pairs.
    void update(const std::vector<PairRecord>& some) {
        const auto before = [](const PairRecord& r, const PairRecord& s) {
            return std::pair(r.a, r.b) < std::pair(s.a, s.b);
        };
        for (const PairRecord& record : some) {
            const auto at = std::lower_bound(records_.begin(), records_.end(), record, before);
            if (at != records_.end() && at->a == record.a && at->b == record.b)
                *at = record;
            else
                records_.insert(at, record);
        }
    }
    const std::vector<PairRecord>& records() const { return records_; }

  private:
    std::vector<PairRecord> records_;  // by (a, b)
};

}  // namespace tenon::affine
