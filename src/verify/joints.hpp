// Joint residuals, recomputed from the scene's own words and the recorded poses.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "run/run_file.hpp"

namespace tenon::verify {

class JointAudit {
  public:
    // Anchors and axes are those of the scene, carried by the bodies from the first frame on.
    JointAudit(const run::RunReader& run, const nlohmann::json& scene, const run::Frame& first);

    std::size_t size() const { return joints_.size(); }
    const std::string& name(std::size_t joint) const { return joints_[joint].name; }

    // Largest violation of each joint's conditions in this frame (m or rad); frames must come in order. Joints
    // that may break count as broken from the first frame on in which they are open beyond `tolerance`.
    std::vector<double> residuals(const run::Frame& frame, double tolerance);

    // By how much each joint's coordinates of the last frame lie beyond their limits (m or rad).
    double limit_excess(std::size_t joint) const;

  private:
    struct Side {
        int body = -1;
        Vec3 point = Vec3::Zero();      // body frame, or the world
        Mat3 frame = Mat3::Identity();  // axis and two normals
    };
    struct Entry {
        std::string name, type;
        std::array<Side, 2> side;
        double length = 0.0;
        bool breakable = false, broken = false;
        bool driven = false;  // a drive holds or pushes along its coordinates
        std::array<int, 2> coupled{-1, -1}, coordinate{0, 0};
        double ratio = 1.0, offset = 0.0;
        std::array<double, 3> value{};  // coordinates of the last frame, angles unwound
        std::array<double, 3> lowest{-1e300, -1e300, -1e300}, highest{1e300, 1e300, 1e300};
    };
    static void read_limits(const nlohmann::json& json, double unit, Entry& joint);
    struct Seen {
        Vec3 point, velocity, spin;
        Mat3 frame;
    };
    Seen see(const run::Frame& frame, const Side& side) const;
    double residual(const Entry& joint, const Seen& a, const Seen& b) const;
    void update_coordinates(Entry& joint, const Seen& a, const Seen& b, double seconds) const;

    std::vector<Entry> joints_;
    double last_time_ = 0.0;
};

}  // namespace tenon::verify
