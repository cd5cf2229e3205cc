// Equality constraints, contact pairs and exclusions, tendons.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "scene/import/mjcf.hpp"
#include "scene/import/mjcf_attributes.hpp"
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

const MjcfSite& MjcfImporter::site_named(const XmlElement& user, const std::string& name) const {
    const auto found = sites_.find(name);
    if (found == sites_.end())
        user.fail(fmt::format("no site is named '{}'", name.substr(0, 60)), "name one of the sites");
    return found->second;
}

Pose MjcfImporter::site_pose(const MjcfSite& site) const {
    return bodies_[at(site.body)].pose * site.pose;
}

JointSpec MjcfImporter::named_equality(const XmlElement& xml, const MjcfBody& first, const MjcfBody& second,
                                       bool weld) {
    JointSpec spec;
    spec.type = weld ? JointType::fixed : JointType::ball;
    spec.bodies = {first.owner, second.owner};
    spec.name =
        free_name(text_attribute(xml, "name",
                                 fmt::format("{}-{}-{}", first.name, second.name, weld ? "weld" : "connect")),
                  [&](const std::string& n) { return scene_joint_names_.count(n) > 0; });
    scene_joint_names_.emplace(spec.name, 0);
    return spec;
}

void MjcfImporter::add_connect(const MjcfElement& element, bool weld) {
    const XmlElement& xml = element.xml();
    if (element.has("site1") || element.has("site2")) return add_site_equality(element, weld);
    const int one = body_named(xml, needed_attribute(xml, "body1"));
    const int two = xml.attribute("body2") ? body_named(xml, needed_attribute(xml, "body2")) : 0;
    const MjcfBody& first = bodies_[at(one)];
    const MjcfBody& second = bodies_[at(two)];
    if (first.owner == second.owner || (first.stays && second.stays)) {
        lose(xml, Kind::left_out, "equalities between parts that never move against each other",
             "hold by themselves");
        return;
    }
    if (!weld && !element.has("anchor")) xml.fail("<connect> has no 'anchor'", "add it");
    JointSpec spec = named_equality(xml, first, second, weld);
    const Vec3 anchor = weld ? Vec3(Vec3::Zero()) : element.vec3("anchor", Vec3::Zero());
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
    out_.scene.joints.push_back(spec);
}

// Two sites that meet: at one point, or as frames.
void MjcfImporter::add_site_equality(const MjcfElement& element, bool weld) {
    const XmlElement& xml = element.xml();
    const MjcfSite& one = site_named(xml, needed_attribute(xml, "site1"));
    const MjcfSite& two = site_named(xml, needed_attribute(xml, "site2"));
    const MjcfBody& first = bodies_[at(one.body)];
    const MjcfBody& second = bodies_[at(two.body)];
    const Pose a = site_pose(one), b = site_pose(two);
    const double gap = (a.position - b.position).norm();
    if (first.owner == second.owner || (first.stays && second.stays))
        return lose(xml, Kind::left_out, "equalities between parts that never move against each other",
                    "hold by themselves");
    if (gap > 1e-6 || (weld && a.rotation.angularDistance(b.rotation) > 1e-6))
        return lose(xml, Kind::left_out,
                    fmt::format("equalities of sites that are {:.3g} m apart at the reference", gap),
                    "joints are whole where joints are at zero: change the reference so that the sites meet");
    JointSpec spec = named_equality(xml, first, second, weld);
    spec.point = a.position;
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

MjcfGeom& MjcfImporter::geom_named(const XmlElement& user, const std::string& name, int& body, int& place) {
    const auto found = geom_body_.find(name);
    if (found == geom_body_.end())
        user.fail(fmt::format("no geom is named '{}'", name.substr(0, 60)), "name two geoms");
    body = found->second;
    place = geom_place_.at(name);
    return bodies_[at(body)].geoms[at(place)];
}

// Geoms of a pair collide, whatever their masks say; known before bodies are made of them.
void MjcfImporter::mark_pairs(const XmlElement& list) {
    static const std::vector<std::string> known = {"pair", "exclude"};
    check_children(list, known);
    for (XmlElement child = list.first_child(); child; child = child.next()) {
        if (child.name() != "pair") continue;
        const MjcfElement element(child, defaults_, 0);
        ContactPair pair;
        pair.element = child;
        double larger = 0;
        for (const char* key : {"geom1", "geom2"}) {
            int body = -1, place = -1;
            MjcfGeom& geom = geom_named(child, needed_attribute(child, key), body, place);
            geom.paired = true;
            larger = std::max(larger, geom.friction);
            // the world's geoms are the scene's first bodies; others follow the owners of theirs
            (key[4] == '1' ? pair.a : pair.b) = body == 0 ? -1 - place : body;
        }
        const auto given = element.numbers("friction", 1, 5);
        pair.friction = given.empty() ? larger : given[0];
        if (pair.friction < 0)
            child.fail(fmt::format("friction is {:g}", pair.friction), "it must not be negative");
        contact_pairs_.push_back(pair);
        for (const char* name : {"margin", "gap", "solref", "solimp", "condim"})
            if (element.has(name))
                lose(child, Kind::left_out, fmt::format("{} of contact pairs", name),
                     "is a setting of MuJoCo's contact model");
    }
}

std::vector<int> MjcfImporter::scene_bodies(int body) const {
    if (body != 0) return {bodies_[at(body)].owner};
    std::vector<int> all(bodies_[0].geoms.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
    return all;
}

void MjcfImporter::add_exclusion(const XmlElement& xml) {
    check_mjcf_attributes(xml);
    const int one = body_named(xml, needed_attribute(xml, "body1")),
              two = body_named(xml, needed_attribute(xml, "body2"));
    auto& ignored = out_.scene.contact.ignore;
    for (const int a : scene_bodies(one))
        for (const int b : scene_bodies(two))
            if (a >= 0 && b >= 0 && a != b) ignored.push_back({std::min(a, b), std::max(a, b)});
    if (ignored.size() > 10'000'000)
        xml.fail("makes more than ten million exclusions", "merge geoms of the world, or use masks");
}

void MjcfImporter::read_contact(const XmlElement& list) {
    for (XmlElement child = list.first_child(); child; child = child.next())
        if (child.name() == "exclude") add_exclusion(child);
}

void MjcfImporter::resolve_pairs() {
    for (ContactPair& pair : contact_pairs_)
        for (int* body : {&pair.a, &pair.b}) *body = *body < 0 ? -1 - *body : bodies_[at(*body)].owner;
    for (const ContactPair& pair : contact_pairs_) paired_.insert(std::minmax(pair.a, pair.b));
    std::set<std::pair<int, int>> jointed;
    for (const JointSpec& joint : out_.scene.joints)
        jointed.insert(std::minmax(joint.bodies[0], joint.bodies[1]));
    for (const ContactPair& pair : contact_pairs_)
        if (jointed.count(std::minmax(pair.a, pair.b)))
            lose(pair.element, Kind::left_out, "contact pairs of bodies that share a joint",
                 "these collide only with contact.jointed_bodies_collide");
}

// The larger friction of two geoms counts, and a pair may have its own: materials say so, where bodies alone would
// give the geometric mean.
void MjcfImporter::mix_frictions() {
    Scene& scene = out_.scene;
    std::map<std::pair<int, double>, int> material_of;  // of a body with friction of its own, or of all alike
    std::vector<double> friction(scene.materials.size(), -1.0);
    std::vector<ContactPair> special;
    std::set<int> alone;
    for (const ContactPair& pair : contact_pairs_) {
        const auto own = [&](int body) { return scene.bodies[at(body)].friction.value_or(1.0); };
        if (pair.a == pair.b || pair.friction == std::max(own(pair.a), own(pair.b))) continue;
        special.push_back(pair);
        alone.insert({pair.a, pair.b});
    }
    std::set<double> values;
    for (const BodySpec& body : scene.bodies)
        if (body.friction) values.insert(*body.friction);
    if (special.empty() && values.size() < 2) return;
    if (alone.size() + values.size() > 64)
        return lose(document_.root(), Kind::approximated, "friction of more than 64 kinds",
                    "is the geometric mean of the two bodies', not the larger");
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        BodySpec& body = scene.bodies[i];
        if (!body.friction) continue;
        const int only = alone.count(static_cast<int>(i)) ? static_cast<int>(i) : -1;
        const auto [entry, is_new] = material_of.try_emplace({only, *body.friction}, 0);
        if (is_new) {
            MaterialSpec material = scene.materials[0];
            material.name =
                only < 0 ? fmt::format("friction-{:g}", *body.friction) : "surface-of-" + body.name;
            material.friction = *body.friction;
            entry->second = scene.add_material(material);
            friction.resize(scene.materials.size(), -1.0);
            friction.back() = *body.friction;
        }
        body.material = entry->second;
    }
    for (int a = 1; a < static_cast<int>(friction.size()); ++a)
        for (int b = a + 1; b < static_cast<int>(friction.size()); ++b)
            if (friction[at(a)] != friction[at(b)])
                scene.contact.pairs.push_back({{a, b}, std::max(friction[at(a)], friction[at(b)]), {}});
    for (const ContactPair& pair : special) {
        const std::array<int, 2> two{scene.bodies[at(pair.a)].material, scene.bodies[at(pair.b)].material};
        std::erase_if(scene.contact.pairs, [&](const PairSpec& rule) {
            return std::minmax(rule.materials[0], rule.materials[1]) == std::minmax(two[0], two[1]);
        });
        scene.contact.pairs.push_back({two, pair.friction, {}});
    }
}

// Names and couplings, before any tendon is read: what is driven matters to them, what was left out to actuators.
void MjcfImporter::note_tendons(const XmlElement& root) {
    for (XmlElement section = root.first_child(); section; section = section.next())
        for (XmlElement entry = section.first_child(); entry; entry = entry.next()) {
            if (section.name() == "tendon") tendon_names_.insert(text_attribute(entry, "name"));
            if (section.name() == "actuator") driven_tendons_.insert(text_attribute(entry, "tendon"));
        }
    driven_tendons_.erase("");
    for (const JointSpec& joint : out_.scene.joints)
        if (joint.type == JointType::coupling)
            driver_[{joint.joints[1], joint.coordinates[1]}] = {joint.joints[0], joint.coordinates[0]};
}

void MjcfImporter::read_tendons(const XmlElement& list) {
    static const std::vector<std::string> known = {"fixed", "spatial"};
    check_children(list, known);
    for (XmlElement child = list.first_child(); child; child = child.next()) {
        const MjcfElement element(child, defaults_, 0, "tendon");
        if (child.name() == "spatial") {
            read_spatial_tendon(element);
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
            check_mjcf_attributes(term);
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

// From one site to another: a distance joint whose length is free for springs, limits and actuators.
void MjcfImporter::read_spatial_tendon(const MjcfElement& element) {
    const XmlElement& xml = element.xml();
    const auto left_out = [&](const char* what, const char* why) { lose(xml, Kind::left_out, what, why); };
    std::vector<const MjcfSite*> path;
    for (XmlElement child = xml.first_child(); child; child = child.next()) {
        check_mjcf_attributes(child);
        if (child.name() != "site")
            return left_out("spatial tendons around geoms and pulleys", "only straight ones are known");
        path.push_back(&site_named(child, needed_attribute(child, "site")));
    }
    if (path.size() != 2)
        return left_out("spatial tendons of other than two sites", "only straight ones are known");
    const MjcfBody &first = bodies_[at(path[0]->body)], &second = bodies_[at(path[1]->body)];
    JointSpec joint;
    joint.type = JointType::distance;
    joint.bodies = {first.owner, second.owner};
    joint.point = site_pose(*path[0]).position;
    joint.point_b = site_pose(*path[1]).position;
    const double length = (*joint.point_b - joint.point).norm();
    if (first.owner == second.owner || (first.stays && second.stays))
        return left_out("spatial tendons of one body", "their length does not change");
    if (!(length > 1e-9))
        return left_out("spatial tendons of length zero", "they have no direction to pull in");
    DriveSpec drive;
    const double stiffness = element.number("stiffness", 0), damping = element.number("damping", 0);
    const auto rest = element.numbers("springlength", 1, 2);
    if (rest.size() == 2 && rest[0] != rest[1])
        lose(xml, Kind::approximated, "springlength of two numbers", "the spring rests at their mean");
    const double at_rest = rest.empty() || rest[0] < 0 ? length : 0.5 * (rest[0] + rest.back());
    if (stiffness > 0 || damping > 0) drive.spring = SpringSpec{stiffness, damping, at_rest};
    drive.friction = element.number("frictionloss", 0);
    drive.armature = element.number("armature", 0);
    for (const double value : {stiffness, damping, drive.friction, drive.armature})
        if (!(value >= 0))
            xml.fail("stiffness, damping, frictionloss or armature is negative", "they are not");
    drive.limits = limited_range(element, "range", "limited");
    if (drive.empty() && !driven_tendons_.count(text_attribute(xml, "name")))
        return left_out("spatial tendons that nothing acts along", "they are only seen");
    const std::string name = new_name(xml, text_attribute(xml, "name"), "tendon", spatial_joint_,
                                      static_cast<int>(out_.scene.joints.size()));
    joint.name = free_name(name, [&](const std::string& n) { return scene_joint_names_.count(n) > 0; });
    scene_joint_names_.emplace(joint.name, 0);
    if (!drive.empty()) joint.drives = {drive};
    lose(xml, Kind::converted, "spatial tendons between two sites",
         "are distance joints; their two bodies do not collide with each other");
    out_.scene.joints.push_back(std::move(joint));
}

}  // namespace tenon::scene
