// Equality constraints, contact exclusions and fixed tendons.
#include <cmath>

#include <fmt/format.h>

#include "scene/import/mjcf.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {

int MjcfImporter::body_named(const XmlElement& user, const std::string& name) const {
    if (const auto found = body_index_.find(name); found != body_index_.end()) return found->second;
    std::vector<std::string> names;
    for (const MjcfBody& body : bodies_) {
        if (names.size() == 1000) break;  // enough to suggest from
        names.push_back(body.name);
    }
    user.fail(fmt::format("no body is named '{}'", name.substr(0, 60)),
              suggestion(name.substr(0, 100), names));
}

MjcfJoint& MjcfImporter::joint_named(const XmlElement& user, const std::string& name) {
    if (const auto found = joint_index_.find(name); found != joint_index_.end())
        return joints_[at(found->second)];
    std::vector<std::string> names;
    for (const MjcfJoint& joint : joints_) {
        if (names.size() == 1000) break;
        names.push_back(joint.name);
    }
    user.fail(fmt::format("no joint is named '{}'", name.substr(0, 60)),
              suggestion(name.substr(0, 100), names));
}

void MjcfImporter::read_equality(const XmlElement& list) {
    static const std::vector<std::string> known = {"connect",  "weld", "joint",   "tendon",
                                                   "distance", "flex", "flexvert"};
    check_children(list, known);
    for (XmlElement child = list.first_child(); child; child = child.next()) {
        const MjcfElement element(child, defaults_, 0, "equality");
        if (!element.flag("active", true, true)) {
            lose(child, Kind::left_out, "inactive equalities", "act only when switched on");
            continue;
        }
        if (element.has("solref") || element.has("solimp"))
            lose(child, Kind::approximated, "solref and solimp of equalities", "they hold exactly here");
        if (child.name() == "connect" || child.name() == "weld")
            add_connect(element, child.name() == "weld");
        else if (child.name() == "joint")
            add_joint_equality(element);
        else
            lose(child, Kind::left_out, fmt::format("equality <{}>", child.name()),
                 "has no counterpart here");
    }
}

void MjcfImporter::add_connect(const MjcfElement& element, bool weld) {
    const XmlElement& xml = element.xml();
    if (element.has("site1") || element.has("site2")) {
        lose(xml, Kind::left_out, "equalities between sites", "name bodies");
        return;
    }
    const int one = body_named(xml, needed_attribute(xml, "body1"));
    const int two = xml.attribute("body2") ? body_named(xml, needed_attribute(xml, "body2")) : 0;
    const MjcfBody& first = bodies_[at(one)];
    const MjcfBody& second = bodies_[at(two)];
    if (first.owner == second.owner || (first.stays && second.stays)) {
        lose(xml, Kind::left_out, "equalities between parts that never move against each other",
             "hold by themselves");
        return;
    }
    JointSpec spec;
    spec.type = weld ? JointType::fixed : JointType::ball;
    spec.bodies = {first.owner, second.owner};
    Vec3 anchor = Vec3::Zero();
    if (!weld && !element.has("anchor")) xml.fail("<connect> has no 'anchor'", "add it");
    if (!weld) anchor = element.vec3("anchor", anchor);
    spec.point = first.pose.position + first.pose.rotation * anchor;
    if (const auto relative = element.numbers("relpose", 7, 7); weld && !relative.empty()) {
        // a quaternion of zeros means: as they are at the reference
        const Quat turn(relative[3], relative[4], relative[5], relative[6]);
        const Pose now = inverse(first.pose) * second.pose;
        const bool given = turn.norm() > 1e-12;
        if (given && ((Vec3(relative[0], relative[1], relative[2]) - now.position).norm() > 1e-9 ||
                      turn.normalized().angularDistance(now.rotation) > 1e-9))
            lose(xml, Kind::approximated, "relpose of welds",
                 "the bodies are welded as they are at the reference");
    }
    spec.name =
        free_name(text_attribute(xml, "name",
                                 fmt::format("{}-{}-{}", first.name, second.name, weld ? "weld" : "connect")),
                  [&](const std::string& n) { return scene_joint_names_.count(n) > 0; });
    scene_joint_names_.emplace(spec.name, 0);
    out_.scene.joints.push_back(spec);
}

// MuJoCo: q1 - ref1 = c0 + c1 (q2 - ref2) + ...; coordinates here are measured from the references already.
void MjcfImporter::add_joint_equality(const MjcfElement& element) {
    const XmlElement& xml = element.xml();
    std::vector<double> poly = element.numbers("polycoef", 1, 5);
    if (poly.empty()) poly = {0, 1, 0, 0, 0};
    poly.resize(5, 0.0);
    MjcfJoint& first = joint_named(xml, needed_attribute(xml, "joint1"));
    if (first.scene_joint < 0 || first.type == MjcfJoint::Type::ball || first.type == MjcfJoint::Type::free)
        xml.fail(fmt::format("'{}' is no hinge or slide", first.name),
                 "equalities of joints take hinges and slides");
    const bool alone = !xml.attribute("joint2");
    if (alone || poly[1] == 0) {
        JointSpec& spec = out_.scene.joints[at(first.scene_joint)];
        if (spec.drives.size() <= at(first.coordinate)) spec.drives.resize(at(first.coordinate) + 1);
        spec.drives[at(first.coordinate)].limits = {poly[0], poly[0]};
        lose(xml, Kind::converted, "a joint held at a constant", "has limits that meet");
        return;
    }
    MjcfJoint& second = joint_named(xml, needed_attribute(xml, "joint2"));
    if (second.scene_joint < 0 || second.type == MjcfJoint::Type::ball ||
        second.type == MjcfJoint::Type::free)
        xml.fail(fmt::format("'{}' is no hinge or slide", second.name),
                 "equalities of joints take hinges and slides");
    if (poly[2] != 0 || poly[3] != 0 || poly[4] != 0)
        lose(xml, Kind::approximated, "polycoef beyond the linear term", "couplings are linear");
    JointSpec spec;
    spec.type = JointType::coupling;
    spec.joints = {second.scene_joint, first.scene_joint};
    spec.coordinates = {second.coordinate, first.coordinate};
    spec.ratio = poly[1];
    spec.offset = poly[0];
    spec.name = free_name(text_attribute(xml, "name", first.name + "-" + second.name),
                          [&](const std::string& n) { return scene_joint_names_.count(n) > 0; });
    scene_joint_names_.emplace(spec.name, 0);
    out_.scene.joints.push_back(spec);
}

void MjcfImporter::read_contact(const XmlElement& list) {
    static const std::vector<std::string> known = {"pair", "exclude"};
    check_children(list, known);
    for (XmlElement child = list.first_child(); child; child = child.next()) {
        if (child.name() == "exclude") {
            const int a = bodies_[at(body_named(child, needed_attribute(child, "body1")))].owner;
            const int b = bodies_[at(body_named(child, needed_attribute(child, "body2")))].owner;
            if (a >= 0 && b >= 0 && a != b)
                out_.scene.contact.ignore.push_back({std::min(a, b), std::max(a, b)});
            else
                lose(child, Kind::left_out, "exclusions of the world's geoms",
                     "name its bodies in contact.ignore");
            continue;
        }
        for (const char* name : {"geom1", "geom2"}) {
            const std::string geom = needed_attribute(child, name);
            if (!geom_body_.count(geom))
                child.fail(fmt::format("no geom is named '{}'", geom.substr(0, 60)), "name two geoms");
        }
        lose(child, Kind::left_out, "contact <pair>", "bodies collide by their own masks and friction");
    }
}

void MjcfImporter::read_tendons(const XmlElement& list) {
    static const std::vector<std::string> known = {"fixed", "spatial"};
    check_children(list, known);
    for (XmlElement child = list.first_child(); child; child = child.next()) {
        const MjcfElement element(child, defaults_, 0, "tendon");
        if (child.name() == "spatial") {
            lose(child, Kind::left_out, "spatial tendons", "only sums of joint coordinates are known");
            continue;
        }
        for (const char* name :
             {"stiffness", "damping", "frictionloss", "range", "limited", "margin", "armature"})
            if (element.has(name) && element.text(name) != "0" && element.text(name) != "false")
                lose(child, Kind::left_out, fmt::format("{} of tendons", name),
                     "tendons only carry actuators");
        TendonSpec tendon;
        check_children(child, std::vector<std::string>{"joint"});
        for (XmlElement term = child.first_child(); term; term = term.next()) {
            const MjcfJoint& joint = joint_named(term, needed_attribute(term, "joint"));
            if (joint.scene_joint < 0 || joint.type == MjcfJoint::Type::ball)
                term.fail(fmt::format("'{}' is no hinge or slide", joint.name),
                          "fixed tendons take hinges and slides");
            if (!term.attribute("coef")) term.fail("<joint> of a tendon has no 'coef'", "add it");
            const double factor = number_attribute(term, "coef", 0);
            if (factor != 0) tendon.terms.push_back({joint.scene_joint, joint.coordinate, factor});
        }
        if (tendon.terms.empty()) child.fail("a fixed tendon has no joints", "add some");
        const int index = static_cast<int>(out_.scene.tendons.size());
        tendon.name = new_name(child, text_attribute(child, "name"), "tendon", tendon_index_, index);
        out_.scene.tendons.push_back(std::move(tendon));
    }
}

}  // namespace tenon::scene
