#include "scene/import/mjcf_attributes.hpp"

#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "scene/import/attributes.hpp"

namespace tenon::scene {
namespace {

using Names = std::vector<std::string>;
using Table = std::unordered_map<std::string, Names>;

constexpr const char* orientation = " quat axisangle xyaxes zaxis euler";
constexpr const char* limit_softness = " solreflimit solimplimit solreffriction solimpfriction margin";
constexpr const char* equality = " name class active solref solimp";
constexpr const char* actuator =
    " name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange lengthrange "
    "gear damping "
    "armature cranklength joint jointinparent tendon slidersite cranksite site refsite";
constexpr const char* sensor = " name nsample interp delay interval cutoff noise user";
constexpr const char* frame_of = " objtype objname reftype refname";
constexpr const char* surfaces = " geom1 geom2 body1 body2";

Names words(const std::string& text) {
    std::istringstream in(text);
    Names out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

Table elements_of_a_model() {
    const std::string turned = orientation;
    return {
        {"mujoco", words("model")},
        {"default", words("class")},
        {"option", words("timestep impratio tolerance ls_tolerance noslip_tolerance mpr_tolerance "
                         "ccd_tolerance sleep_tolerance "
                         "gravity wind magnetic density viscosity o_margin o_solref o_solimp o_friction "
                         "integrator collision cone "
                         "jacobian solver iterations ls_iterations noslip_iterations mpr_iterations "
                         "ccd_iterations sdf_iterations "
                         "sdf_initpoints actuatorgroupdisable apirate")},
        {"mesh",
         words("name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal "
               "maxhullvert inertia builtin params material")},
        {"hfield", words("name content_type file nrow ncol size elevation")},
        {"material",
         words("name class texture texrepeat texuniform emission specular shininess reflectance metallic "
               "roughness rgba")},
        {"frame", words("name childclass pos" + turned)},
        {"body", words("name childclass pos mocap gravcomp sleep simple fuse user" + turned)},
        {"inertial", words("pos mass diaginertia fullinertia" + turned)},
        {"joint",
         words("name class type group pos axis springdamper limited actuatorfrclimited stiffness range "
               "actuatorfrcrange actuatorgravcomp ref springref armature damping frictionloss user" +
               std::string(limit_softness))},
        {"freejoint", words("name group align user")},
        {"geom",
         words(
             "name class type contype conaffinity condim group priority size material friction mass density "
             "shellinertia solmix solref solimp margin gap surfacevel adhesion fromto pos hfield mesh "
             "fitscale "
             "rgba fluidshape fluidcoef user" +
             turned)},
        {"site", words("name class type group pos material mesh size fromto rgba user" + turned)}};
}

Table elements_between_bodies() {
    const std::string same = equality,
                      tendon =
                          " name class group limited actuatorfrclimited range actuatorfrcrange "
                          "frictionloss springlength stiffness damping armature user" +
                          std::string(limit_softness);
    return {
        {"pair",
         words("name class geom1 geom2 condim friction solref solreffriction solimp gap margin adhesion")},
        {"exclude", words("name body1 body2")},
        {"connect", words("body1 body2 anchor site1 site2" + same)},
        {"weld", words("body1 body2 relpose anchor site1 site2 torquescale" + same)},
        {"equality/joint", words("joint1 joint2 polycoef" + same)},
        {"equality/tendon", words("tendon1 tendon2 polycoef" + same)},
        {"equality/distance", words("geom1 geom2 distance" + same)},
        {"equality", words(same)},
        {"spatial", words("width material rgba" + tendon)},
        {"fixed", words(tendon)},
        {"tendon", words("width material rgba" + tendon)},
        {"fixed/joint", words("joint coef")},
        {"spatial/site", words("site")},
        {"spatial/geom", words("geom sidesite")},
        {"spatial/pulley", words("divisor")},
        {"key", words("name time qpos qvel act mpos mquat ctrl")}};
}

Table actuators() {
    const std::string all = actuator;
    return {{"general",
             words("body actlimited actrange actdim input velrange ffrange dyntype gaintype biastype dynprm "
                   "gainprm biasprm actearly" +
                   all)},
            {"motor", words(all)},
            {"position", words("inheritrange kp kv dampratio timeconst" + all)},
            {"velocity", words("kv" + all)},
            {"intvelocity", words("actlimited actrange inheritrange kp kv dampratio" + all)},
            {"damper", words("kv" + all)},
            {"cylinder", words("timeconst area diameter bias" + all)},
            {"muscle", words("timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax" + all)},
            {"adhesion", words("body gain" + all)}};
}

Table sensors() {
    const std::string all = sensor, frame = frame_of, two = surfaces;
    Table table;
    for (const char* name :
         {"touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer"})
        table[name] = words("site" + all);
    for (const char* name : {"camprojection", "rangefinder"}) table[name] = words("site camera data" + all);
    for (const char* name : {"jointpos", "jointvel", "ballquat", "ballangvel", "jointlimitpos",
                             "jointlimitvel", "jointlimitfrc", "jointactuatorfrc"})
        table[name] = words("joint" + all);
    for (const char* name : {"tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc",
                             "tendonactuatorfrc"})
        table[name] = words("tendon" + all);
    for (const char* name : {"actuatorpos", "actuatorvel", "actuatorfrc"})
        table[name] = words("actuator" + all);
    for (const char* name : {"framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel",
                             "frameangvel", "framelinacc", "frameangacc"})
        table[name] = words(frame + all);
    for (const char* name : {"subtreecom", "subtreelinvel", "subtreeangmom"})
        table[name] = words("body" + all);
    for (const char* name : {"distance", "normal", "fromto"}) table[name] = words(two + all);
    for (const char* name : {"clock", "e_potential", "e_kinetic"}) table[name] = words(all);
    return table;
}

const Table& known_attributes() {
    static const Table table = [] {
        Table all = elements_of_a_model();
        for (Table part : {elements_between_bodies(), actuators()}) all.merge(part);
        for (auto& [name, list] : sensors()) all["sensor/" + name] = list;
        return all;
    }();
    return table;
}

}  // namespace

void check_mjcf_attributes(const XmlElement& element) {
    const Table& table = known_attributes();
    const std::string name(element.name());
    // <joint> is another thing in a body, in an equality and in a tendon
    const XmlElement parent = element.parent();
    auto found = parent ? table.find(std::string(parent.name()) + "/" + name) : table.end();
    if (found == table.end()) found = table.find(name);
    if (found != table.end()) check_attributes(element, found->second);
}

}  // namespace tenon::scene
