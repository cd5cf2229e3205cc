#include "run/frame_difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace tenon::run {
namespace {

class Comparison {
  public:
    void number(double a, double b, const std::string& body, const auto& quantity) {
        if (std::memcmp(&a, &b, sizeof a) == 0) return;
        if (result.numbers++ == 0) {
            result.body = body;
            result.quantity = quantity();
            result.first = a;
            result.second = b;
        }
        const double apart = std::abs(a - b);
        if (apart > result.largest || std::isnan(apart)) result.largest = apart;
    }
    template <class Matrix>
    void matrix(const Matrix& a, const Matrix& b, const std::string& body, const char* name) {
        for (Eigen::Index column = 0; column < a.cols(); ++column)
            for (Eigen::Index row = 0; row < a.rows(); ++row)
                number(a(row, column), b(row, column), body,
                       [&] { return fmt::format("{}[{},{}]", name, row, column); });
    }
    void vertices(const std::vector<Vec3>& a, const std::vector<Vec3>& b, const std::string& body,
                  const char* name) {
        for (std::size_t i = 0; i < a.size(); ++i)
            for (int k = 0; k < 3; ++k)
                number(a[i][k], b[i][k], body, [&] { return fmt::format("{} {} {}", name, i, "xyz"[k]); });
    }
    FrameDifference result;
};

FrameDifference of_other_size(const std::string& what, double a, double b) {
    FrameDifference made;
    made.quantity = what;
    made.first = a;
    made.second = b;
    made.largest = std::abs(a - b);
    made.numbers = 1;
    return made;
}

}  // namespace

std::string FrameDifference::text() const {
    const std::string who = body.empty() ? "" : fmt::format("body '{}', ", body);
    return fmt::format("{}{}: {:.17g} against {:.17g}", who, quantity, first, second);
}

std::optional<FrameDifference> difference(const Frame& a, const Frame& b,
                                          const std::vector<std::string>& bodies,
                                          const std::vector<std::string>& elastic) {
    const auto count = [](std::size_t n) { return static_cast<double>(n); };
    if (a.q.size() != b.q.size())
        return of_other_size("number of bodies", count(a.q.size()), count(b.q.size()));
    if (a.x.size() != b.x.size())
        return of_other_size("number of elastic bodies", count(a.x.size()), count(b.x.size()));
    Comparison comparison;
    comparison.number(static_cast<double>(a.step), static_cast<double>(b.step), "", [] { return "step"; });
    comparison.number(a.time, b.time, "", [] { return "time"; });
    for (std::size_t i = 0; i < a.q.size(); ++i) {
        comparison.matrix(a.q[i], b.q[i], bodies[i], "pose");
        comparison.matrix(a.rate[i], b.rate[i], bodies[i], "velocity");
    }
    for (std::size_t e = 0; e < a.x.size(); ++e) {
        if (a.x[e].size() != b.x[e].size())
            return of_other_size("number of vertices of " + elastic[e], count(a.x[e].size()),
                                 count(b.x[e].size()));
        comparison.vertices(a.x[e], b.x[e], elastic[e], "position of vertex");
        comparison.vertices(a.v[e], b.v[e], elastic[e], "velocity of vertex");
    }
    if (comparison.result.numbers == 0) return std::nullopt;
    return comparison.result;
}

std::vector<std::string> body_names(const RunReader& run) {
    std::vector<std::string> names;
    for (const BodyInfo& body : run.bodies()) names.push_back(body.name);
    return names;
}

std::vector<std::string> elastic_names(const RunReader& run) {
    std::vector<std::string> names;
    for (const ElasticInfo& body : run.elastic()) names.push_back(body.name);
    return names;
}

}  // namespace tenon::run
