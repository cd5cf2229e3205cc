// protein: a backbone unfolds. Links are the rigid groups between rotatable bonds; dihedrals phi and psi are hinges.
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "scene/builtin/robots_scenes.hpp"
#include "tenon/error.hpp"
#include "tenon/link_tree.hpp"

namespace tenon {
namespace {

// Engh and Huber's mean geometry of the backbone. One angstrom is drawn as a centimetre.
constexpr double angstrom = 0.01, degree = M_PI / 180;
constexpr double n_ca = 1.458 * angstrom, ca_c = 1.525 * angstrom, c_n = 1.329 * angstrom,
                 c_o = 1.231 * angstrom;
constexpr double at_ca = 111.0 * degree, at_c = 117.2 * degree, at_n = 121.7 * degree,
                 o_at_c = 120.1 * degree;

// The atom bound to c at a length, an angle b-c-d and a dihedral a-b-c-d.
Vec3 placed(const Vec3& a, const Vec3& b, const Vec3& c, double length, double angle, double dihedral) {
    const Vec3 bc = (c - b).normalized(), normal = (b - a).cross(bc).normalized();
    return c + length * (-std::cos(angle) * bc + std::sin(angle) * (std::cos(dihedral) * normal.cross(bc) +
                                                                    std::sin(dihedral) * normal));
}

struct Residue {
    Vec3 n, ca, c;
};

// Dihedrals of residue i: psi turns about its CA-C, phi about its N-CA.
struct Dihedrals {
    std::vector<double> phi, psi;
};

// Helices of 14 residues with loops of 4 between them.
Dihedrals folded(int residues, std::mt19937& random) {
    const auto uniform = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random()) / 4294967295.0;
    };
    Dihedrals all;
    for (int i = 0; i < residues; ++i) {
        const bool loop = i % 18 >= 14;
        all.phi.push_back((loop ? uniform(-150, -60) : -57.0) * degree);
        all.psi.push_back((loop ? uniform(80, 160) : -47.0) * degree);
    }
    return all;
}

// What is observed: loops of the middle third open, helices there uncoil a little.
Dihedrals unfolding(const Dihedrals& from, double share) {
    Dihedrals all = from;
    const int residues = static_cast<int>(from.phi.size());
    for (int i = residues / 3; i < 2 * residues / 3; ++i) {
        const bool loop = i % 18 >= 14;
        all.phi[i] += share * (loop ? 25.0 : -3.0) * degree;
        all.psi[i] += share * (loop ? -20.0 : 4.0) * degree;
    }
    return all;
}

std::vector<Residue> backbone(const Dihedrals& dihedrals) {
    std::vector<Residue> chain(1);
    chain[0].n = Vec3::Zero();
    chain[0].ca = Vec3(n_ca, 0, 0);
    chain[0].c = chain[0].ca + ca_c * Vec3(-std::cos(at_ca), std::sin(at_ca), 0);
    for (std::size_t i = 1; i < dihedrals.phi.size(); ++i) {
        const Residue& last = chain.back();
        Residue next;
        next.n = placed(last.n, last.ca, last.c, c_n, at_c, dihedrals.psi[i - 1]);
        next.ca = placed(last.ca, last.c, next.n, n_ca, at_n, M_PI);  // the peptide bond is flat
        next.c = placed(last.c, next.n, next.ca, ca_c, at_ca, dihedrals.phi[i]);
        chain.push_back(next);
    }
    return chain;
}

GeometryPart bond(const Vec3& a, const Vec3& b, double radius) {
    GeometryPart part;
    part.geometry = shape_spec("rod", {{"radius", radius}, {"length", (b - a).norm()}, {"segments", 6.0}});
    part.position = 0.5 * (a + b);
    part.rotation = shortest_turn(Vec3::UnitY(), (b - a).normalized());
    return part;
}

GeometryPart atom(const Vec3& at, double radius) {
    GeometryPart part;
    part.geometry = shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 1.0}});
    part.position = at;
    return part;
}

// x along b - a, y in the plane of c: the frame in which groups of three atoms are all alike.
Mat3 triad(const Vec3& a, const Vec3& b, const Vec3& c) {
    Mat3 axes;
    axes.col(0) = (b - a).normalized();
    axes.col(2) = axes.col(0).cross(c - b).normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));
    return axes;
}

// N, CA, C with the bonds between them, seen from CA.
GeometrySpec alpha_carbon() {
    GeometrySpec geometry;
    const Vec3 n(-n_ca, 0, 0), c = ca_c * Vec3(-std::cos(at_ca), std::sin(at_ca), 0);
    geometry.parts = {bond(n, Vec3::Zero(), 0.0018), bond(Vec3::Zero(), c, 0.0018),
                      atom(Vec3::Zero(), 0.0045)};
    return geometry;
}

// C, O, N, seen from C, x along CA-C.
GeometrySpec peptide() {
    GeometrySpec geometry;
    const Vec3 n = c_n * Vec3(-std::cos(at_c), std::sin(at_c), 0),
               o = c_o * Vec3(-std::cos(o_at_c), -std::sin(o_at_c), 0);
    geometry.parts = {bond(Vec3::Zero(), n, 0.0018), bond(Vec3::Zero(), o, 0.0014), atom(o, 0.0035)};
    return geometry;
}

struct Chain {
    kinematics::Tree tree;
    std::vector<int> body;  // of each link
};

// Links: peptide of residue 0, CA of residue 1, peptide of residue 1 ... Coordinates count from the start.
Chain add_chain(Scene& scene, const std::vector<Residue>& atoms, int links) {
    const int ca_shape = scene.add_geometry(alpha_carbon()), peptide_shape = scene.add_geometry(peptide());
    const auto add = [&](const std::string& name, int geometry, const Vec3& at, const Mat3& axes,
                         const Vec3& color) {
        BodySpec body;
        body.name = name;
        body.geometry = geometry;
        body.position = at;
        body.rotation = Quat(axes);
        body.collides = false;
        body.color = {color.x(), color.y(), color.z()};
        return scene.add_body(body);
    };
    Chain chain;
    int below =
        add("ca-0", ca_shape, atoms[0].ca, triad(atoms[0].n, atoms[0].ca, atoms[0].c), {0.3, 0.3, 0.3});
    scene.bodies[below].type = BodyType::static_body;
    Vec3 last = Vec3::Zero();
    for (int k = 0; k < links; ++k) {
        const int i = k / 2;  // residue whose psi it is, or the one before phi's
        const Residue &a = atoms[i], &b = atoms[i + 1];
        const bool psi = k % 2 == 0;
        const Vec3 from = psi ? a.ca : b.n, to = psi ? a.c : b.ca;
        const double share = static_cast<double>(k) / links;
        const Vec3 color = Vec3(0.2 + 0.7 * share, 0.45, 0.9 - 0.7 * share);
        const int body =
            psi ? add(fmt::format("peptide-{}", i), peptide_shape, a.c, triad(a.ca, a.c, b.n), color)
                : add(fmt::format("ca-{}", i + 1), ca_shape, b.ca, triad(b.n, b.ca, b.c), color);
        const std::string name = psi ? fmt::format("psi-{}", i) : fmt::format("phi-{}", i + 1);
        scene.joints.push_back(joint_spec(name, JointType::hinge, below, body, to, (to - from).normalized()));
        kinematics::Link link;
        link.name = name;
        link.parent = k - 1;
        link.motion = kinematics::Link::Motion::hinge;
        link.axis = (to - from).normalized();
        link.anchor = to - last;
        chain.tree.add(link);
        chain.body.push_back(body);
        last = to;
        below = body;
    }
    return chain;
}

Scene make_protein(const Params& params) {
    const int links = params.integer("links"), keyframes = params.integer("keyframes");
    const int residues = links / 2 + 2;
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    scene.gravity = Vec3::Zero();
    scene.materials[0].name = "peptide";
    std::mt19937 random(static_cast<unsigned>(params.integer("seed")));
    const Dihedrals start = folded(residues, random);
    const Chain chain = add_chain(scene, backbone(start), links);

    // markers are alpha carbons, evenly spread: links 1, 3, 5 ...
    const int markers = std::min(params.integer("markers"), links / 2);
    std::vector<kinematics::Target> targets(static_cast<std::size_t>(markers));
    for (int m = 0; m < markers; ++m) targets[m].link = 2 * ((m + 1) * (links / 2) / markers) - 1;

    std::vector<ActuatorSpec> motors(static_cast<std::size_t>(links));
    for (int k = 0; k < links; ++k) {
        motors[k].name = scene.joints[k].name;
        motors[k].type = ActuatorSpec::Type::position;
        motors[k].joint = k;
        motors[k].profile.push_back({0.0, 0.0});
    }
    kinematics::InverseOptions options;
    options.tolerance = 1e-6;
    VecX q = chain.tree.zero();
    for (int frame = 1; frame <= keyframes; ++frame) {
        const std::vector<Residue> observed =
            backbone(unfolding(start, static_cast<double>(frame) / keyframes));
        for (auto& target : targets) target.position = observed[(target.link + 1) / 2].ca;
        const kinematics::InverseResult found =
            kinematics::inverse_kinematics(chain.tree, targets, q, options);
        if (!found.converged)
            throw InputError("", "keyframes",
                             fmt::format("keyframe {} is {:.3g} m off its markers", frame, found.error),
                             "take more keyframes, so that they lie closer, or fewer markers");
        const double begin = scene.seconds * (frame - 1) / keyframes, end = scene.seconds * frame / keyframes;
        constexpr int pieces = 10;  // gently from one keyframe to the next
        for (int p = 1; p <= pieces; ++p) {
            const double u = static_cast<double>(p) / pieces, s = 0.5 - 0.5 * std::cos(M_PI * u);
            for (int k = 0; k < links; ++k)
                motors[k].profile.push_back({begin + u * (end - begin), q[k] + s * (found.q[k] - q[k])});
        }
        q = found.q;
        for (const auto& target : targets) {
            ExpectSpec seen;
            seen.body = scene.bodies[chain.body[target.link]].name;
            seen.at = end;
            seen.position = target.position;
            seen.within = 0.1 * angstrom;
            seen.note = fmt::format("meets its marker of keyframe {}", frame);
            scene.expect.push_back(seen);
        }
    }
    scene.actuators = std::move(motors);
    scene.expect.push_back(expect_closed_joints(1e-7));
    return scene;
}

}  // namespace

BuiltinScene protein_scene() {
    return {"protein",
            "articulated",
            "a backbone of rigid groups with dihedrals phi and psi unfolds along keyframes of markers",
            "003, Fig. 22",
            "helices stay helices while the loops of the middle third open; no bond breaks",
            {{"dt", 0.01, "time step", 1e-6, 0.1, {}, "s"},
             {"seconds", 2.0, "simulated time", 0.1, 1e4, {}, "s"},
             {"links", 200.0, "rigid groups: two for each residue", 4, 1e6},
             {"keyframes", 4.0, "observations of the markers", 1, 1000},
             {"markers", 10.0, "alpha carbons that are observed", 1, 200},
             {"seed", 1.0, "of the loops' dihedrals", 0, 1e9}},
            {{"links", 14000.0}, {"markers", 20.0}},
            make_protein};
}

}  // namespace tenon
