// A small run on disk: two boxes that share a shape, a wire, a sheared ball, an elastic block, contacts.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run/run_file.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon::exporting {

constexpr int sample_frames = 5;

inline Scene sample_scene(const std::string& folder, bool elastic) {
    std::ofstream(folder + "/wire.obj") << "v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 3\n";
    std::string text = R"({"tenon": 1, "name": "sample", "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "plane"}},
        {"name": "a b", "shape": {"type": "box", "size": [1, 2, 3]}, "position": [0, 2, 0]},
        {"name": "twin", "shape": {"type": "box", "size": [1, 2, 3]}, "position": [3, 2, 0]},
        {"name": "ball", "shape": {"type": "icosphere", "subdivisions": 1}, "position": [0, 5, 0]},
        {"name": "wire", "mesh": "wire.obj", "thickness": 0.01, "position": [0, 8, 0]}])";
    if (elastic)
        text +=
            R"(, "elastic": [{"name": "pad", "shape": {"type": "box", "size": [1, 1, 1]}, "cell_size": 0.5}])";
    return parse_scene(text + "}", folder + "/sample.json", folder);
}

// Rigid motion for all, a growing shear for the ball.
inline void move_sample(const Model& model, State& state, Outputs& outputs, int frame) {
    const double t = 0.1 * frame;
    for (int i = 1; i < model.bodies.size(); ++i) {
        const Quat turn(Eigen::AngleAxisd(2.5 * t * i, Vec3(1, 2, 3).normalized()));
        state.q[i] = to_matrix({Vec3(i, 5 - t * t, 0.3 * t), turn});
        state.rate[i].setConstant(0.1 * i);
    }
    Mat3 shear = Mat3::Identity();
    shear(0, 1) = 0.2 * t;
    shear(2, 2) = 1.0 + 0.3 * t;
    state.q[3].leftCols<3>() *= shear;
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const std::vector<Vec3>& rest = model.elastic[e].rest;
        for (std::size_t v = 0; v < rest.size(); ++v)
            state.elastic[e].x[v] = rest[v] + Vec3(0, std::sin(3.0 * t) * rest[v].x() * rest[v].x(), t);
    }
    outputs.contacts.clear();
    for (int c = 0; c < frame; ++c)
        outputs.contacts.push_back(
            {0, 1 + c % 2, Vec3(c, 0, t), Vec3::UnitY(), Vec3(0.5, 10.0 + c, 0), 0.001 * c});
    state.time = t;
    state.step = frame;
}

class SampleRun : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = (std::filesystem::temp_directory_path() /
                   fmt::format("tenon_export_{}_{}", info->name(), ::getpid()))
                      .string();
        std::filesystem::create_directories(folder_);
        file_ = write_sample(true);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write_sample(bool elastic) {
        const std::string file = folder_ + (elastic ? "/sample.tenon" : "/rigid.tenon");
        const Scene scene = sample_scene(folder_, elastic);
        const Model model = compile(scene);
        State state = initial_state(model);
        Outputs outputs(model);
        move_sample(model, state, outputs, 0);
        run::RunWriter writer(file, scene, model, state);
        for (int f = 0; f < sample_frames; ++f) {
            move_sample(model, state, outputs, f);
            writer.add_frame(state, outputs);
        }
        writer.close();
        return file;
    }
    static std::string bytes_of(const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        return std::string((std::istreambuf_iterator<char>(in)), {});
    }

    std::string folder_, file_;
};

}  // namespace tenon::exporting
