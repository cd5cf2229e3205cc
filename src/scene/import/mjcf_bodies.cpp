// Bodies and joints of the tree: masses, bodies without joints, several joints of one body, which pairs collide.
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "scene/import/mjcf.hpp"
#include "tenon/inertia.hpp"

namespace tenon::scene {
void MjcfImporter::read_inertial(const XmlElement& xml, int body, const Pose& offset) {
    if (body == 0) xml.fail("the world has no <inertial>", "remove it");
    const MjcfElement element(xml, defaults_, 0);
    if (bodies_[at(body)].inertial) xml.fail("a body has two <inertial>", "keep one");
    Inertial inertial;
    if (!xml.attribute("mass")) xml.fail("<inertial> has no 'mass'", "add it");
    inertial.mass = number_attribute(xml, "mass", 0);
    if (!(inertial.mass >= 0))
        xml.fail(fmt::format("mass is {:g} kg", inertial.mass), "it must not be negative");
    const auto full = element.numbers("fullinertia", 6, 6);
    if (!full.empty() && xml.attribute("diaginertia"))
        xml.fail("has both diaginertia and fullinertia", "keep one of the two");
    if (!full.empty()) {  // xx yy zz xy xz yz
        inertial.inertia << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
    } else {
        if (!xml.attribute("diaginertia"))
            xml.fail("<inertial> has neither diaginertia nor fullinertia", "add one");
        inertial.inertia = vec3_attribute(xml, "diaginertia", Vec3::Zero()).asDiagonal();
    }
    if (!(inertial.inertia.diagonal().minCoeff() >= 0))
        xml.fail("an inertia is negative", "moments of inertia are not negative");
    bodies_[at(body)].inertial = moved(inertial, offset * pose_of(element));
}

void MjcfImporter::read_joint(const XmlElement& xml, int body, const Pose& offset, int childclass) {
    if (body == 0) xml.fail("the world has no joints", "put the joint into a body");
    const MjcfElement element(xml, defaults_, childclass);
    MjcfJoint joint;
    joint.element = xml;
    joint.body = body;
    const bool free = xml.name() == "freejoint";
    const std::string type = free ? "free" : element.text("type", "hinge");
    using Type = MjcfJoint::Type;
    static const std::map<std::string, Type> types = {
        {"hinge", Type::hinge}, {"slide", Type::slide}, {"ball", Type::ball}, {"free", Type::free}};
    const auto found = types.find(type);
    if (found == types.end())
        xml.fail(fmt::format("unknown joint type '{}'", type.substr(0, 40)),
                 "use hinge, slide, ball or free");
    joint.type = found->second;
    joint.name =
        new_name(xml, text_attribute(xml, "name"), "joint", joint_index_, static_cast<int>(joints_.size()));
    MjcfBody& owner = bodies_[at(body)];
    if (joint.type == Type::free && (owner.parent != 0 || !owner.joints.empty()))
        xml.fail("a free joint belongs alone to a child of the world", "use slides and hinges further down");
    if (!owner.joints.empty() && joints_[at(owner.joints[0])].type == Type::free)
        xml.fail("a body with a free joint has another", "remove one of them");
    const Pose frame = owner.pose * offset;
    joint.point =
        frame.position + frame.rotation * (free ? Vec3(Vec3::Zero()) : element.vec3("pos", Vec3::Zero()));
    if (!free && joint.type != Type::free) {
        const Vec3 axis = element.vec3("axis", Vec3::UnitZ());
        if (!(axis.norm() > 1e-12)) xml.fail("the axis has length zero", "give a direction");
        joint.axis = (frame.rotation * axis).normalized();
        const auto turned = [&](double value) { return joint.type == Type::slide ? value : angle(value); };
        joint.reference = joint.type == Type::ball ? 0.0 : turned(element.number("ref", 0));
        if (const auto range = limited_range(element, "range", "limited"))
            joint.limits = {turned((*range)[0]) - joint.reference, turned((*range)[1]) - joint.reference};
        joint.stiffness = element.number("stiffness", 0);
        joint.damping = element.number("damping", 0);
        joint.rest = turned(element.number("springref", 0)) - joint.reference;
        joint.friction = element.number("frictionloss", 0);
        joint.armature = element.number("armature", 0);
        for (const double value : {joint.stiffness, joint.damping, joint.friction, joint.armature})
            if (!(value >= 0))
                xml.fail("stiffness, damping, frictionloss or armature is negative", "they are not");
        for (const char* name : {"solreflimit", "solimplimit", "solreffriction", "solimpfriction", "margin"})
            if (element.has(name) && element.text(name) != "0")
                lose(xml, Kind::left_out, fmt::format("{} of joints", name),
                     "limits and friction are exact here");
        if (const auto n = element.numbers("springdamper", 2, 2); !n.empty() && (n[0] != 0 || n[1] != 0))
            lose(xml, Kind::left_out, "springdamper of joints", "give stiffness and damping themselves");
        if (element.flag("actuatorgravcomp", false, false))
            lose(xml, Kind::left_out, "actuatorgravcomp of joints",
                 "gravity is compensated by forces on bodies, which no actuator's bound limits");
        joint.actuator_limits = limited_range(element, "actuatorfrcrange", "actuatorfrclimited");
    } else if (element.number("damping", 0) != 0 && !free) {
        lose(xml, Kind::left_out, "damping of free joints", "bodies move in empty space");
    }
    owner.joints.push_back(static_cast<int>(joints_.size()));
    joints_.push_back(std::move(joint));
}

// What the compiler's settings make of a moving body's inertia.
void MjcfImporter::bound_inertia(Inertial& inertial) const {
    inertial.mass = std::max(inertial.mass, compiler_.boundmass);
    InertiaSpec principal = principal_inertia(inertial.inertia);
    Vec3& m = principal.moments;
    m = m.cwiseMax(compiler_.boundinertia);
    if (compiler_.balanceinertia && 2 * m.maxCoeff() > m.sum()) m.setConstant(m.mean());
    if (compiler_.boundinertia > 0 || compiler_.balanceinertia) inertial.inertia = inertia_matrix(principal);
}

std::optional<Inertial> MjcfImporter::inertial_of(const MjcfBody& body) {
    using FromGeom = MjcfCompiler::FromGeom;
    std::optional<Inertial> result;
    if (body.inertial && compiler_.inertiafromgeom != FromGeom::always) result = body.inertial;
    if (!result && compiler_.inertiafromgeom != FromGeom::never) {
        Inertial sum;
        for (const MjcfGeom& geom : body.geoms)
            if (geom.group >= compiler_.inertiagrouprange[0] && geom.group <= compiler_.inertiagrouprange[1])
                sum = combined(sum, geom.inertial);
        if (sum.mass > 0) result = sum;
    }
    if (!result || !(result->mass > 0)) return std::nullopt;
    bound_inertia(*result);
    return result;
}

double MjcfImporter::light_mass() const {
    double total = 0;
    for (const BodySpec& body : out_.scene.bodies) total += body.mass.value_or(0);
    return total > 0 ? 1e-4 * total : 1e-3;
}

std::vector<GeometryPart> MjcfImporter::parts_of(const MjcfBody& body, BodySpec& spec) {
    std::vector<const MjcfGeom*> hard, shown;
    for (const MjcfGeom& geom : body.geoms) (geom.collides() ? hard : shown).push_back(&geom);
    const bool show = options_.visual_geometry ? !shown.empty() : hard.empty();
    const auto& used = show ? shown : hard;
    const auto& dropped = show ? hard : shown;
    if (hard.empty()) spec.collides = false;
    for (const MjcfGeom* geom : dropped)
        lose(geom->element, Kind::left_out, show ? "geoms that collide" : "geoms that are only seen",
             show ? "asked for by --geometry visual"
                  : "a body is drawn as what collides (--geometry visual takes them)");
    std::vector<GeometryPart> parts;
    for (const MjcfGeom* geom : used) parts.push_back(geom->part);
    for (const auto* list : {&shown, &hard})
        for (const MjcfGeom* geom : *list)
            if (spec.color[0] < 0 && geom->color[0] >= 0) spec.color = geom->color;
    if (!hard.empty()) {
        spec.friction = hard[0]->friction;
        for (const MjcfGeom* geom : hard)
            if (geom->friction != hard[0]->friction) {
                lose(geom->element, Kind::approximated, "friction that differs within a body",
                     "the first geom's is taken");
                break;
            }
    }
    return parts;
}

// The world's geoms are bodies of their own: planes stay planes that way.
void MjcfImporter::make_world_geoms() {
    MjcfBody& world = bodies_[0];
    for (std::size_t k = 0; k < world.geoms.size(); ++k) {
        const MjcfGeom& geom = world.geoms[k];
        BodySpec body;
        body.type = BodyType::static_body;
        body.name = free_name(
            geom.name.empty() ? fmt::format("world-geom{}", k) : geom.name,
            [&](const std::string& n) { return body_index_.count(n) > 0 || scene_body_names_.count(n) > 0; });
        scene_body_names_.emplace(body.name, 0);
        GeometryPart part = geom.part;
        body.position = part.position;
        body.rotation = part.rotation;
        part.position.setZero();
        part.rotation.setIdentity();
        body.geometry = geometry_of({part});
        body.collides = geom.collides();
        body.friction = geom.friction;
        body.color = geom.color;
        out_.scene.add_body(body);
    }
}

int MjcfImporter::add_body(MjcfBody& body, const std::optional<Inertial>& inertial) {
    BodySpec spec;
    spec.name = body.name;
    spec.type = body.mocap   ? BodyType::kinematic_body
                : body.stays ? BodyType::static_body
                             : BodyType::dynamic_body;
    spec.position = body.pose.position;
    spec.rotation = body.pose.rotation;
    const bool moves = spec.type == BodyType::dynamic_body;
    if (body.mocap) lose(body.element, Kind::converted, "mocap bodies", "are kinematic: give them a motion");
    if (inertial) {
        set_inertia(body.element, "'" + body.name + "'", spec, *inertial);
    } else if (moves) {
        Inertial small;
        small.mass = light_mass();
        small.inertia = small.mass * 1e-4 * Mat3::Identity();
        set_inertia(body.element, "'" + body.name + "'", spec, small);
        lose(body.element, Kind::approximated,
             fmt::format("moving bodies without mass weigh {:g} kg, 1 cm about their origin", small.mass),
             "a body that moves has a mass");
    }
    spec.geometry = geometry_of(parts_of(body, spec));
    scene_body_names_.emplace(spec.name, 0);
    return out_.scene.add_body(spec);
}

void MjcfImporter::merge_geoms(MjcfBody& body, MjcfBody& into) const {
    const Pose offset = inverse(into.pose) * body.pose;
    for (MjcfGeom& geom : body.geoms) {
        const Pose placed = offset * Pose{geom.part.position, geom.part.rotation};
        geom.part.position = placed.position;
        geom.part.rotation = placed.rotation;
        into.geoms.push_back(std::move(geom));
    }
    body.geoms.clear();
}

void MjcfImporter::compensate_gravity(const MjcfBody& body) {
    const BodySpec& spec = out_.scene.bodies[at(body.owner)];
    if (spec.type != BodyType::dynamic_body) return;
    ForceSpec lift;
    lift.body = body.owner;
    lift.force = -body.gravcomp * *spec.mass * out_.scene.gravity;
    out_.scene.forces.push_back(lift);
    lose(body.element, Kind::converted, "gravcomp",
         "became a constant force on the centre of mass, which does not follow a change of gravity");
}

void MjcfImporter::make_bodies() {
    make_world_geoms();
    double total = 0;
    std::vector<std::optional<Inertial>> inertial(bodies_.size());
    for (std::size_t i = 1; i < bodies_.size(); ++i) {
        inertial[i] = inertial_of(bodies_[i]);
        if (inertial[i]) total += inertial[i]->mass;
    }
    if (compiler_.settotalmass > 0 && total > 0)
        for (auto& entry : inertial)
            if (entry) {
                entry->mass *= compiler_.settotalmass / total;
                entry->inertia *= compiler_.settotalmass / total;
            }
    for (std::size_t i = 1; i < bodies_.size(); ++i) {
        MjcfBody& body = bodies_[i];
        body.stays = body.joints.empty() && bodies_[at(body.parent)].stays && !body.mocap;
    }
    std::vector<char> absorbed(bodies_.size(), 0);
    for (std::size_t i = bodies_.size(); i-- > 1;) {  // children first: their geoms may go up more than once
        MjcfBody& body = bodies_[i];
        MjcfBody& parent = bodies_[at(body.parent)];
        absorbed[i] =
            body.joints.empty() && !body.mocap && !parent.stays && !inertial[i] && !body.geoms.empty();
        if (absorbed[i]) merge_geoms(body, parent);
    }
    for (std::size_t i = 1; i < bodies_.size(); ++i) {
        MjcfBody& body = bodies_[i];
        const MjcfBody& parent = bodies_[at(body.parent)];
        const bool rigidly = body.joints.empty() && !body.mocap;
        if (rigidly && !inertial[i] && body.geoms.empty() && !absorbed[i]) {  // a frame of its parent
            body.owner = parent.owner;
            body.in_owner = parent.in_owner * (inverse(parent.pose) * body.pose);
            lose(body.element, Kind::converted, "bodies without mass, geoms and joints",
                 "are frames of their parents");
            continue;
        }
        if (absorbed[i]) {
            lose(body.element, Kind::converted, "geoms of bodies without mass",
                 "are parts of the body that carries them");
            body.owner = parent.owner;
            body.in_owner = parent.in_owner * (inverse(parent.pose) * body.pose);
            continue;
        }
        body.inertial = inertial[i];
        body.owner = add_body(body, inertial[i]);
        if (body.gravcomp != 0) compensate_gravity(body);
    }
    if (out_.scene.bodies.empty())
        document_.root().fail("has no bodies and no geoms", "a scene has at least one");
}

DriveSpec MjcfImporter::drive_spec(const MjcfJoint& joint) const {
    DriveSpec drive;
    drive.limits = joint.limits;
    if (joint.stiffness > 0 || joint.damping > 0)
        drive.spring = SpringSpec{joint.stiffness, joint.damping, joint.rest};
    drive.friction = joint.friction;
    drive.armature = joint.armature;
    return drive;
}

JointSpec MjcfImporter::joint_spec(const MjcfJoint& joint, int first, int second) const {
    JointSpec spec;
    spec.name = joint.name;
    spec.bodies = {first, second};
    spec.point = joint.point;
    spec.axis = joint.axis;
    spec.type = joint.type == MjcfJoint::Type::slide  ? JointType::prismatic
                : joint.type == MjcfJoint::Type::ball ? JointType::ball
                                                      : JointType::hinge;
    const DriveSpec drive = drive_spec(joint);
    if (spec.type != JointType::ball) {
        if (!drive.empty()) spec.drives = {drive};
        return spec;
    }
    if (drive.limits) {
        spec.drives.emplace_back();
        spec.drives[0].limits = {0.0, (*drive.limits)[1]};
    }
    spec.twist = spec.bend = drive.spring;
    return spec;
}

// A small body between two joints of one body.
int MjcfImporter::add_between(const MjcfBody& body, const MjcfJoint& joint) {
    BodySpec between;
    between.name = free_name(body.name + "-" + joint.name, [&](const std::string& n) {
        return body_index_.count(n) > 0 || scene_body_names_.count(n) > 0;
    });
    scene_body_names_.emplace(between.name, 0);
    between.position = joint.point;
    between.collides = false;
    const BodySpec& pattern = out_.scene.bodies[at(body.owner)];
    Inertial small;
    small.mass = 1e-3 * pattern.mass.value_or(1.0);
    const double moment = 1e-3 * pattern.inertia->moments.maxCoeff();
    small.inertia = moment * Mat3::Identity();
    set_inertia(joint.element, "'" + between.name + "'", between, small);
    lose(joint.element, Kind::approximated, "several joints of one body",
         "bodies of a thousandth of its mass and inertia stand between them");
    return out_.scene.add_body(between);
}

void MjcfImporter::join(MjcfBody& body) {
    Scene& scene = out_.scene;
    const int parent = bodies_[at(body.parent)].owner;
    const auto add = [&](JointSpec spec) {
        spec.name =
            free_name(spec.name, [&](const std::string& n) { return scene_joint_names_.count(n) > 0; });
        scene_joint_names_.emplace(spec.name, 0);
        scene.joints.push_back(std::move(spec));
        return static_cast<int>(scene.joints.size()) - 1;
    };
    if (body.joints.empty()) {
        if (body.stays || body.mocap || body.owner == parent || body.owner < 0) return;
        JointSpec weld;
        weld.type = JointType::fixed;
        weld.name = body.name + "-weld";
        weld.bodies = {parent, body.owner};
        weld.point = body.pose.position;
        add(weld);
        return;
    }
    MjcfJoint& first = joints_[at(body.joints[0])];
    if (first.type == MjcfJoint::Type::free) return;
    if (body.joints.size() == 2) {
        MjcfJoint& second = joints_[at(body.joints[1])];
        const bool hinges = first.type == MjcfJoint::Type::hinge && second.type == MjcfJoint::Type::hinge;
        if (hinges && (first.point - second.point).norm() < 1e-12 &&
            std::abs(first.axis.dot(second.axis)) < 1e-12) {
            JointSpec spec = joint_spec(first, parent, body.owner);
            spec.type = JointType::universal;
            spec.axis_b = second.axis;
            spec.drives = {drive_spec(first), drive_spec(second)};
            first.scene_joint = second.scene_joint = add(spec);
            second.coordinate = 1;
            return;
        }
    }
    int before = parent;
    for (std::size_t k = 0; k < body.joints.size(); ++k) {
        MjcfJoint& joint = joints_[at(body.joints[k])];
        const bool last = k + 1 == body.joints.size();
        const int after = last ? body.owner : add_between(body, joint);
        if (joint.type == MjcfJoint::Type::ball && (joint.limits || joint.friction > 0 || joint.armature > 0))
            lose(joint.element, Kind::approximated, "limits, friction and armature of ball joints",
                 "the limit bounds the swing only, friction and armature are left out");
        joint.scene_joint = add(joint_spec(joint, before, after));
        before = after;
    }
}

void MjcfImporter::make_joints() {
    for (std::size_t i = 1; i < bodies_.size(); ++i) join(bodies_[i]);
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        const MjcfJoint& joint = joints_[j];
        if (joint.scene_joint < 0) continue;
        joint_of_scene_[{joint.scene_joint, joint.coordinate}] = static_cast<int>(j);
        if (joint.reference != 0) references_[{joint.scene_joint, joint.coordinate}] = joint.reference;
    }
}

// contype and conaffinity speak of geoms; here bodies collide, or do not.
void MjcfImporter::make_filters() {
    using Masks = std::set<std::pair<int, int>>;
    std::map<int, Masks> masks;  // by body of the scene
    bool plain = true;
    for (std::size_t k = 0; k < bodies_[0].geoms.size(); ++k) {
        const MjcfGeom& geom = bodies_[0].geoms[k];
        if (geom.collides()) masks[static_cast<int>(k)].insert({geom.contype, geom.conaffinity});
    }
    for (std::size_t i = 1; i < bodies_.size(); ++i)
        for (const MjcfGeom& geom : bodies_[i].geoms)
            if (geom.collides() && bodies_[i].owner >= 0)
                masks[bodies_[i].owner].insert({geom.contype, geom.conaffinity});
    for (const auto& [body, set] : masks) plain = plain && set == Masks{{1, 1}};
    if (plain) return;
    if (masks.size() > 3000) {
        lose(document_.root(), Kind::left_out, "contype and conaffinity",
             "of more than 3000 bodies: all may collide");
        return;
    }
    for (auto a = masks.begin(); a != masks.end(); ++a)
        for (auto b = std::next(a); b != masks.end(); ++b) {
            int yes = 0, no = 0;
            for (const auto& [ta, fa] : a->second)
                for (const auto& [tb, fb] : b->second) ((ta & fb) || (tb & fa) ? yes : no)++;
            const bool paired = paired_.count({a->first, b->first}) > 0;  // bodies come in ascending order
            if (yes == 0 && !paired) out_.scene.contact.ignore.push_back({a->first, b->first});
            if (yes > 0 && no > 0)
                lose(document_.root(), Kind::approximated,
                     "contype and conaffinity that differ within a body", "the whole bodies collide");
        }
}

}  // namespace tenon::scene
