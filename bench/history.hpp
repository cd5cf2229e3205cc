// Rows of an earlier run of the benchmarks, to see the present ones beside.
#pragma once

#include <map>
#include <string>

#include "bench/bench.hpp"

namespace tenon::bench {

class History {
  public:
    // JSON lines as `tenon bench --json` prints them. Throws InputError with the line that is not one.
    explicit History(const std::string& file);

    // The row with `ms_before`, what the same case took in the file, and `ratio`, now over then; as it is when the file has
    // no such case. Medians are compared where a case appears several times.
    Row beside(const Row& row) const;

  private:
    std::map<std::string, std::vector<double>> times_;
};

}  // namespace tenon::bench
