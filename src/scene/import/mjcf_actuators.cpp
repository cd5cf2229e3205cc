// Actuators, sensors and keyframes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/import/mjcf.hpp"
#include "scene/import/mjcf_attributes.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {

void MjcfImporter::read_actuators(const XmlElement& list) {
    static const std::vector<std::string> known = {"general",     "motor",  "position", "velocity",
                                                   "intvelocity", "damper", "cylinder", "muscle",
                                                   "adhesion",    "plugin"};
    check_children(list, known);
    for (XmlElement child = list.first_child(); child; child = child.next()) read_actuator(child);
    bound_by_joints();
}

namespace {

// What MuJoCo keeps of an actuator: force = gain * control + bias0 + bias1 * length + bias2 * speed. All kinds are one to it;
// each element, of a default class or the actuator's own, changes what those before it left.
struct Law {
    std::string dynamics = "none", gain_type = "fixed", bias_type = "none", unknown;
    double gain = 1, bias[3] = {0, 0, 0};
    std::optional<double> ratio;  // of damping, instead of bias2

    void apply(const XmlElement& xml) {
        const std::string kind(xml.name());
        unknown.clear();
        if (kind == "general") return general(xml);
        gain_type = "fixed";
        if (kind == "motor") {
            dynamics = bias_type = "none";
            gain = 1;
        } else if (kind == "position" || kind == "intvelocity") {
            servo(xml, kind == "intvelocity");
        } else if (kind == "velocity") {
            gain = number_attribute(xml, "kv", gain);
            dynamics = "none";
            set_bias(0, 0, -gain);
        } else {
            unknown = kind;
        }
    }

  private:
    void set_bias(double b0, double b1, double b2) {
        bias_type = "affine";
        bias[0] = b0, bias[1] = b1, bias[2] = b2;
        ratio.reset();
    }

    void general(const XmlElement& xml) {
        dynamics = text_attribute(xml, "dyntype", dynamics);
        gain_type = text_attribute(xml, "gaintype", gain_type);
        bias_type = text_attribute(xml, "biastype", bias_type);
        if (const auto text = xml.attribute("gainprm")) gain = parse_numbers(xml, "gainprm", *text, 1, 10)[0];
        if (const auto text = xml.attribute("biasprm")) {
            const std::vector<double> n = parse_numbers(xml, "biasprm", *text, 1, 10);
            for (std::size_t k = 0; k < std::min<std::size_t>(n.size(), 3); ++k) bias[k] = n[k];
            if (n.size() > 2) ratio.reset();
        }
    }

    void servo(const XmlElement& xml, bool integrates) {
        gain = number_attribute(xml, "kp", gain);
        bias_type = "affine";
        bias[1] = -gain;
        if (xml.attribute("kv") && xml.attribute("dampratio"))
            xml.fail("has both kv and dampratio", "keep one of the two");
        if (xml.attribute("kv")) {
            bias[2] = -number_attribute(xml, "kv", 0);
            ratio.reset();
        }
        if (xml.attribute("dampratio")) {
            ratio = number_attribute(xml, "dampratio", 0);
            if (*ratio < 0) xml.fail(fmt::format("dampratio is {:g}", *ratio), "it must not be negative");
        }
        if (xml.attribute("timeconst"))
            dynamics = number_attribute(xml, "timeconst", 0) != 0 ? "filterexact" : "none";
        if (integrates) dynamics = "integrator";
    }
};

}  // namespace

std::optional<MjcfImporter::Gains> MjcfImporter::gains_of(const MjcfElement& element,
                                                          const ActuatorSpec& actuator) {
    const XmlElement& xml = element.xml();
    Law law;
    for (const XmlElement& entry : defaults_.actuators(element.default_class())) law.apply(entry);
    law.apply(xml);
    if (!law.unknown.empty() || law.gain_type != "fixed") return std::nullopt;
    if (law.bias_type != "none" && law.bias_type != "affine") return std::nullopt;
    Gains gains{law.gain, 0, 0, 0};
    if (law.bias_type == "affine") {
        gains.bias0 = law.bias[0], gains.bias1 = law.bias[1], gains.bias2 = law.bias[2];
        // a positive number in the place of a servo's damping is a ratio
        if (!law.ratio && gains.bias2 > 0 && gains.bias1 < 0 && gains.gain == -gains.bias1)
            law.ratio = gains.bias2;
        if (law.ratio)
            gains.bias2 = -2 * *law.ratio * std::sqrt(std::max(-gains.bias1, 0.0) * inertia_at(actuator));
    }
    gains.integrates = law.dynamics == "integrator" && gains.bias1 < 0;
    if (law.dynamics == "filter" || law.dynamics == "filterexact")
        lose(xml, Kind::approximated, "actuators with a filter", "act at once");
    else if (law.dynamics != "none" && !gains.integrates)
        return std::nullopt;
    return gains;
}

// Length of the transmission at the scene's zero: MuJoCo measures joints from their references.
double MjcfImporter::reference_length(const ActuatorSpec& actuator) const {
    const auto reference = [&](int scene_joint, int coordinate) {
        const auto found = references_.find({scene_joint, coordinate});
        return found == references_.end() ? 0.0 : found->second;
    };
    if (actuator.joint >= 0) return actuator.gear * reference(actuator.joint, actuator.coordinate);
    double sum = 0;
    for (const TendonSpec::Term& term : out_.scene.tendons[at(actuator.tendon)].terms)
        sum += term.coefficient * reference(term.joint, term.coordinate);
    return actuator.gear * sum;
}

double MjcfImporter::target_of(std::size_t index, double control) const {
    const Control& entry = controls_[index];
    const ActuatorSpec& actuator = out_.scene.actuators[at(entry.actuator)];
    const double force =
        entry.gains.gain * std::clamp(control, entry.range[0], entry.range[1]) + entry.gains.bias0;
    switch (actuator.type) {
        case ActuatorSpec::Type::position:
            return force / actuator.kp - entry.reference;
        case ActuatorSpec::Type::velocity:
            return force / actuator.kd;
        default:
            return force;
    }
}

// Inertia about a joint of all that hangs on it, at the reference.
double MjcfImporter::composite_inertia(const MjcfJoint& joint) const {
    if (composites_.empty()) {
        composites_.resize(bodies_.size());
        for (std::size_t i = bodies_.size(); i-- > 1;) {
            const MjcfBody& body = bodies_[i];
            if (body.inertial) composites_[i] = combined(composites_[i], moved(*body.inertial, body.pose));
            Inertial& parent = composites_[at(body.parent)];
            parent = combined(parent, composites_[i]);
        }
    }
    const Inertial& all = composites_[at(joint.body)];
    if (joint.type == MjcfJoint::Type::slide) return all.mass + joint.armature;
    const double arm = joint.axis.cross(all.center - joint.point).norm();
    return joint.axis.dot(all.inertia * joint.axis) + all.mass * arm * arm + joint.armature;
}

// What a servo's damping ratio is measured against: MuJoCo's sum of M_jj / (dl/dq_j)^2 at the reference.
double MjcfImporter::inertia_at(const ActuatorSpec& actuator) const {
    double sum = 0;
    const auto add = [&](int scene_joint, int coordinate, double factor) {
        const auto found = joint_of_scene_.find({scene_joint, coordinate});
        if (found != joint_of_scene_.end())
            sum += composite_inertia(joints_[at(found->second)]) / (factor * factor);
    };
    if (actuator.joint >= 0)
        add(actuator.joint, actuator.coordinate, actuator.gear);
    else
        for (const TendonSpec::Term& term : out_.scene.tendons[at(actuator.tendon)].terms)
            add(term.joint, term.coordinate, actuator.gear * term.coefficient);
    return sum;
}

// Whether couplings tie all joints of a tendon to one of them.
bool MjcfImporter::moves_as_one(int tendon) const {
    std::set<std::pair<int, int>> drivers;
    for (const TendonSpec::Term& term : out_.scene.tendons[at(tendon)].terms) {
        std::pair<int, int> place{term.joint, term.coordinate};
        for (std::size_t hops = 0; hops < 100; ++hops) {  // longer rows of couplings count as loose
            const auto found = driver_.find(place);
            if (found == driver_.end()) break;
            place = found->second;
        }
        drivers.insert(place);
    }
    return drivers.size() < 2;
}

// What an actuator drives; false: it was left out.
bool MjcfImporter::transmission_of(const MjcfElement& element, ActuatorSpec& actuator) {
    const XmlElement& xml = element.xml();
    const auto left_out = [&](const char* what, const char* why) {
        lose(xml, Kind::left_out, what, why);
        return false;
    };
    const auto gear = element.numbers("gear", 1, 6);
    actuator.gear = gear.empty() ? 1.0 : gear[0];
    if (actuator.gear == 0) return left_out("actuators with a gear of 0", "push nothing");
    for (const char* key : {"joint", "jointinparent"}) {
        if (!element.has(key)) continue;
        const MjcfJoint& joint = joint_named(xml, element.text(key));
        if (joint.type == MjcfJoint::Type::ball || joint.type == MjcfJoint::Type::free ||
            joint.scene_joint < 0)
            return left_out("actuators of ball and free joints", "drive hinges and slides");
        actuator.joint = joint.scene_joint;
        actuator.coordinate = joint.coordinate;
        return true;
    }
    if (!element.has("tendon")) {
        for (const char* key : {"site", "body", "cranksite"})
            if (element.has(key))
                return left_out("actuators on sites, bodies or cranks", "drive hinges, slides and tendons");
        xml.fail("an actuator drives nothing", "name a joint or a tendon");
    }
    const std::string name = element.text("tendon");
    if (const auto found = tendon_index_.find(name); found != tendon_index_.end()) {
        actuator.tendon = found->second;
        return true;
    }
    if (const auto found = spatial_joint_.find(name); found != spatial_joint_.end()) {
        actuator.joint = found->second;
        return true;
    }
    if (tendon_names_.count(name))
        return left_out("actuators of tendons that were left out", "drive nothing");
    xml.fail(fmt::format("no tendon is named '{}'", name.substr(0, 60)), "name one of the tendons");
}

std::optional<std::array<double, 2>> MjcfImporter::limited_range(const MjcfElement& element, const char* name,
                                                                 const char* limited) const {
    const auto n = element.numbers(name, 2, 2);
    const bool given = !n.empty() && n[0] != n[1];  // "0 0" takes back a default's
    if (!element.flag(limited, compiler_.autolimits && given, given)) return std::nullopt;
    if (n.empty()) element.xml().fail(fmt::format("is limited, but has no {}", name), "add it");
    if (n[0] > n[1])
        element.xml().fail(fmt::format("the first of {} is above the second", name), "swap them");
    return std::array<double, 2>{n[0], n[1]};
}

void MjcfImporter::read_actuator(const XmlElement& xml) {
    const MjcfElement element(xml, defaults_, 0);
    const std::size_t index = controls_.size();
    controls_.emplace_back();
    ActuatorSpec actuator;
    actuator.name =
        new_name(xml, text_attribute(xml, "name"), "actuator", actuator_names_, static_cast<int>(index));
    if (!transmission_of(element, actuator)) return;
    const auto gains = gains_of(element, actuator);
    if (!gains)
        return lose(xml, Kind::left_out, fmt::format("actuators <{}> with their own dynamics", xml.name()),
                    "have no counterpart here");
    if (gains->bias1 > 0 || gains->bias2 > 0 || (gains->bias1 == 0 && gains->bias2 == 0 && gains->gain == 0))
        return lose(xml, Kind::left_out, "actuators whose force grows with position or speed",
                    "would not be stable");
    Control control;
    control.gains = *gains;
    controls_[index].gains = *gains;
    if (gains->bias1 < 0) {
        actuator.type = ActuatorSpec::Type::position;
        actuator.kp = -gains->bias1;
        actuator.kd = -gains->bias2;
        control.reference = reference_length(actuator);
    } else if (gains->bias2 < 0) {
        actuator.type = ActuatorSpec::Type::velocity;
        actuator.kd = -gains->bias2;
    }
    const bool servo = actuator.type != ActuatorSpec::Type::torque;
    if (servo && actuator.tendon >= 0 && !moves_as_one(actuator.tendon))
        return lose(xml, Kind::left_out, "servos on tendons whose joints are not coupled",
                    "couple the joints, or drive each by an actuator of its own");
    if (const auto limits = limited_range(element, "forcerange", "forcelimited"))
        set_force_limits(xml, actuator, *limits);
    if (const auto limits = control_range(element, actuator)) control.range = *limits;
    control.element = xml;
    control.actuator = static_cast<int>(out_.scene.actuators.size());
    out_.scene.actuators.push_back(actuator);
    controls_[index] = control;
    finish_control(xml, index);
}

void MjcfImporter::set_force_limits(const XmlElement& xml, ActuatorSpec& actuator,
                                    const std::array<double, 2>& limits) {
    actuator.force_limits = limits;
    if (actuator.type == ActuatorSpec::Type::torque || limits[0] == -limits[1]) return;
    const double larger = std::max(std::abs(limits[0]), std::abs(limits[1]));
    actuator.force_limits = {-larger, larger};
    lose(xml, Kind::approximated, fmt::format("a forcerange from {:g} to {:g}", limits[0], limits[1]),
         "servos have one bound for both directions: the larger is taken");
}

// Limits of a control, or of what it integrates to; `inheritrange` takes the joint's, about their middle.
std::optional<std::array<double, 2>> MjcfImporter::control_range(const MjcfElement& element,
                                                                 const ActuatorSpec& actuator) const {
    const bool integrates = controls_.back().gains.integrates;
    const bool servo = element.xml().name() == "position" || element.xml().name() == "intvelocity";
    const double share = servo ? element.number("inheritrange", 0) : 0.0;
    if (share == 0)
        return integrates ? limited_range(element, "actrange", "actlimited")
                          : limited_range(element, "ctrlrange", "ctrllimited");
    const XmlElement& xml = element.xml();
    if (share < 0) xml.fail(fmt::format("inheritrange is {:g}", share), "it must not be negative");
    if (element.has(integrates ? "actrange" : "ctrlrange"))
        xml.fail("has inheritrange and a range of its own", "keep one of the two");
    const auto found = joint_of_scene_.find({actuator.joint, actuator.coordinate});
    const MjcfJoint* joint = found == joint_of_scene_.end() ? nullptr : &joints_[at(found->second)];
    if (!joint || !joint->limits)
        xml.fail("inherits the range of a joint that has none", "give the joint a range");
    const double middle = joint->reference + 0.5 * ((*joint->limits)[0] + (*joint->limits)[1]),
                 half = 0.5 * share * ((*joint->limits)[1] - (*joint->limits)[0]);
    return std::array<double, 2>{middle - half, middle + half};
}

// What all actuators of a joint may put on it together bounds the only one.
void MjcfImporter::bound_by_joints() {
    std::map<std::pair<int, int>, std::vector<const Control*>> of_joint;
    for (const Control& control : controls_) {
        if (control.actuator < 0) continue;
        const ActuatorSpec& actuator = out_.scene.actuators[at(control.actuator)];
        if (actuator.joint >= 0) of_joint[{actuator.joint, actuator.coordinate}].push_back(&control);
    }
    for (const auto& [place, users] : of_joint) {
        const auto found = joint_of_scene_.find(place);
        if (found == joint_of_scene_.end() || !joints_[at(found->second)].actuator_limits) continue;
        const MjcfJoint& joint = joints_[at(found->second)];
        if (users.size() > 1) {
            lose(joint.element, Kind::left_out, "actuatorfrcrange of joints with several actuators",
                 "bound each actuator by itself");
            continue;
        }
        ActuatorSpec& actuator = out_.scene.actuators[at(users[0]->actuator)];
        double low = (*joint.actuator_limits)[0] / actuator.gear,
               high = (*joint.actuator_limits)[1] / actuator.gear;
        if (low > high) std::swap(low, high);
        low = std::max(low, actuator.force_limits[0]), high = std::min(high, actuator.force_limits[1]);
        set_force_limits(users[0]->element, actuator, {low, high});
    }
}

// Limits and start of an actuator's target, from those of its control.
void MjcfImporter::finish_control(const XmlElement& xml, std::size_t index) {
    const Control& control = controls_[index];
    const double gain = control.gains.gain;
    ActuatorSpec& made = out_.scene.actuators[at(control.actuator)];
    if (control.range[0] > -1e299) {
        const double a = target_of(index, control.range[0]), b = target_of(index, control.range[1]);
        made.target_limits = {std::min(a, b), std::max(a, b)};
    }
    made.target = target_of(index, 0.0);
    const double scale = made.type == ActuatorSpec::Type::position   ? gain / made.kp
                         : made.type == ActuatorSpec::Type::velocity ? gain / made.kd
                                                                     : gain;
    if (control.gains.integrates)
        lose(xml, Kind::converted, "actuators that integrate their control",
             "are position actuators: their target is what the control adds up to");
    if (std::abs(scale - 1) > 1e-12 || control.reference != 0 || control.gains.bias0 != 0)
        lose(xml, Kind::converted,
             fmt::format("controls of '{}': target = {:g} * control + {:g}", made.name, scale,
                         target_of(index, 0.0)),
             "targets are positions, speeds or forces themselves");
}

bool MjcfImporter::sensor_frame(const XmlElement& xml, SensorSpec& sensor) {
    std::string type = text_attribute(xml, "objtype"), name = text_attribute(xml, "objname");
    if (xml.attribute("site")) type = "site", name = needed_attribute(xml, "site");
    Pose pose;
    int body = -1;
    if (type == "site") {
        const MjcfSite& site = site_named(xml, name);
        body = site.body;
        pose = site.pose;
    } else if (type == "xbody" || type == "body") {
        body = body_named(xml, name);
        if (type == "body")
            lose(xml, Kind::approximated, "sensors of inertial frames", "measure at the body's origin");
    } else {
        lose(xml, Kind::left_out, fmt::format("sensors of a {}", type.substr(0, 40)),
             "sensors sit on bodies and sites");
        return false;
    }
    const MjcfBody& on = bodies_[at(body)];
    if (on.owner < 0) {
        lose(xml, Kind::left_out, "sensors of the world", "it does not move");
        return false;
    }
    const Pose placed = on.in_owner * pose;
    sensor.body = on.owner;
    sensor.point = placed.position;
    sensor.rotation = placed.rotation;
    return true;
}

// The surfaces of two bodies, named by themselves or by geoms.
bool MjcfImporter::sensor_pair(const XmlElement& xml, SensorSpec& sensor) {
    sensor.type = SensorSpec::Type::distance;
    for (const char side : {'1', '2'}) {
        const std::string geom_key = std::string("geom") + side, body_key = std::string("body") + side;
        int body = -1;
        if (xml.attribute(geom_key)) {
            const std::string name = needed_attribute(xml, geom_key);
            const auto found = geom_body_.find(name);
            if (found == geom_body_.end())
                xml.fail(fmt::format("no geom is named '{}'", name.substr(0, 60)), "name two geoms");
            body = found->second == 0 ? out_.scene.body_index(name) : bodies_[at(found->second)].owner;
            lose(xml, Kind::approximated, "distances between geoms", "are those between their bodies");
        } else {
            body = bodies_[at(body_named(xml, needed_attribute(xml, body_key)))].owner;
        }
        if (body < 0 || out_.scene.bodies[at(body)].geometry < 0) {
            lose(xml, Kind::left_out, "distances of the world or of a body without geoms", "have no surface");
            return false;
        }
        (side == '1' ? sensor.other : sensor.body) = body;
    }
    if (sensor.body == sensor.other) xml.fail("measures from a body to itself", "name two bodies");
    return true;
}

bool MjcfImporter::motor_of(const XmlElement& xml, SensorSpec& sensor) {
    sensor.type = SensorSpec::Type::joint_torque;
    if (xml.attribute("joint")) {
        const MjcfJoint& joint = joint_named(xml, needed_attribute(xml, "joint"));
        sensor.joint = joint.scene_joint;
        sensor.coordinate = joint.coordinate;
    } else {
        const std::string name = needed_attribute(xml, "actuator");
        const auto found = actuator_names_.find(name);
        if (found == actuator_names_.end())
            xml.fail(fmt::format("no actuator is named '{}'", name.substr(0, 60)), "name one of them");
        const int actuator = controls_[at(found->second)].actuator;
        if (actuator >= 0) {
            sensor.joint = out_.scene.actuators[at(actuator)].joint;
            sensor.coordinate = out_.scene.actuators[at(actuator)].coordinate;
        }
    }
    if (sensor.joint < 0)
        lose(xml, Kind::left_out, "forces of actuators of tendons and free joints",
             "those of hinges and slides are measured");
    return sensor.joint >= 0;
}

void MjcfImporter::read_sensors(const XmlElement& list) {
    for (XmlElement child = list.first_child(); child; child = child.next()) read_sensor(child);
}

void MjcfImporter::read_sensor(const XmlElement& xml) {
    using Type = SensorSpec::Type;
    struct Meaning {
        Type type;
        bool own_frame;
    };
    static const std::map<std::string, Meaning, std::less<>> frames = {
        {"framepos", {Type::pose, false}},
        {"framequat", {Type::pose, false}},
        {"framelinvel", {Type::velocity, false}},
        {"frameangvel", {Type::velocity, false}},
        {"velocimeter", {Type::velocity, true}},
        {"gyro", {Type::velocity, true}},
        {"accelerometer", {Type::acceleration, true}}};
    static const std::map<std::string, Type, std::less<>> joints = {{"jointpos", Type::joint_position},
                                                                    {"jointvel", Type::joint_velocity}};
    static const std::vector<std::string> known_left_out = {"magnetometer",
                                                            "rangefinder",
                                                            "camprojection",
                                                            "tendonpos",
                                                            "tendonvel",
                                                            "actuatorpos",
                                                            "actuatorvel",
                                                            "ballquat",
                                                            "ballangvel",
                                                            "jointlimitpos",
                                                            "jointlimitvel",
                                                            "jointlimitfrc",
                                                            "tendonlimitpos",
                                                            "tendonlimitvel",
                                                            "tendonlimitfrc",
                                                            "framexaxis",
                                                            "frameyaxis",
                                                            "framezaxis",
                                                            "framelinacc",
                                                            "frameangacc",
                                                            "subtreecom",
                                                            "subtreelinvel",
                                                            "subtreeangmom",
                                                            "normal",
                                                            "fromto",
                                                            "clock",
                                                            "user",
                                                            "plugin",
                                                            "tendonactuatorfrc",
                                                            "e_potential",
                                                            "e_kinetic",
                                                            "contact",
                                                            "insidesite"};
    SensorSpec sensor;
    const std::string kind(xml.name());
    check_mjcf_attributes(xml);
    if (xml.attribute("reftype") || xml.attribute("refname"))
        return lose(xml, Kind::left_out, "sensors relative to another frame",
                    "sensors measure in the world or in their own");
    if (xml.attribute("noise") || xml.attribute("cutoff"))
        lose(xml, Kind::left_out, "noise and cutoff of sensors", "sensors are exact");
    if (const auto found = frames.find(kind); found != frames.end()) {
        sensor.type = found->second.type;
        sensor.body_frame = found->second.own_frame && sensor.type == Type::velocity;
        if (!sensor_frame(xml, sensor)) return;
    } else if (const auto joint_type = joints.find(kind); joint_type != joints.end()) {
        const MjcfJoint& joint = joint_named(xml, needed_attribute(xml, "joint"));
        if (joint.scene_joint < 0) return lose(xml, Kind::left_out, "sensors of free joints", "use a pose");
        sensor.type = joint_type->second;
        sensor.joint = joint.scene_joint;
        sensor.coordinate = joint.coordinate;
        if (joint.reference != 0 && sensor.type == Type::joint_position)
            lose(xml, Kind::approximated, "positions of joints with a reference", "are measured from it");
    } else if (kind == "force" || kind == "torque") {
        const MjcfBody& body = bodies_[at(site_named(xml, needed_attribute(xml, "site")).body)];
        if (body.joints.empty() || joints_[at(body.joints.back())].scene_joint < 0)
            return lose(xml, Kind::left_out, "force sensors of bodies without a joint",
                        "they measure what a joint carries");
        sensor.type = Type::force_torque;
        sensor.joint = joints_[at(body.joints.back())].scene_joint;
        sensor.body_frame = true;
        lose(xml, Kind::approximated, "force and torque sensors",
             "measure at the joint, along the body's axes, on the child");
    } else if (kind == "touch") {
        if (!sensor_frame(xml, sensor)) return;
        const int touched = sensor.body;
        sensor = {};
        sensor.type = Type::contact_force;
        sensor.body = touched;
        lose(xml, Kind::approximated, "touch sensors",
             "measure the contact force on the whole body, as a vector in the world");
    } else if (kind == "distance") {
        if (!sensor_pair(xml, sensor)) return;
    } else if (kind == "jointactuatorfrc" || kind == "actuatorfrc") {
        if (!motor_of(xml, sensor)) return;
        lose(xml, Kind::approximated, "sensors of actuators' forces",
             "measure what the joint carries along its coordinate, friction and limits included");
    } else if (std::find(known_left_out.begin(), known_left_out.end(), kind) != known_left_out.end()) {
        return lose(xml, Kind::left_out, fmt::format("sensor <{}>", kind), "has no counterpart here");
    } else {
        xml.fail(fmt::format("<{}> is not known inside <sensor>", kind.substr(0, 60)),
                 suggestion(kind.substr(0, 100), known_left_out));
    }
    sensor.name = new_name(xml, text_attribute(xml, "name"), "sensor", sensor_names_,
                           static_cast<int>(out_.scene.sensors.size()));
    out_.scene.sensors.push_back(sensor);
}

void MjcfImporter::read_keyframes(const XmlElement& list) {
    check_children(list, std::vector<std::string>{"key"});
    for (XmlElement child = list.first_child(); child; child = child.next()) {
        check_mjcf_attributes(child);
        KeyframeSpec key;
        key.name = text_attribute(child, "name", fmt::format("key{}", out_.scene.keyframes.size()));
        if (!keyframe_names_.emplace(key.name, 0).second)
            child.fail(fmt::format("two keyframes are named '{}'", key.name.substr(0, 60)),
                       "names must be unique");
        if (child.attribute("qpos")) read_positions(child, key);
        if (child.attribute("qvel")) read_velocities(child, key);
        if (const auto text = child.attribute("ctrl")) {
            const std::vector<double> ctrl =
                parse_numbers(child, "ctrl", *text, controls_.size(), controls_.size());
            for (std::size_t k = 0; k < ctrl.size(); ++k)
                if (controls_[k].actuator >= 0 && !controls_[k].gains.integrates)
                    key.targets.push_back({controls_[k].actuator, target_of(k, ctrl[k])});
        }
        if (const auto text = child.attribute("act")) read_activations(child, *text, key);
        for (const char* name : {"time", "mpos", "mquat"})
            if (child.attribute(name))
                lose(child, Kind::left_out, fmt::format("{} of keyframes", name),
                     "a state begins at time 0 without memory");
        out_.scene.keyframes.push_back(std::move(key));
    }
}

// One number for each actuator with dynamics; those that integrate have their target there.
void MjcfImporter::read_activations(const XmlElement& xml, std::string_view text, KeyframeSpec& key) {
    const std::vector<double> act = parse_numbers(xml, "act", text, 0, 1'000'000);
    std::size_t integrators = 0, next = 0;
    for (const Control& control : controls_) integrators += control.gains.integrates;
    if (act.size() != integrators)
        return lose(xml, Kind::left_out, "act of keyframes", "a state begins without memory of filters");
    for (std::size_t k = 0; k < controls_.size(); ++k)
        if (controls_[k].gains.integrates)
            key.targets.push_back({controls_[k].actuator, target_of(k, act[next++])});
}

void MjcfImporter::read_positions(const XmlElement& xml, KeyframeSpec& key) {
    std::size_t total = 0;
    using Type = MjcfJoint::Type;
    for (const MjcfJoint& joint : joints_)
        total += joint.type == Type::free ? 7 : joint.type == Type::ball ? 4 : 1;
    const std::vector<double> q = parse_numbers(xml, "qpos", *xml.attribute("qpos"), total, total);
    std::unordered_map<int, std::size_t> entry_of;
    std::size_t k = 0;
    for (const MjcfJoint& joint : joints_) {
        const MjcfBody& body = bodies_[at(joint.body)];
        if (joint.type == Type::free) {
            KeyframeSpec::BodyState state;
            state.body = body.owner;
            state.position = Vec3(q[k], q[k + 1], q[k + 2]);
            const Quat turn(q[k + 3], q[k + 4], q[k + 5], q[k + 6]);
            if (!(turn.norm() > 1e-12))
                xml.fail("a quaternion in qpos has length zero", "1 0 0 0 is no rotation");
            state.rotation = turn.normalized();
            key.bodies.push_back(state);
            k += 7;
        } else if (joint.type ==
                   Type::ball) {  // about the body's axes; here about the world's at the reference
            const Quat turn(q[k], q[k + 1], q[k + 2], q[k + 3]);
            if (!(turn.norm() > 1e-12))
                xml.fail("a quaternion in qpos has length zero", "1 0 0 0 is no rotation");
            const Quat world = body.pose.rotation * turn.normalized() * body.pose.rotation.conjugate();
            key.joints.push_back({joint.scene_joint, {world.w(), world.x(), world.y(), world.z()}, {}});
            k += 4;
        } else {
            const auto [entry, is_new] = entry_of.emplace(joint.scene_joint, key.joints.size());
            if (is_new) {
                const bool two = out_.scene.joints[at(joint.scene_joint)].type == JointType::universal;
                key.joints.push_back({joint.scene_joint, std::vector<double>(two ? 2 : 1, 0.0), {}});
            }
            key.joints[entry->second].position[at(joint.coordinate)] = q[k] - joint.reference;
            k += 1;
        }
    }
}

void MjcfImporter::read_velocities(const XmlElement& xml, KeyframeSpec& key) {
    std::size_t total = 0;
    using Type = MjcfJoint::Type;
    for (const MjcfJoint& joint : joints_)
        total += joint.type == Type::free ? 6 : joint.type == Type::ball ? 3 : 1;
    const std::vector<double> v = parse_numbers(xml, "qvel", *xml.attribute("qvel"), total, total);
    std::unordered_map<int, std::size_t> entry_of;
    for (std::size_t i = 0; i < key.joints.size(); ++i) entry_of.emplace(key.joints[i].joint, i);
    const auto joint_state = [&](int scene_joint) -> KeyframeSpec::JointState& {
        const auto [entry, is_new] = entry_of.emplace(scene_joint, key.joints.size());
        if (is_new) key.joints.push_back({scene_joint, {}, {}});
        return key.joints[entry->second];
    };
    std::size_t k = 0;
    for (const MjcfJoint& joint : joints_) {
        const MjcfBody& body = bodies_[at(joint.body)];
        if (joint.type == Type::free) {
            KeyframeSpec::BodyState* state = nullptr;
            for (KeyframeSpec::BodyState& other : key.bodies)
                if (other.body == body.owner) state = &other;
            if (!state) state = &key.bodies.emplace_back(), state->body = body.owner;
            // linear: of the body's origin, in the world; angular: along the body's axes
            const Quat turn = state->rotation.value_or(body.pose.rotation);
            const Vec3 spin = turn * Vec3(v[k + 3], v[k + 4], v[k + 5]);
            const BodySpec& spec = out_.scene.bodies[at(body.owner)];
            const Vec3 center = spec.inertia ? spec.inertia->center : Vec3(Vec3::Zero());
            state->angular_velocity = spin;
            state->linear_velocity = Vec3(v[k], v[k + 1], v[k + 2]) + spin.cross(turn * center);
            k += 6;
        } else if (joint.type == Type::ball) {
            KeyframeSpec::JointState& state = joint_state(joint.scene_joint);
            const Quat turn = state.position.size() == 4 ? Quat(state.position[0], state.position[1],
                                                                state.position[2], state.position[3])
                                                         : Quat::Identity();
            const Vec3 spin = turn * (body.pose.rotation * Vec3(v[k], v[k + 1], v[k + 2]));
            state.velocity = {spin.x(), spin.y(), spin.z()};
            k += 3;
        } else {
            KeyframeSpec::JointState& state = joint_state(joint.scene_joint);
            const bool two = out_.scene.joints[at(joint.scene_joint)].type == JointType::universal;
            state.velocity.resize(two ? 2 : 1, 0.0);
            state.velocity[at(joint.coordinate)] = v[k];
            k += 1;
        }
    }
}

}  // namespace tenon::scene
