#include "truth/random_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon::test {
namespace {

// Degrees of freedom that a joint leaves between its two bodies.
int freedom(JointType type) {
    switch (type) {
        case JointType::ball:
        case JointType::planar:
            return 3;
        case JointType::universal:
        case JointType::cylindrical:
            return 2;
        case JointType::distance:
            return 5;
        case JointType::hinge:
        case JointType::prismatic:
            return 1;
        default:
            return 0;
    }
}

class Maker {
  public:
    Maker(std::uint64_t seed, const MechanismRange& range) : random_(seed), range_(range) {}

    Scene make() {
        const double dt = between_logs(range_.dt_min, range_.dt_max);
        scene_ = articulated_scene(dt, 2.0);
        scene_.contact.jointed_bodies_collide = range_.touching;
        const int links = 2 + below(range_.most_links - 1);
        const double lightest = between_logs(0.1, 10.0);
        for (int i = 0; i < links; ++i) add_link(i, lightest);
        if (range_.loops)
            for (int tries = below(1 + links / 3); tries > 0 && free_ > 6; --tries) close_loop();
        if (range_.floor && below(3) == 0) add_floor();
        return scene_;
    }

  private:
    double between(double lo, double hi) {
        return lo + (hi - lo) * (static_cast<double>(random_() >> 11) * 0x1p-53);
    }
    double between_logs(double lo, double hi) { return std::exp(between(std::log(lo), std::log(hi))); }
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    Vec3 direction() {
        Vec3 d;
        do d = Vec3(between(-1, 1), between(-1, 1), between(-1, 1));
        while (d.norm() < 0.2 || d.norm() > 1);
        return d.normalized();
    }

    // A link from a free end of the mechanism, or from the world.
    void add_link(int i, double lightest) {
        const int parent = i == 0 ? -1 : std::max(-1, i - 1 - below(3));
        const Vec3 from = parent < 0 ? Vec3(0.5 * i, 0, 0) : ends_[static_cast<std::size_t>(parent)];
        const double length = between(0.2, 0.5);
        Vec3 along_it = direction();
        const double width = length * between(0.08, range_.touching ? 0.12 : 0.25);
        // Links that touch end before their joints, and have room on all sides at the start.
        const double part = range_.touching ? 0.7 : 1.0;
        for (int tries = 0; range_.touching && tries < 200 && !has_room(from, length, along_it, width);
             ++tries)
            along_it = direction();
        const Vec3 to = from + length * along_it;
        rods_.push_back({from + 0.15 * length * along_it, to - 0.15 * length * along_it, width});
        BodySpec link = body_spec(scene_, fmt::format("l{}", i), box_spec({part * length, width, width}),
                                  0.5 * (from + to), along(to - from));
        link.mass = lightest * between_logs(1.0, range_.mass_range);
        link.collides = range_.touching;
        const int body = scene_.add_body(link);
        ends_.push_back(to);
        static constexpr JointType types[] = {
            JointType::hinge,     JointType::hinge,       JointType::ball,   JointType::universal,
            JointType::prismatic, JointType::cylindrical, JointType::planar, JointType::fixed};
        const JointType type = types[i == 0 ? 0 : below(8)];
        JointSpec joint = joint_spec(fmt::format("j{}", i), type, parent, body, from, direction());
        if (type == JointType::universal) joint.axis_b = joint.axis.unitOrthogonal();
        if (range_.drives) add_drives(joint, *link.mass);
        if (range_.touching && below(6) == 0) joint.break_force = *link.mass * 9.81 * between_logs(2.0, 50.0);
        free_ += freedom(type);
        scene_.joints.push_back(joint);
    }

    struct Rod {
        Vec3 from, to;
        double width;
    };

    // Samples will do: a start that is not free is refused by the program anyway.
    bool has_room(const Vec3& from, double length, const Vec3& along_it, double width) const {
        for (const Rod& rod : rods_)
            for (int i = 0; i <= 20; ++i)
                for (int j = 0; j <= 20; ++j) {
                    const Vec3 a = from + (0.15 + 0.035 * i) * length * along_it,
                               b = rod.from + 0.05 * j * (rod.to - rod.from);
                    if ((a - b).norm() < 0.8 * (width + rod.width)) return false;
                }
        return true;
    }

    // A drive for the first coordinate, of a size that moves the link: torques about m g l.
    void add_drives(JointSpec& joint, double mass) {
        if (joint.type != JointType::hinge && joint.type != JointType::prismatic) return;
        const bool turns = joint.type == JointType::hinge;
        const double load = mass * 9.81 * (turns ? 0.3 : 1.0);
        DriveSpec drive;
        switch (below(4)) {
            case 0:
                drive.motor.type = MotorSpec::Type::position;
                drive.motor.target = turns ? between(-1, 1) : between(-0.1, 0.1);
                drive.motor.max = load * between_logs(0.1, 10);
                break;
            case 1:
                drive.motor.type = MotorSpec::Type::velocity;
                drive.motor.target = turns ? between(-2, 2) : between(-0.2, 0.2);
                drive.motor.max = load * between_logs(0.1, 10);
                break;
            default:
                break;
        }
        if (below(3) == 0 || !turns) {
            const double reach = turns ? 1.2 : 0.15;
            drive.limits = std::array<double, 2>{-reach, reach};
        }
        if (below(3) == 0) drive.friction = load * between_logs(0.01, 1);
        if (below(4) == 0) drive.armature = mass * between_logs(0.001, 0.1) * (turns ? 0.1 : 1.0);
        if (!drive.empty()) joint.drives.push_back(drive);
    }

    // Ties two links, or a link and the world, where they are: a rod between points, or a ball where one of them ends.
    void close_loop() {
        const int count = static_cast<int>(ends_.size());
        const int a = below(count + 1) - 1, b = below(count);
        if (a == b) return;
        const Vec3& end = ends_[static_cast<std::size_t>(b)];
        JointSpec joint;
        if (below(2) == 0) {
            const Vec3 other = a < 0 ? Vec3(end + 0.5 * direction()) : ends_[static_cast<std::size_t>(a)];
            if ((other - end).norm() < 0.05) return;
            joint = joint_spec(fmt::format("c{}", scene_.joints.size()), JointType::distance, a, b, other);
            joint.point_b = end;
            free_ -= 1;
        } else {
            joint = joint_spec(fmt::format("c{}", scene_.joints.size()), JointType::ball, a, b, end);
            for (const JointSpec& other : scene_.joints)  // says the same
                if (other.type == JointType::ball && (other.point - end).norm() < 1e-9 &&
                    std::minmax(other.bodies[0], other.bodies[1]) == std::minmax(a, b))
                    return;
            free_ -= 3;
        }
        scene_.joints.push_back(joint);
    }

    // Below the lowest free end; the ends are balls that may touch it.
    void add_floor() {
        double lowest = 0.0;
        for (const Vec3& end : ends_) lowest = std::min(lowest, end.y());
        BodySpec floor = body_spec(scene_, "floor", box_spec({40, 1, 40}), Vec3(0, lowest - 0.8, 0));
        floor.type = BodyType::static_body;
        scene_.add_body(floor);
        const int last = static_cast<int>(ends_.size()) - 1;
        scene_.bodies[static_cast<std::size_t>(last)].collides = true;
        // the end of the last link hits it
    }

    std::mt19937_64 random_;
    const MechanismRange& range_;
    Scene scene_;
    std::vector<Vec3> ends_;
    std::vector<Rod> rods_;
    int free_ = 0;
};

}  // namespace

Scene random_mechanism(std::uint64_t seed, const MechanismRange& range) {
    return Maker(seed, range).make();
}

}  // namespace tenon::test
