#include "sweep/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sweep/task.hpp"

namespace tenon::sweep {
namespace {

using Rows = std::vector<std::vector<Cell>>;

double along(const Parameter& parameter, double part) {
    if (parameter.logarithmic)
        return std::exp(std::log(parameter.from) +
                        part * (std::log(parameter.to) - std::log(parameter.from)));
    return parameter.from + part * (parameter.to - parameter.from);
}

// The k-th of a grid's values; both ends exactly.
Cell grid_value(const Parameter& parameter, long k) {
    if (!parameter.is_range) return parameter.values[static_cast<std::size_t>(k)];
    if (k == 0) return parameter.from;
    if (k == parameter.count - 1) return parameter.to;
    const double value = along(parameter, static_cast<double>(k) / static_cast<double>(parameter.count - 1));
    return parameter.integer ? std::round(value) : value;
}

long grid_size(const Parameter& parameter) {
    return parameter.is_range ? parameter.count : static_cast<long>(parameter.values.size());
}

// The last parameter varies fastest.
Rows grid(const Plan& plan) {
    Rows rows(1);
    for (const Parameter& parameter : plan.parameters) {
        Rows longer;
        for (const std::vector<Cell>& row : rows)
            for (long k = 0; k < grid_size(parameter); ++k) {
                longer.push_back(row);
                longer.back().push_back(grid_value(parameter, k));
            }
        rows = std::move(longer);
    }
    return rows;
}

// `u` in [0, 1) picks from the values or the range.
Cell drawn(const Parameter& parameter, double u) {
    if (!parameter.is_range) {
        const auto index = static_cast<std::size_t>(u * static_cast<double>(parameter.values.size()));
        return parameter.values[std::min(index, parameter.values.size() - 1)];
    }
    if (!parameter.integer) return along(parameter, u);
    const double value = parameter.logarithmic
                             ? std::round(along(parameter, u))
                             : parameter.from + std::floor(u * (parameter.to - parameter.from + 1));
    return std::min(value, parameter.to);
}

Rows random_rows(const Plan& plan) {
    SampleRandom random(static_cast<std::uint64_t>(plan.sample_seed));
    Rows rows(static_cast<std::size_t>(plan.count));
    for (std::vector<Cell>& row : rows)
        for (const Parameter& parameter : plan.parameters) row.push_back(drawn(parameter, random.unit()));
    return rows;
}

// Latin hypercube: every parameter is cut into `count` equal strata, and each stratum is used once.
Rows latin_rows(const Plan& plan) {
    SampleRandom random(static_cast<std::uint64_t>(plan.sample_seed));
    const auto count = static_cast<std::size_t>(plan.count);
    Rows rows(count);
    std::vector<std::size_t> stratum(count);
    for (const Parameter& parameter : plan.parameters) {
        std::iota(stratum.begin(), stratum.end(), std::size_t{0});
        for (std::size_t i = count; i > 1; --i) std::swap(stratum[i - 1], stratum[random.below(i)]);
        for (std::size_t i = 0; i < count; ++i) {
            const double u = (static_cast<double>(stratum[i]) + random.unit()) / static_cast<double>(count);
            rows[i].push_back(drawn(parameter, u));
        }
    }
    return rows;
}

Rows listed(const Plan& plan) {
    std::vector<std::string> keys = parameter_columns(plan);
    keys.erase(keys.begin(), keys.begin() + static_cast<long>(!plan.methods.empty()) +
                                 static_cast<long>(!plan.seeds.empty()));
    Rows rows;
    for (const auto& run : plan.runs) {
        std::vector<Cell>& row = rows.emplace_back(keys.size());
        for (const auto& [key, value] : run)
            row[static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin())] = value;
    }
    return rows;
}

}  // namespace

std::vector<std::vector<Cell>> samples(const Plan& plan) {
    switch (plan.sampling) {
        case Sampling::random:
            return random_rows(plan);
        case Sampling::latin:
            return latin_rows(plan);
        case Sampling::list:
            return listed(plan);
        default:
            return grid(plan);
    }
}

}  // namespace tenon::sweep
