#include "serve/frame_chunk.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/LU>

#include "math/rotation.hpp"
#include "serve/byte_writer.hpp"
#include "serve/half.hpp"
#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

using run::Frame;

std::vector<Frame> read_frames(const OpenRun& run, const std::vector<long>& indices) {
    const std::lock_guard lock(run.mutex);
    std::vector<Frame> frames;
    for (const long index : indices) frames.push_back(run.reader.frame(index));
    return frames;
}

bool deformed(const Mat34& q) {
    const Mat3 a = q.leftCols<3>();
    return (a.transpose() * a - Mat3::Identity()).cwiseAbs().maxCoeff() > visible_deformation ||
           a.determinant() < 0;
}

std::vector<std::vector<render::Vec3f>> drawn_vertices(const OpenRun& run, const Frame& frame) {
    std::vector<std::vector<render::Vec3f>> all;
    for (std::size_t e = 0; e < run.surfaces.size(); ++e) {
        const auto drawn = render::drawn_vertices(run.drawn.elastic[e], frame.x[e]);
        auto& used = all.emplace_back();
        for (const int vertex : run.surfaces[e].vertices) used.push_back(drawn[vertex]);
    }
    return all;
}

// Whole numbers of the quantum, as differences to the frame before: small, hence short after compression.
class Quantised {
  public:
    explicit Quantised(double quantum) : scale_(1.0 / quantum) {}

    void add(std::size_t slot, double position) {
        const double steps = std::clamp(position * scale_, -2147483520.0, 2147483520.0);
        const auto now = static_cast<std::int32_t>(std::lround(steps));
        if (slot >= last_.size()) last_.resize(slot + 1, 0);
        values_.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(now) -
                                                    static_cast<std::uint32_t>(last_[slot])));
        last_[slot] = now;
    }
    const std::vector<std::int32_t>& values() const { return values_; }

  private:
    double scale_;
    std::vector<std::int32_t> last_, values_;
};

// Quaternions of unit length in 16 bits a component, of the sign nearer to the frame before.
class Rotations {
  public:
    explicit Rotations(std::size_t bodies) : last_(bodies, Eigen::Vector4d::Zero()), sent_(4 * bodies, 0) {}

    void add(std::size_t slot, const Mat34& q) {
        const Mat3 a = q.leftCols<3>();
        Eigen::Vector4d now = Quat(a).normalized().coeffs();  // x y z w
        if (now.dot(last_[slot]) < 0) now = -now;
        last_[slot] = now;
        for (int k = 0; k < 4; ++k) {
            const auto value = static_cast<std::int16_t>(std::lround(now[k] * 32767.0));
            std::int16_t& before = sent_[4 * slot + k];
            values_.push_back(static_cast<std::int16_t>(static_cast<std::uint16_t>(value) -
                                                        static_cast<std::uint16_t>(before)));
            before = value;
        }
    }
    const std::vector<std::int16_t>& values() const { return values_; }

  private:
    std::vector<Eigen::Vector4d> last_;
    std::vector<std::int16_t> sent_, values_;
};

// Which bodies need a pose per frame, and which a matrix.
struct Sorted {
    std::vector<std::uint32_t> moving, still, deformed;
};

Sorted sort_bodies(const std::vector<Frame>& frames) {
    Sorted sorted;
    for (std::uint32_t i = 0; i < frames.front().q.size(); ++i) {
        bool moves = false, bent = false;
        for (const Frame& frame : frames) {
            moves = moves || frame.q[i] != frames.front().q[i] || frame.rate[i].squaredNorm() > 0;
            bent = bent || deformed(frame.q[i]);
        }
        (moves ? sorted.moving : sorted.still).push_back(i);
        if (bent) sorted.deformed.push_back(i);
    }
    return sorted;
}

double largest_coordinate(const std::vector<Frame>& frames) {
    double largest = 0;
    for (const Frame& frame : frames) {
        for (const Mat34& q : frame.q) largest = std::max(largest, q.col(3).cwiseAbs().maxCoeff());
        for (const auto& solid : frame.x)
            for (const Vec3& x : solid) largest = std::max(largest, x.cwiseAbs().maxCoeff());
    }
    return largest;
}

void add_head(ByteWriter& out, std::uint32_t magic, const std::vector<long>& indices,
              const std::vector<Frame>& frames) {
    out.value(magic);
    out.value(static_cast<std::uint32_t>(frames.size()));
    std::vector<double> times;
    for (const Frame& frame : frames) times.push_back(frame.time);
    std::vector<std::uint32_t> numbers, steps;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        numbers.push_back(static_cast<std::uint32_t>(indices[i]));
        steps.push_back(static_cast<std::uint32_t>(frames[i].step));
    }
    out.array(times);
    out.array(numbers);
    out.array(steps);
    out.align(8);
}

void add_poses(ByteWriter& out, const std::vector<std::uint32_t>& bodies, const std::vector<Frame>& frames,
               double quantum) {
    Quantised positions(quantum);
    Rotations rotations(bodies.size());
    for (const Frame& frame : frames)
        for (std::size_t slot = 0; slot < bodies.size(); ++slot) {
            const Mat34& q = frame.q[bodies[slot]];
            for (int k = 0; k < 3; ++k) positions.add(3 * slot + k, q(k, 3));
            rotations.add(slot, q);
        }
    out.planes(positions.values());
    out.planes(rotations.values());
}

void add_velocities(ByteWriter& out, const std::vector<std::uint32_t>& bodies,
                    const std::vector<Frame>& frames) {
    std::vector<std::uint16_t> values;
    for (const Frame& frame : frames)
        for (const std::uint32_t body : bodies) {
            const Vec3 w = spin_of(frame.q[body], frame.rate[body]);
            for (int k = 0; k < 3; ++k) values.push_back(to_half(frame.rate[body](k, 3)));
            for (int k = 0; k < 3; ++k) values.push_back(to_half(w[k]));
        }
    out.planes(values);
}

void add_matrices(ByteWriter& out, const std::vector<std::uint32_t>& bodies,
                  const std::vector<Frame>& frames) {
    std::vector<float> values;
    for (const Frame& frame : frames)
        for (const std::uint32_t body : bodies)
            for (int k = 0; k < 9; ++k) values.push_back(static_cast<float>(frame.q[body](k % 3, k / 3)));
    out.array(values);
}

void add_elastic(ByteWriter& out, const OpenRun& run, const std::vector<Frame>& frames, double quantum) {
    Quantised positions(quantum);
    for (const Frame& frame : frames) {
        std::size_t slot = 0;
        for (const auto& solid : drawn_vertices(run, frame))
            for (const render::Vec3f& x : solid)
                for (int k = 0; k < 3; ++k) positions.add(slot++, x[k]);
    }
    out.planes(positions.values());
}

// Green's strain, or the symmetric part of the velocity gradient, of one element.
double element_strain(const run::ElasticInfo& solid, int tet, const std::vector<Vec3>& x,
                      const std::vector<Vec3>* v) {
    const Tet& t = solid.tets[tet];
    Mat3 rest = Mat3::Identity(), now = Mat3::Identity(), rate = Mat3::Zero();
    const int edges = t[3] < 0 ? 2 : 3;
    for (int k = 0; k < edges; ++k) {
        rest.col(k) = solid.rest[t[k + 1]] - solid.rest[t[0]];
        now.col(k) = x[t[k + 1]] - x[t[0]];
        if (v) rate.col(k) = (*v)[t[k + 1]] - (*v)[t[0]];
    }
    if (edges == 2) {  // a plane triangle: no strain across it
        rest.col(2) = rest.col(0).cross(rest.col(1)).normalized();
        now.col(2) = now.col(0).cross(now.col(1)).normalized();
    }
    if (v) {
        const Mat3 gradient = rate * now.inverse();
        return (0.5 * (gradient + gradient.transpose())).norm();
    }
    const Mat3 f = now * rest.inverse();
    return (0.5 * (f.transpose() * f - Mat3::Identity())).norm();
}

double field_value(const OpenRun& run, const Frame& frame, std::size_t e, int tet, const std::string& name) {
    if (tet < 0) return 0.0;
    const run::ElasticInfo& solid = run.reader.elastic()[e];
    if (name == "strain") return element_strain(solid, tet, frame.x[e], nullptr);
    if (name == "strain_rate") return element_strain(solid, tet, frame.x[e], &frame.v[e]);
    const std::vector<float>& state = frame.element_state[e];
    return static_cast<std::size_t>(tet) < state.size() ? std::floor(state[tet]) : 0.0;
}

// The contacts with the largest forces, when there are too many to show.
std::vector<Contact> listed(const std::vector<Contact>& contacts) {
    if (contacts.size() <= static_cast<std::size_t>(max_listed_contacts)) return contacts;
    std::vector<Contact> most = contacts;
    std::nth_element(
        most.begin(), most.begin() + max_listed_contacts, most.end(),
        [](const Contact& a, const Contact& b) { return a.force.squaredNorm() > b.force.squaredNorm(); });
    most.resize(max_listed_contacts);
    return most;
}

void add_floats(std::vector<float>& to, const Vec3& from) {
    for (int k = 0; k < 3; ++k) to.push_back(static_cast<float>(from[k]));
}

}  // namespace

std::string pack_frames(const OpenRun& run, const std::vector<long>& indices) {
    const std::vector<Frame> frames = read_frames(run, indices);
    const Sorted sorted = sort_bodies(frames);
    const double quantum = std::max(run.quantum, std::ldexp(largest_coordinate(frames), -30));
    std::uint32_t vertices = 0;
    for (const ElasticSurface& surface : run.surfaces)
        vertices += static_cast<std::uint32_t>(surface.vertices.size());
    ByteWriter out;
    add_head(out, 0x31464e54, indices, frames);  // "TNF1"
    out.value(quantum);
    for (const std::size_t count : {sorted.moving.size(), sorted.still.size(), sorted.deformed.size()})
        out.value(static_cast<std::uint32_t>(count));
    out.value(vertices);
    out.array(sorted.moving);
    out.array(sorted.still);
    out.array(sorted.deformed);
    add_matrices(out, sorted.deformed, frames);
    add_poses(out, sorted.moving, frames, quantum);
    add_velocities(out, sorted.moving, frames);
    add_poses(out, sorted.still, {frames.front()}, quantum);
    add_elastic(out, run, frames, quantum);
    return out.take();
}

std::string pack_contacts(const OpenRun& run, const std::vector<long>& indices) {
    const std::vector<Frame> frames = read_frames(run, indices);
    ByteWriter out;
    add_head(out, 0x31434e54, indices, frames);  // "TNC1"
    std::vector<std::uint32_t> total, shown;
    std::vector<std::int32_t> pairs;
    std::vector<float> numbers, joints;
    for (const Frame& frame : frames) {
        const std::vector<Contact> contacts = listed(frame.contacts);
        total.push_back(static_cast<std::uint32_t>(frame.contacts.size()));
        shown.push_back(static_cast<std::uint32_t>(contacts.size()));
        for (const Contact& contact : contacts) {
            pairs.insert(pairs.end(), {contact.a, contact.b});
            add_floats(numbers, contact.point);
            add_floats(numbers, contact.normal);
            add_floats(numbers, contact.force);
            numbers.push_back(static_cast<float>(contact.distance));
        }
        for (std::size_t j = 0; j < frame.joint_force.size(); ++j) {
            add_floats(joints, frame.joint_force[j]);
            add_floats(joints, frame.joint_torque[j]);
            for (const double q : frame.joint_coordinate[j]) joints.push_back(static_cast<float>(q));
        }
    }
    out.array(total);
    out.array(shown);
    out.array(pairs);
    out.array(numbers);
    out.array(joints);
    return out.take();
}

std::string pack_field(const OpenRun& run, const std::vector<long>& indices, const std::string& name) {
    if (name != "strain" && name != "strain_rate" && name != "component")
        throw InputError(run.reader.file(), name, "there is no such field",
                         "use strain, strain_rate or component");
    const std::vector<Frame> frames = read_frames(run, indices);
    ByteWriter out;
    add_head(out, 0x31444e54, indices, frames);  // "TND1"
    std::vector<std::uint16_t> values;
    for (const Frame& frame : frames)
        for (std::size_t e = 0; e < run.surfaces.size(); ++e)
            for (const int tet : run.surfaces[e].tet)
                values.push_back(to_half(field_value(run, frame, e, tet, name)));
    out.array(values);
    return out.take();
}

}  // namespace tenon::serve
