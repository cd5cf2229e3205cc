// A sweep's plan: which runs to make, and what to keep of each. docs/sweep.md describes the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweep/cell.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::sweep {

// What one parameter takes: values one by one, or a range.
struct Parameter {
    std::string key;  // a path as after --set
    std::vector<Cell> values;
    bool is_range = false;
    double from = 0.0, to = 1.0;
    long count = 0;  // of a grid
    bool logarithmic = false, integer = false;
};

enum class Sampling { grid, random, latin, list };

// One column of the results table.
struct ResultSpec {
    enum class Kind { series, report, verify, expect };
    std::string name, expression;
    Kind kind = Kind::series;
    std::string statistic;  // of a series: last, first, min, max, mean, time_of_min, time_of_max
    std::string field;      // the series, or the path inside the report or the verdict
};

struct Plan {
    std::string file, folder;  // of the plan itself
    std::string text;
    std::string name;
    std::vector<std::string> scenes;   // as written: built-in names, or files relative to the plan
    std::vector<std::string> methods;  // empty: each scene's own
    std::vector<long> seeds;
    std::string seed_parameter = "seed";
    std::vector<Override> set;  // the same for all runs
    Sampling sampling = Sampling::grid;
    long count = 0;  // of random and Latin samples
    long sample_seed = 1;
    std::vector<Parameter> parameters;
    std::vector<std::vector<std::pair<std::string, Cell>>> runs;  // of a list
    std::vector<ResultSpec> results;
    double fps = 60.0;
    int record_every = 0;
    bool keep_runs = false, allow_unconverged = false;
    double seconds_limit = 0.0;  // of wall time per run; 0: none
};

// The names a result may have besides series: fields of a report and of a verdict, as paths ("energy.end").
struct KnownFields {
    std::vector<std::string> report, verify;
};

// Throws InputError with the path inside the plan.
Plan read_plan(const std::string& file, const KnownFields& known);

// Names of the columns that tell the runs apart, in their order: method, seed, parameters.
std::vector<std::string> parameter_columns(const Plan& plan);

}  // namespace tenon::sweep
