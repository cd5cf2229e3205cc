#include "bench/bench.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/python.hpp"
#include "bench/robots.hpp"

namespace tenon::bench {

Row& Row::set(const std::string& name, double value) {
    fields_.emplace_back(name, value);
    return *this;
}

Row& Row::set(const std::string& name, const std::string& value) {
    fields_.emplace_back(name, value);
    return *this;
}

std::string Row::to_json() const {
    nlohmann::ordered_json object;
    for (const auto& [name, value] : fields_)
        std::visit([&, &key = name](const auto& v) { object[key] = v; }, value);
    return object.dump();
}

std::string Row::to_text() const {
    std::string text;
    for (const auto& [name, value] : fields_) {
        if (!text.empty()) text += "  ";
        if (const double* number = std::get_if<double>(&value))
            text += fmt::format("{}={:.4g}", name, *number);
        else
            text += fmt::format("{}={}", name, std::get<std::string>(value));
    }
    return text;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A new benchmark adds its declaration to bench.hpp and one line here.
const std::vector<Bench>& all_benches() {
    static const std::vector<Bench> benches = {
        adaptive_bench(), articulated_bench(), affine_bench(), impulse_bench(), io_bench(),
        python_bench(),   robots_bench(),      solve_bench(),  volume_bench(),
    };
    return benches;
}

}  // namespace tenon::bench
