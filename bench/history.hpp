// Rows of an earlier run of the benchmarks, and the present ones judged beside them.
#pragma once

#include <map>
#include <string>

#include "bench/bench.hpp"

namespace tenon::bench {

// The first line of a history file: which version measured, what, and on how busy a machine.
Row history_header(const std::string& version, const Options& options, int threads);

struct Comparison {
    Row row;             // the measured one with what the file has: `ms_before`, `ratio`, `error_before` ...
    bool known = false;  // the file has this case
    std::vector<std::string> worse;  // one sentence per time or quality that is worse than tolerated
};

class History {
  public:
    // JSON lines as `tenon bench --save` or `--json` write them. Throws InputError with the line that is not one.
    explicit History(const std::string& file);

    // Throws InputError when the file was measured with other sizes.
    void check_sizes(bool quick) const;

    // A time may be longer by this share, an error or a residual larger; intersections and steps that did not converge may not
    // become more. Medians are compared where a case appears several times. Only Tenon's own rows are judged.
    Comparison compare(const Row& row, double tolerance);

    // "7 of 9 cases known, ...", after all rows.
    std::string summary() const;
    int known() const { return known_; }
    // "0.2.0, quick, on a busy machine"; empty without a header.
    const std::string& made_by() const { return made_by_; }

  private:
    using Metrics = std::map<std::string, std::vector<double>>;
    std::map<std::string, Metrics> cases_;
    std::string file_, made_by_;
    int quick_ = -1;  // 1, 0; -1: the file has no header
    int compared_ = 0, known_ = 0;
    std::vector<double> ratios_, peer_ratios_;
};

}  // namespace tenon::bench
