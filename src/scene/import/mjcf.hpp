// MJCF, MuJoCo's format, as a scene. The files beside this one each hold one part of the importer.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scene/import/importer.hpp"
#include "scene/import/mjcf_defaults.hpp"

namespace tenon::scene {

struct MjcfCompiler {
    bool degrees = true;
    std::string eulerseq = "xyz";
    std::string meshdir, assetdir;
    bool autolimits = true;
    bool strippath = false;
    bool balanceinertia = false;
    double boundmass = 0, boundinertia = 0, settotalmass = -1;
    enum class FromGeom { never, missing, always } inertiafromgeom = FromGeom::missing;
    std::array<int, 2> inertiagrouprange{0, 5};
};

struct MjcfGeom {
    XmlElement element;
    GeometryPart part;  // in the body's frame
    Inertial inertial;  // in the body's frame
    std::string name;
    bool plane = false;
    int contype = 1, conaffinity = 1, group = 0;
    double friction = 1.0;
    std::array<double, 3> color{-1, -1, -1};
    bool paired = false;  // named by a contact <pair>
    bool collides() const { return contype != 0 || conaffinity != 0 || paired; }
};

struct MjcfJoint {
    XmlElement element;
    enum class Type { hinge, slide, ball, free } type = Type::hinge;
    std::string name;
    int body = -1;                                    // of the model
    Vec3 point = Vec3::Zero(), axis = Vec3::UnitZ();  // in the world at the reference
    double reference = 0.0;
    std::optional<std::array<double, 2>> limits;  // of the scene's coordinate
    double stiffness = 0, damping = 0, rest = 0, friction = 0, armature = 0;
    std::optional<std::array<double, 2>> actuator_limits;  // of what actuators put on it
    int scene_joint = -1, coordinate = 0;
};

struct MjcfBody {
    XmlElement element;
    std::string name;
    int parent = -1;
    int childclass = 0;
    Pose pose;                         // in the world, at the reference
    double gravcomp = 0.0;             // share of its weight that something else carries
    std::optional<Inertial> inertial;  // as given; of bodies that were made: as compiled
    std::vector<MjcfGeom> geoms;
    std::vector<int> joints;
    bool stays = false, mocap = false;
    int owner = -1;  // body of the scene; -1: the world
    Pose in_owner;
};

struct MjcfSite {
    int body = 0;
    Pose pose;  // in the body's frame
};

class MjcfImporter : Importer {
  public:
    MjcfImporter(const std::string& file, const ImportOptions& options);
    ImportedScene run();

  private:
    using Kind = ImportLoss::Kind;
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    // mjcf.cpp
    void read_top(const XmlElement& root);
    void read_compiler(const XmlElement& element);
    void read_option(const XmlElement& element);
    void read_tree();
    void read_body(const XmlElement& element, int parent, const Pose& offset, int childclass);
    Quat orientation(const MjcfElement& element) const;
    Pose pose_of(const MjcfElement& element) const;
    Pose pose_between(const XmlElement& xml, const std::vector<double>& fromto) const;
    Pose site_pose(const MjcfElement& site) const;
    double angle(double value) const;
    std::string new_name(const XmlElement& element, std::string_view given, const char* kind,
                         std::unordered_map<std::string, int>& taken, int index);

    // mjcf_bodies.cpp
    void read_joint(const XmlElement& element, int body, const Pose& offset, int childclass);
    void read_inertial(const XmlElement& element, int body, const Pose& offset);
    std::optional<Inertial> inertial_of(const MjcfBody& body);
    void bound_inertia(Inertial& inertial) const;
    void make_bodies();
    void make_world_geoms();
    int add_body(MjcfBody& body, const std::optional<Inertial>& inertial);
    std::vector<GeometryPart> parts_of(const MjcfBody& body, BodySpec& spec);
    void make_joints();
    void join(MjcfBody& body);
    JointSpec joint_spec(const MjcfJoint& joint, int first, int second) const;
    DriveSpec drive_spec(const MjcfJoint& joint) const;
    int add_between(const MjcfBody& body, const MjcfJoint& joint);
    void make_filters();
    void merge_geoms(MjcfBody& body, MjcfBody& into) const;
    void compensate_gravity(const MjcfBody& body);
    double light_mass() const;

    // mjcf_geoms.cpp
    void read_asset(const XmlElement& asset);
    void read_geom(const XmlElement& element, int body, const Pose& offset, int childclass);
    GeometryPart primitive_part(const MjcfElement& element, const std::string& type, Inertial& unit,
                                Pose& pose);
    GeometryPart solid_part(const XmlElement& xml, const std::string& type, const std::vector<double>& size,
                            Inertial& unit) const;
    GeometryPart fitted_part(const MjcfElement& element, const std::string& type, Inertial& unit, Pose& pose);
    GeometryPart mesh_part(const MjcfElement& element, Inertial& unit);
    GeometryPart height_field_part(const MjcfElement& element, Inertial& unit);
    std::string asset_path(const XmlElement& element, const std::string& file) const;

    // mjcf_constraints.cpp
    void read_equality(const XmlElement& list);
    void add_connect(const MjcfElement& element, bool weld);
    void add_joint_equality(const MjcfElement& element);
    JointSpec named_equality(const XmlElement& xml, const MjcfBody& first, const MjcfBody& second, bool weld);
    void add_site_equality(const MjcfElement& element, bool weld);
    void mark_pairs(const XmlElement& list);
    void read_contact(const XmlElement& list);
    void add_exclusion(const XmlElement& xml);
    void resolve_pairs();
    MjcfGeom& geom_named(const XmlElement& user, const std::string& name, int& body, int& place);
    std::vector<int> scene_bodies(int body) const;  // the world is many
    void mix_frictions();
    void note_tendons(const XmlElement& root);
    void read_tendons(const XmlElement& list);
    void read_spatial_tendon(const MjcfElement& element);
    const MjcfSite& site_named(const XmlElement& user, const std::string& name) const;
    Pose site_pose(const MjcfSite& site) const;                             // in the world, at the reference
    int body_named(const XmlElement& user, const std::string& name) const;  // of the model
    MjcfJoint& joint_named(const XmlElement& user, const std::string& name);

    // mjcf_actuators.cpp
    void read_actuators(const XmlElement& list);
    void read_actuator(const XmlElement& element);
    struct Gains {
        double gain = 1, bias0 = 0, bias1 = 0, bias2 = 0;
        bool integrates = false;  // the control is the target's speed
    };
    std::optional<Gains> gains_of(const MjcfElement& element, const ActuatorSpec& actuator);
    bool moves_as_one(int tendon) const;
    bool transmission_of(const MjcfElement& element, ActuatorSpec& actuator);
    double inertia_at(const ActuatorSpec& actuator) const;
    std::optional<std::array<double, 2>> limited_range(const MjcfElement& element, const char* name,
                                                       const char* limited) const;
    void set_force_limits(const XmlElement& xml, ActuatorSpec& actuator, const std::array<double, 2>& limits);
    void bound_by_joints();
    std::optional<std::array<double, 2>> control_range(const MjcfElement& element,
                                                       const ActuatorSpec& actuator) const;
    double composite_inertia(const MjcfJoint& joint) const;
    double reference_length(const ActuatorSpec& actuator) const;
    double target_of(std::size_t actuator, double control) const;
    void finish_control(const XmlElement& xml, std::size_t index);
    bool sensor_pair(const XmlElement& xml, SensorSpec& sensor);
    bool motor_of(const XmlElement& xml, SensorSpec& sensor);
    void read_sensors(const XmlElement& list);
    void read_sensor(const XmlElement& element);
    bool sensor_frame(const XmlElement& element, SensorSpec& sensor);
    void read_keyframes(const XmlElement& list);
    void read_positions(const XmlElement& element, KeyframeSpec& key);
    void read_activations(const XmlElement& xml, std::string_view text, KeyframeSpec& key);
    void read_velocities(const XmlElement& element, KeyframeSpec& key);

    XmlDocument document_;
    std::string folder_;
    MjcfCompiler compiler_;
    MjcfDefaults defaults_;
    std::vector<MjcfBody> bodies_;  // the world first; in the order of the file, parents before children
    std::vector<MjcfJoint> joints_;
    std::unordered_map<std::string, int> body_index_, joint_index_, geom_body_, tendon_index_;
    std::unordered_map<std::string, int> spatial_joint_;  // distance joints that stand for tendons
    struct ContactPair {
        XmlElement element;
        int a = -1, b = -1;  // bodies of the scene
        double friction = 0.0;
    };
    std::vector<ContactPair> contact_pairs_;
    std::set<std::pair<int, int>> paired_;               // their bodies, the smaller first
    std::unordered_map<std::string, int> geom_place_;    // by name: which of its body's geoms
    std::unordered_set<std::string> tendon_names_;       // all, also of those that were left out
    std::unordered_set<std::string> driven_tendons_;     // those that actuators name
    std::map<std::pair<int, int>, int> joint_of_scene_;  // by joint of the scene and coordinate
    std::map<std::pair<int, int>, std::pair<int, int>>
        driver_;                                // of coordinates that a coupling ties to others
    mutable std::vector<Inertial> composites_;  // by body: with all that hangs on it, in the world
    std::unordered_map<std::string, MjcfSite> sites_;
    std::unordered_map<std::string, XmlElement> meshes_, height_fields_;
    std::unordered_map<std::string, std::array<double, 3>> colors_;
    std::unordered_map<std::string, int> actuator_names_, sensor_names_, scene_joint_names_,
        scene_body_names_;
    // controls in the order of the file: how each becomes a target of an actuator
    struct Control {
        XmlElement element;
        int actuator = -1;  // -1: left out
        Gains gains;
        std::array<double, 2> range{-1e300, 1e300};
        double reference = 0.0;
    };
    std::vector<Control> controls_;
    std::map<std::pair<int, int>, double>
        references_;  // by joint of the scene and coordinate, where not zero
    std::unordered_map<std::string, int> keyframe_names_;
};

}  // namespace tenon::scene
