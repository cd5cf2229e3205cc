// A recorded run for the viewer's server: bodies that share a shape, one that shears, an elastic block, a joint.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "run/run_file.hpp"
#include "serve/run_store.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon::test {

class Folder {
  public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-serve-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

inline Scene sample_scene(const std::string& name = "sample") {
    return parse_scene(
        R"({"tenon": 1, "name": ")" + name + R"(", "materials": {"steel": {"density": 7850}}, "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "plane"}},
        {"name": "<b>bold</b> \"quoted\"\nline", "shape": {"type": "box", "size": [1, 2, 3]}, "position": [0, 2, 0], "material": "steel"},
        {"name": "twin", "shape": {"type": "box", "size": [1, 2, 3]}, "position": [3, 2, 0]},
        {"name": "ball", "shape": {"type": "icosphere", "subdivisions": 1}, "position": [0, 5, 0]}],
        "joints": [{"name": "pin", "type": "ball", "bodies": ["twin", "ball"], "point": [2, 3, 0]}],
        "elastic": [{"name": "pad", "shape": {"type": "box", "size": [1, 1, 1]}, "cell_size": 0.5}]})",
        "sample.json", ".");
}

// A known motion: turns about one axis, moves on a parabola, shears the ball, stretches the block.
inline Mat34 sample_pose(int body, double t) {
    Mat34 q = to_matrix({Vec3(body, 5 - t * t, 0.3 * t),
                         Quat(Eigen::AngleAxisd(2.5 * t * body, Vec3(1, 2, 3).normalized()))});
    if (body == 3) {
        Mat3 shear = Mat3::Identity();
        shear(0, 1) = 0.2 * t;
        const Mat3 a = q.leftCols<3>() * shear;
        q.leftCols<3>() = a;
    }
    return q;
}

inline void move_sample(const Model& model, State& state, Outputs& outputs, int frame) {
    const double t = 0.1 * frame;
    for (int i = 1; i < model.bodies.size(); ++i) {
        state.q[i] = sample_pose(i, t);
        state.rate[i].setZero();
        state.rate[i].col(3) = Vec3(0, -2 * t, 0.3);
    }
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        for (std::size_t v = 0; v < state.elastic[e].x.size(); ++v) {
            const Vec3& rest = model.elastic[e].rest[v];
            state.elastic[e].x[v] = Vec3((1 + t) * rest.x(), rest.y(), rest.z());
        }
    outputs.contacts.clear();
    for (int c = 0; c < frame; ++c)
        outputs.contacts.push_back(
            {0, 1 + c % 2, Vec3(c, 0, t), Vec3::UnitY(), Vec3(0.5, 10.0 + c, 0), 0.001 * c});
    for (JointOutput& joint : outputs.joints) joint.force = Vec3(1, 2, 3) * frame;
    state.time = t;
    state.step = frame;
}

// Records frames one by one, as a run does.
class Recorder {
  public:
    explicit Recorder(const std::string& file, const std::string& name = "sample")
        : scene_(sample_scene(name)),
          model_(compile(scene_)),
          state_(initial_state(model_)),
          outputs_(model_),
          writer_(file, scene_, model_, state_) {}

    void add(int count = 1) {
        for (int i = 0; i < count; ++i, ++frame_) {
            move_sample(model_, state_, outputs_, frame_);
            run::StepRow row;
            row.step = frame_;
            row.time = state_.time;
            row.wall_ms = 2.0 * frame_;
            row.energy = {1.0 * frame_, 10.0, 0.0};
            row.report.iterations = frame_;
            row.report.phases = {{"solve", 0.5 * frame_}};
            writer_.add_step(row);
            writer_.add_frame(state_, outputs_);
        }
    }
    void finish() {
        writer_.set_meta("status", "done");
        writer_.close();
    }

  private:
    Scene scene_;
    Model model_;
    State state_;
    Outputs outputs_;
    run::RunWriter writer_;
    int frame_ = 0;
};

// Reads what ByteWriter wrote.
class Bytes {
  public:
    explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

    template <class T>
    T value() {
        T item{};
        std::memcpy(&item, bytes_.data() + at_, sizeof(T));
        at_ += sizeof(T);
        return item;
    }
    template <class T>
    std::vector<T> array(std::size_t count) {
        align(4);
        std::vector<T> items(count);
        if (count) std::memcpy(items.data(), bytes_.data() + at_, count * sizeof(T));
        at_ += count * sizeof(T);
        return items;
    }
    template <class T>
    std::vector<T> planes(std::size_t count) {
        std::vector<T> items(count);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t k = 0; k < sizeof(T); ++k)
                reinterpret_cast<char*>(&items[i])[k] = bytes_[at_ + k * count + i];
        at_ += count * sizeof(T);
        return items;
    }
    void align(std::size_t size) { at_ = (at_ + size - 1) / size * size; }
    std::size_t left() const { return bytes_.size() - at_; }

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace tenon::test
