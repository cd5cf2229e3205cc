// Benchmarks: each prints rows that hold a time and the quality reached, as a table or as JSON lines.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::bench {

using Value = std::variant<double, std::string>;

// Fields in the order they were set: bench, case, engine, method, size, threads, ms_per_step come first by
// custom, then max_penetration, joint_residual_max, intersections, error where they apply.
class Row {
  public:
    Row& set(const std::string& name, double value);
    Row& set(const std::string& name, const std::string& value);
    const std::vector<std::pair<std::string, Value>>& fields() const { return fields_; }
    std::string to_json() const;
    std::string to_text() const;  // "case=net engine=tenon ms_per_step=4.2 ..."

  private:
    std::vector<std::pair<std::string, Value>> fields_;
};

struct Options {
    std::string only;                              // a case's name or a part of it; empty: all
    bool quick = false;                            // small sizes, to see that it works
    int repeats = 3;                               // medians of this many
    std::string plots;                             // a folder for pictures; empty: none
    std::function<void(const Row&)> print;         // called for each row as soon as it is known
    std::function<void(const std::string&)> note;  // remarks: missing peers, what a table shows

    bool wants(const std::string& name) const {
        cases.push_back(name);
        return only.empty() || name.find(only) != std::string::npos;
    }
    mutable std::vector<std::string> cases;  // every name asked for
};

struct Bench {
    std::string name;
    std::string summary;
    void (*run)(const Options&) = nullptr;
};

const std::vector<Bench>& all_benches();

double median(std::vector<double> values);
double seconds_of(const std::function<void()>& work);

// One per file of this folder.
Bench adaptive_bench();
Bench articulated_bench();
Bench impulse_bench();
Bench affine_bench();
Bench io_bench();
Bench solve_bench();
Bench volume_bench();

}  // namespace tenon::bench
