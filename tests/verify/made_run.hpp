// Runs whose motion is written down rather than simulated, so that each test knows the truth.
#pragma once

#include <functional>
#include <string>

#include "run/report_builder.hpp"
#include "run/run_file.hpp"
#include "run/small_world.hpp"
#include "tenon/scene_io.hpp"
#include "verify/verify.hpp"

namespace tenon::test {

struct MadeRun {
    Scene scene;
    double dt = 0.01;
    long steps = 20;
    long every = 1;                                             // steps between frames
    std::function<void(const Model&, State&, double)> pose;     // the true state at a time
    std::function<void(State&, long)> corrupt;                  // spoils the frame of a step, not its row
    std::function<std::vector<std::vector<Mat34>>(long)> path;  // pieces of a step

    verify::Result verify(const verify::Options& options = {}) const {
        TemporaryFolder folder;
        const std::string file = folder / "made.tenon";
        const Model model = compile(scene);
        State state = initial_state(model);
        const Outputs outputs(model);
        run::RunWriter writer(file, scene, model, state);
        for (long step = 0; step <= steps; ++step) {
            state.step = step;
            state.time = static_cast<double>(step) * dt;
            pose(model, state, state.time);
            writer.add_step(run::measure(model, state, StepReport{}, 0.0));
            if (path && step > 0)
                for (const auto& piece : path(step)) writer.add_path_piece(step, piece);
            if (step % every != 0) continue;
            if (corrupt) corrupt(state, step);
            writer.add_frame(state, outputs);
        }
        writer.close();
        return verify::verify_run(run::RunReader(file), options);
    }
};

inline Scene scene_from(const std::string& json) {
    return parse_scene(json, "test", ".");
}

// Pose and rate of a body whose geometry frame turns about a fixed axis and moves evenly.
inline void set_motion(const Model& model, State& state, int body, const Vec3& position, const Vec3& velocity,
                       const Vec3& axis, double angle, double rate) {
    const Pose& frame = model.shape_of(body).geometry_frame;
    const Quat rotation(Eigen::AngleAxisd(angle, axis.normalized()));
    const Quat body_rotation = rotation * frame.rotation.conjugate();
    Mat34& q = state.q[body];
    q.leftCols<3>() = body_rotation.toRotationMatrix();
    q.col(3) = position - body_rotation * frame.position;
    const Vec3 omega = rate * axis.normalized();
    Mat34& dq = state.rate[body];
    for (int k = 0; k < 3; ++k) dq.col(k) = omega.cross(Vec3(q.col(k)));
    dq.col(3) = velocity + omega.cross(Vec3(q.col(3) - position));
}

inline bool has_kind(const verify::Result& result, const std::string& kind) {
    for (const verify::Finding& finding : result.findings)
        if (finding.kind == kind) return true;
    return false;
}

}  // namespace tenon::test
