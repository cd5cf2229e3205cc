#include "run/run_error.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tenon/types.hpp"

namespace tenon::run {
namespace {

constexpr double same_time = 1e-9;

// The frames of a run by time, read once each while time goes on.
class Timeline {
  public:
    explicit Timeline(const RunReader& run) : run_(run) {
        for (const FrameEntry& entry : run.frame_list()) times_.push_back(entry.time);
    }
    bool empty() const { return times_.empty(); }
    double start() const { return times_.front(); }
    double end() const { return times_.back(); }
    const std::vector<double>& times() const { return times_; }

    // The frame of a time within the run: a recorded one, or between two.
    Frame at(double time) {
        const auto after = std::lower_bound(times_.begin(), times_.end(), time - same_time);
        const long next = std::min<long>(after - times_.begin(), static_cast<long>(times_.size()) - 1);
        if (std::abs(times_[next] - time) <= same_time || next == 0) return frame(next);
        const Frame before = frame(next - 1);  // a copy: the next one may take its place
        return between(before, frame(next), time);
    }

  private:
    const Frame& frame(long index) {
        for (Slot& slot : slots_)
            if (slot.index == index) return slot.frame;
        std::swap(slots_[0], slots_[1]);
        slots_[1] = {index, run_.frame(index)};
        return slots_[1].frame;
    }

    // Cubic Hermite: values and rates of both ends.
    template <class T>
    static T cubic(const T& a, const T& va, const T& b, const T& vb, double h, double s) {
        const double s2 = s * s, s3 = s2 * s;
        return (2 * s3 - 3 * s2 + 1) * a + h * (s3 - 2 * s2 + s) * va + (3 * s2 - 2 * s3) * b +
               h * (s3 - s2) * vb;
    }

    static Frame between(const Frame& a, const Frame& b, double time) {
        Frame frame;
        frame.time = time;
        const double h = b.time - a.time, s = (time - a.time) / h;
        for (std::size_t i = 0; i < a.q.size(); ++i)
            frame.q.push_back(cubic<Mat34>(a.q[i], a.rate[i], b.q[i], b.rate[i], h, s));
        for (std::size_t e = 0; e < a.x.size(); ++e) {
            std::vector<Vec3>& x = frame.x.emplace_back(a.x[e].size());
            const bool rates =
                a.v.size() == a.x.size() && a.v[e].size() == a.x[e].size() && b.v[e].size() == b.x[e].size();
            for (std::size_t k = 0; k < x.size(); ++k)
                x[k] = rates ? cubic<Vec3>(a.x[e][k], a.v[e][k], b.x[e][k], b.v[e][k], h, s)
                             : Vec3((1 - s) * a.x[e][k] + s * b.x[e][k]);
        }
        return frame;
    }

    struct Slot {
        long index = -1;
        Frame frame;
    };
    const RunReader& run_;
    std::vector<double> times_;
    Slot slots_[2];
};

// The same body in both runs, and the points of it that are compared.
struct BodyPair {
    std::size_t first, second;
    std::string name;
    std::vector<Vec3> points;
};

std::vector<Vec3> box_corners(const Mesh& mesh) {
    if (mesh.vertices.empty()) return {Vec3::Zero()};
    Vec3 low = mesh.vertices.front(), high = low;
    for (const Vec3& v : mesh.vertices) {
        low = low.cwiseMin(v);
        high = high.cwiseMax(v);
    }
    std::vector<Vec3> corners;
    for (int k = 0; k < 8; ++k)
        corners.emplace_back(k & 1 ? high.x() : low.x(), k & 2 ? high.y() : low.y(),
                             k & 4 ? high.z() : low.z());
    return corners;
}

std::vector<BodyPair> body_pairs(const RunReader& run, const RunReader& reference, std::string& note) {
    std::map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < reference.bodies().size(); ++i) numbers[reference.bodies()[i].name] = i;
    std::vector<BodyPair> pairs;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < run.bodies().size(); ++i) {
        const BodyInfo& body = run.bodies()[i];
        if (body.type == BodyType::static_body) continue;
        const auto found = numbers.find(body.name);
        if (found == numbers.end())
            ++missing;
        else
            pairs.push_back({i, found->second, body.name, box_corners(run.shapes()[body.shape].mesh)});
    }
    if (missing > 0) note += fmt::format("{} bodies are not in the reference; ", missing);
    return pairs;
}

struct SolidPair {
    std::size_t first, second;
    std::string name;
    bool same_mesh;
};

std::vector<SolidPair> solid_pairs(const RunReader& run, const RunReader& reference, std::string& note) {
    std::map<std::string, std::size_t> numbers;
    for (std::size_t e = 0; e < reference.elastic().size(); ++e) numbers[reference.elastic()[e].name] = e;
    std::vector<SolidPair> pairs;
    for (std::size_t e = 0; e < run.elastic().size(); ++e) {
        const ElasticInfo& solid = run.elastic()[e];
        const auto found = numbers.find(solid.name);
        if (found == numbers.end()) {
            note += fmt::format("'{}' is not in the reference; ", solid.name);
            continue;
        }
        const ElasticInfo& other = reference.elastic()[found->second];
        const bool same = solid.rest.size() == other.rest.size() && solid.tets == other.tets;
        if (!same) note += fmt::format("'{}' has another mesh: centres of mass are compared; ", solid.name);
        pairs.push_back({e, found->second, solid.name, same});
    }
    return pairs;
}

Vec3 mass_center(const ElasticInfo& solid, const std::vector<Vec3>& x) {
    Vec3 sum = Vec3::Zero();
    double mass = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum += solid.vertex_mass[i] * x[i];
        mass += solid.vertex_mass[i];
    }
    return mass > 0 ? Vec3(sum / mass) : Vec3::Zero();
}

}  // namespace

RunError run_error(const RunReader& run, const RunReader& reference) {
    RunError error;
    const std::vector<BodyPair> bodies = body_pairs(run, reference, error.note);
    const std::vector<SolidPair> solids = solid_pairs(run, reference, error.note);
    Timeline mine(run), truth(reference);
    if (mine.empty() || truth.empty()) {
        error.note += "no frame to compare; ";
        return error;
    }
    for (const double time : mine.times()) {
        if (time < truth.start() - same_time || time > truth.end() + same_time) continue;
        const Frame a = mine.at(time), b = truth.at(time);
        double worst = 0;
        const auto note = [&](double distance, const std::string& name) {
            worst = std::max(worst, distance);
            if (!(distance > error.largest)) return;
            error.largest = distance;
            error.worst = name;
        };
        for (const BodyPair& pair : bodies)
            for (const Vec3& p : pair.points)
                note((transform(a.q[pair.first], p) - transform(b.q[pair.second], p)).norm(), pair.name);
        for (const SolidPair& pair : solids) {
            const std::vector<Vec3>&x = a.x[pair.first], &y = b.x[pair.second];
            if (!pair.same_mesh)
                note((mass_center(run.elastic()[pair.first], x) -
                      mass_center(reference.elastic()[pair.second], y))
                         .norm(),
                     pair.name);
            else
                for (std::size_t i = 0; i < x.size(); ++i) note((x[i] - y[i]).norm(), pair.name);
        }
        error.time.push_back(time);
        error.each.push_back(worst);
        error.at_end = worst;
        error.end_time = time;
        ++error.frames;
    }
    if (error.frames == 0) error.note += "the reference has none of its times; ";
    return error;
}

std::optional<double> observed_order(double h1, double e1, double h2, double e2, double h_reference) {
    constexpr double rounding = 1e-10;  // m
    if (!(h1 > h2 && h2 > h_reference) || !(e1 > rounding && e2 > rounding)) return std::nullopt;
    const double wanted = e1 / e2;
    const auto ratio = [&](double p) {
        const double base = h_reference > 0 ? std::pow(h_reference, p) : 0.0;
        return (std::pow(h1, p) - base) / (std::pow(h2, p) - base);
    };
    double low = 1e-3, high = 12;  // the ratio grows with p
    if (wanted < ratio(low) || wanted > ratio(high)) return std::nullopt;
    for (int i = 0; i < 80; ++i) {
        const double middle = 0.5 * (low + high);
        (ratio(middle) < wanted ? low : high) = middle;
    }
    return low;
}

}  // namespace tenon::run
