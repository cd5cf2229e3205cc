// Laws that hold whatever the method: bodies that nothing touches fall, velocities carry positions, energy has a source.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "verify/bodies.hpp"
#include "verify/facts.hpp"
#include "verify/findings.hpp"

namespace tenon::verify {

class FlightAudit {
  public:
    FlightAudit(const run::RunReader& run, const nlohmann::json& scene, const SceneFacts& facts);

    // Two neighbouring frames with everything's boxes in them.
    void add(long index, const run::Frame& before, const run::Frame& now,
             const std::vector<Box3>& boxes_before, const std::vector<Box3>& boxes_now, Result& result,
             FindingList& findings);
    void finish(Result& result, FindingList& findings);

  private:
    bool is_free(std::size_t body) const { return free_[body] != 0; }
    std::vector<char> alone(const run::Frame& before, const run::Frame& now,
                            const std::vector<Box3>& boxes_before, const std::vector<Box3>& boxes_now) const;
    Vec3 unexplained_push(std::size_t body, const Vec3& push, long steps) const;
    void check_fall(long index, std::size_t body, const run::Frame& before, const run::Frame& now,
                    Result& result, FindingList& findings);
    void weigh_velocity(std::size_t body, const run::Frame& before, const run::Frame& now);
    double radius(std::size_t body) const;

    const run::RunReader& run_;
    const SceneFacts& facts_;
    std::vector<char> free_;  // no joints, forces, scripts or fixed axes
    bool multistep_ = false;  // velocities remember the step before
    // Per body: the change of velocity beyond gravity's since the frame before; none after something was near.
    std::vector<std::optional<Vec3>> push_;
    bool mends_overlaps_ = false;      // moves bodies apart that overlap, without a velocity
    bool damped_ = false;              // the scene or the method slows free bodies
    double agreeing_ = 0.0;            // path lengths whose velocities explain them, m
    std::vector<double> disagreeing_;  // per body, those whose velocities do not
    long last_frame_ = 0;
    double last_time_ = 0.0;
    std::vector<double> worst_;  // per body, the largest disagreement, m/s
};

}  // namespace tenon::verify
