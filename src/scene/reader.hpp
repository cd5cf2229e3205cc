// Turns a checked JSON tree into a Scene: resolves names, files, shapes and units.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "scene/check.hpp"
#include "scene/value.hpp"
#include "tenon/scene.hpp"

namespace tenon::scene {

class Reader {
  public:
    Reader(std::string file, std::string base_folder);

    // Checks the whole tree and reads it; the tree is scaled to metres on the way.
    Scene read(Value& root);

    // Reads only what concerns the scene as a whole: it may have no bodies.
    Scene read_header_only(Value& root) {
        header_only_ = true;
        return read(root);
    }

  private:
    // reader.cpp
    void read_header(const Value& root);
    void read_method(const Where& where, Value& method);
    const std::vector<ParamInfo>* method_parameters(const Where& where) const;
    void read_materials(const Value& materials);
    void read_contact(const Where& where, const Value& contact);
    void read_ignored(const Where& where, const Value& pairs);
    void read_forces(const Where& where, const Value& forces);
    void read_wind(const Value& wind);
    void read_expect(const Where& where, const Value& entries);
    void read_camera(const Where& where, const Value& camera);
    int material_index(const Where& where, const std::string& name) const;
    int body_index(const Where& where, const std::string& name) const;
    std::vector<int> bodies_of(const Where& where, const std::string& name) const;  // a body, or a group
    std::vector<std::string> body_names() const;

    // reader_geometry.cpp
    void read_shapes(const Where& where, Value& shapes);
    int geometry_of(const Where& where, Value& owner);
    GeometrySpec geometry_spec(const Where& where, Value& owner);
    GeometrySpec shape_spec(const Where& where, Value& shape);
    GeometrySpec compound(const Where& where, Value& parts);
    GeometrySpec inline_mesh(const Where& where, const Value& owner) const;
    std::string existing_file(const Where& where, const std::string& given);

    // reader_bodies.cpp
    void read_bodies(const Where& where, Value& bodies);
    BodySpec read_body(const Where& where, Value& body);
    void check_body(const Where& where, const Value& value, const BodySpec& body) const;
    InertiaSpec read_inertia(const Where& where, const Value& value) const;
    std::vector<Keyframe> read_motion(const Where& where, const Value& frames, Keyframe start) const;
    Quat read_rotation(const Where& where, const Value& owner) const;
    Quat read_quaternion(const Where& where, const Value& numbers) const;

    // reader_joints.cpp
    void read_joints(const Where& where, const Value& joints);
    JointSpec read_joint(const Where& where, const Value& joint) const;
    void read_anchors(const Where& where, const Value& value, JointSpec& joint) const;
    void read_drives(const Where& where, const Value& value, JointSpec& joint) const;
    DriveSpec read_drive(const Where& where, const Value& value, double length) const;
    MotorSpec read_motor(const Where& where, const Value& value, double length) const;
    void read_coupling(const Where& where, const Value& value, JointSpec& joint) const;
    Vec3 read_axis(const Where& where, const Value& numbers) const;

    // reader_robot.cpp
    std::vector<double> read_start(const Where& where, const Value& value, const JointSpec& joint) const;
    std::vector<double> read_start_rate(const Where& where, const Value& value, const JointSpec& joint) const;
    void refuse_linear_universal(const Where& where, const JointSpec& joint) const;
    int joint_index(const Where& where, const std::string& name) const;
    int coordinate_of(const Where& where, int joint, double coordinate) const;
    double coordinate_unit(int joint, int coordinate) const;  // metres per unit of the file, 1 for angles
    void read_tendons(const Where& where, const Value& tendons);
    void read_actuators(const Where& where, const Value& actuators);
    ActuatorSpec read_actuator(const Where& where, const Value& value) const;
    double target_unit(const ActuatorSpec& actuator) const;
    void read_profile(const Where& where, const Value& profile, double unit,
                      std::vector<std::array<double, 2>>& out) const;
    void check_actuator(const Where& where, const Value& value, const ActuatorSpec& actuator) const;
    void check_target(const Where& where, const ActuatorSpec& actuator, double target) const;
    void read_sensors(const Where& where, const Value& sensors);
    SensorSpec read_sensor(const Where& where, const Value& value) const;
    void read_keyframes(const Where& where, const Value& keyframes);
    KeyframeSpec read_keyframe(const Where& where, const Value& value) const;
    KeyframeSpec::BodyState read_body_state(const Where& where, const std::string& name,
                                            const Value& value) const;
    std::string unique_name(const Where& where, const Value& value,
                            std::unordered_map<std::string, int>& names, const char* list) const;

    // reader_elastic.cpp
    void read_elastic(const Where& where, Value& entries);
    ElasticSpec read_elastic_body(const Where& where, Value& entry);
    void read_pins(const Where& where, const Value& pins, ElasticSpec& elastic) const;
    void check_box(const Where& where, const Vec3& lo, const Vec3& hi) const;

    Context context_;
    std::string base_folder_;
    bool header_only_ = false;
    Scene scene_;
    std::unordered_map<std::string, GeometrySpec> shapes_;          // entries of "shapes"
    std::unordered_map<std::string, int> geometry_by_fingerprint_;  // so that equal text is resolved once
    std::unordered_map<std::string, std::string> files_;            // already found ones
    std::unordered_map<std::string, int> joint_names_;
    std::unordered_map<std::string, int> elastic_names_;
    std::unordered_map<std::string, int> tendon_names_, actuator_names_, sensor_names_, keyframe_names_;
};

Vec3 to_vec3(const Value& numbers);
double number_or(const Value& object, std::string_view key, double fallback);
Vec3 vec3_or(const Value& object, std::string_view key, const Vec3& fallback);
std::string text_or(const Value& object, std::string_view key, const std::string& fallback);
bool flag_or(const Value& object, std::string_view key, bool fallback);
void read_color(const Value& object, std::array<double, 3>& color);

// A quaternion or direction that is already of unit length is kept bit for bit.
Vec3 normalised(const Vec3& v);
Quat normalised_quaternion(const Quat& q);

}  // namespace tenon::scene
