// What the importers of robots share: losses, meshes, solids and inertia in the scene's terms.
#pragma once

#include <functional>

#include <string>
#include <unordered_map>
#include <vector>

#include "scene/import/attributes.hpp"
#include "tenon/mesh.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::scene {

inline Pose operator*(const Pose& a, const Pose& b) {
    return {a.position + a.rotation * b.position, (a.rotation * b.rotation).normalized()};
}
inline Pose inverse(const Pose& pose) {
    return {-(pose.rotation.conjugate() * pose.position), pose.rotation.conjugate()};
}

// Mass, centre and inertia about the centre, along the axes of the frame it is given in.
struct Inertial {
    double mass = 0.0;
    Vec3 center = Vec3::Zero();
    Mat3 inertia = Mat3::Zero();
};

class Importer {
  public:
    explicit Importer(const ImportOptions& options) : options_(options) {}

  protected:
    // A robot's scene before anything of it is read; `root` has to be <tag>.
    void begin(const XmlElement& root, const char* tag, const char* right, const std::string& name,
               double dt);

    void lose(const XmlElement& element, ImportLoss::Kind kind, const std::string& what,
              const std::string& why);

    // Built-in shapes; round ones have their axis along z, as in both formats.
    GeometryPart box_part(const Vec3& full_size) const;
    GeometryPart sphere_part(double radius) const;
    GeometryPart cylinder_part(double radius, double length) const;
    GeometryPart capsule_part(double radius, double length) const;
    GeometryPart shape_part(const std::string& shape, std::map<std::string, ParamValue> params) const;

    // The mesh at a path that was found to exist, read once. Errors name the element.
    const Mesh& mesh_of(const XmlElement& element, const std::string& path);

    // One geometry out of parts in the body's frame; -1 for none.
    int geometry_of(const std::vector<GeometryPart>& parts);

    // Mass and inertia as the scene has them. What no body can have is mended and listed.
    void set_inertia(const XmlElement& element, const std::string& of, BodySpec& body,
                     const Inertial& inertial);

    // Where joints of a tree start: at the nearer limit where zero is left out, and where couplings put them.
    // `element_of` has a joint's element, or an empty one.
    void start_within_limits(const std::function<XmlElement(int joint, int coordinate)>& element_of);

    const ImportOptions& options_;
    ImportedScene out_;

  private:
    std::unordered_map<std::string, Mesh> meshes_;
};

// Sum of two, about the common centre.
Inertial combined(const Inertial& a, const Inertial& b);
Inertial moved(const Inertial& inertial, const Pose& pose);  // into the frame that `pose` is given in

// The number that follows `name` and makes it new: the smallest where those before it are taken. By bisection, so that a
// million things of one name take no million tries each.
template <class Taken>
std::string free_name(const std::string& name, const Taken& taken) {
    if (!taken(name)) return name;
    const auto numbered = [&](long k) { return name + "-" + std::to_string(k); };
    long used = 1, open = 2;
    while (taken(numbered(open))) used = open, open *= 2;
    while (open - used > 1) {
        const long middle = used + (open - used) / 2;
        (taken(numbered(middle)) ? used : open) = middle;
    }
    return numbered(open);
}

}  // namespace tenon::scene
