// Runs whose motion is written down rather than simulated, so that each test knows the truth.
#pragma once

#include <functional>
#include <string>

#include "run/recording.hpp"
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
    long every = 1;                                              // steps between frames
    std::function<void(const Model&, State&, double)> pose;      // the true state at a time
    std::function<std::vector<Contact>(const Model&)> contacts;  // of every frame
    std::function<void(State&, long)> corrupt;                   // spoils the frame of a step, not its row
    std::function<std::vector<std::vector<Mat34>>(long)> path;   // pieces of a step
    std::function<void(const std::string&)> tamper;              // edits the finished file

    verify::Result verify(const verify::Options& options = {}) const {
        TemporaryFolder folder;
        const std::string file = folder / "made.tenon";
        const Scene told = as_it_starts();
        const Model model = compile(told);
        State state = initial_state(model);
        Outputs outputs(model);
        if (contacts) outputs.contacts = contacts(model);
        run::RunWriter writer(file, told, model, state);
        writer.set_meta("record", run::RecordingRule::every(every).to_json());
        StepReport report;
        report.contacts = static_cast<int>(outputs.contacts.size());
        for (long step = 0; step <= steps; ++step) {
            state.step = step;
            state.time = static_cast<double>(step) * dt;
            pose(model, state, state.time);
            writer.add_step(run::measure(model, state, report, 0.0));
            if (path && step > 0)
                for (const auto& piece : path(step)) writer.add_path_piece(step, piece);
            if (step % every != 0) continue;
            if (corrupt) corrupt(state, step);
            writer.add_frame(state, outputs);
        }
        writer.set_meta("status", "done");
        writer.set_meta("report", R"({"steps": )" + std::to_string(steps) +
                                      R"(, "status": "done", "method": ")" + told.method +
                                      R"(", "unconverged_steps": 0, "bodies": )" +
                                      std::to_string(told.bodies.size()) + "}");
        writer.close();
        if (tamper) tamper(file);
        return verify::verify_run(run::RunReader(file), options);
    }

    // The scene with the start that `pose` gives it.
    Scene as_it_starts() const {
        Scene told = scene;
        told.dt = dt;
        told.seconds = static_cast<double>(steps) * dt;
        const Model model = compile(told);
        State state = initial_state(model);
        pose(model, state, 0.0);
        for (int i = 0; i < model.bodies.size(); ++i) {
            BodySpec& body = told.bodies[i];
            if (body.type != BodyType::dynamic_body) continue;
            const Mat34 &q = state.q[i], &rate = state.rate[i];
            const Pose& frame = model.shape_of(i).geometry_frame;
            const Mat3 R = q.leftCols<3>();
            body.rotation = Quat(R) * frame.rotation;
            body.position = R * frame.position + q.col(3);
            body.linear_velocity = rate.col(3);
            const Mat3 w = rate.leftCols<3>() * R.transpose();
            body.angular_velocity = Vec3(w(2, 1), w(0, 2), w(1, 0));
        }
        return told;
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
