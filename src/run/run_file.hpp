// The run file: one SQLite database (WAL) that holds a run. Its tables are described in docs/files.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenon/method.hpp"
#include "tenon/state.hpp"

namespace tenon::run {

// One recorded moment: the same form for every method.
struct Frame {
    long step = 0;
    double time = 0.0;
    std::vector<Mat34> q, rate;                     // per body
    std::vector<std::vector<Vec3>> x, v;            // per elastic body, its vertices
    std::vector<std::vector<float>> element_state;  // per elastic body, per tetrahedron
    std::vector<Contact> contacts;
    std::vector<Vec3> joint_force, joint_torque;  // per joint
    std::vector<std::array<double, 3>> joint_coordinate;
};

struct StepRow {
    long step = 0;
    double time = 0.0, wall_ms = 0.0;
    StepReport report;
    Energies energy;
    Vec3 linear_momentum = Vec3::Zero(), angular_momentum = Vec3::Zero();
};

// A frame as the file lists it.
struct FrameEntry {
    long id = 0, step = 0;
    double time = 0.0;
    std::string hash;  // of its state, recording.hpp; "" in files that hold none
};

struct BodyInfo {
    std::string name;
    int shape = -1;
    BodyType type = BodyType::dynamic_body;
    double mass = 0.0;
    Vec3 second_moments = Vec3::Zero();
    std::array<double, 3> color{-1, -1, -1};
    bool collides = true;
    std::string group;
    double min_separation = 0.0;
};

struct ShapeData {
    std::string name;
    Mesh mesh;  // body frame
    Pose geometry_frame;
    bool closed = false;
};

struct JointInfo {
    std::string name;
    JointType type = JointType::ball;
    std::array<int, 2> bodies{-1, -1};                      // -1: the world
    std::array<Vec3, 2> point{Vec3::Zero(), Vec3::Zero()};  // anchor in each body's frame
};

struct ElasticInfo {
    std::string name;
    std::vector<Vec3> rest;
    std::vector<double> vertex_mass;
    std::vector<Tet> tets;
    std::vector<Triangle> surface;
    Mesh embedded;
    std::vector<int> embedded_tet;
    std::vector<Vec4> embedded_weight;
    std::array<double, 3> color{-1, -1, -1};
};

// What does not change during a run: what the file holds beside its frames, and what is drawn, exported and served. The one
// static form of a run; describe() makes it of a model.
struct RunModel {
    std::vector<ShapeData> shapes;
    std::vector<BodyInfo> bodies;
    std::vector<ElasticInfo> elastic;
    std::vector<JointInfo> joints;
};
RunModel describe(const Model& model);

// Writes to `file`.partial until the first frame is in, so that a failed start leaves nothing behind.
class RunWriter {
  public:
    RunWriter(const std::string& file, const Scene& scene, const Model& model,
              const State& state);  // throws InputError
    ~RunWriter();

    // Goes on with an existing run file from `step`; what was recorded after it is dropped, and the frame of `step`
    // itself unless it is to be kept (the end of a shorter run is no frame of a longer one).
    static std::unique_ptr<RunWriter> reopen(const std::string& file, long step, bool keep_frame = true);

    RunWriter(const RunWriter&) = delete;
    RunWriter& operator=(const RunWriter&) = delete;

    void add_frame(const State& state,
                   const Outputs& outputs);  // one transaction, with the steps since the last frame
    void add_step(const StepRow& row);
    void add_path_piece(long step, const std::vector<Mat34>& q);
    void add_checkpoint(long step, const std::string& state);
    void set_meta(const std::string& key, const std::string& value);  // "report", "status" ...
    void close();

  private:
    struct Impl;
    explicit RunWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// Reads a finished, killed or still growing run file. Throws InputError when it is no run file.
class RunReader {
  public:
    explicit RunReader(const std::string& file);
    ~RunReader();
    RunReader(RunReader&&) noexcept;

    const std::string& file() const;
    std::string meta(const std::string& key) const;  // "" when absent
    std::string scene_json() const;
    const RunModel& model() const;
    const std::vector<ShapeData>& shapes() const;
    const std::vector<BodyInfo>& bodies() const;
    const std::vector<ElasticInfo>& elastic() const;
    const std::vector<JointInfo>& joints() const;
    std::vector<std::array<int, 2>> ignored_pairs() const;  // body pairs that may touch

    long frame_count() const;  // now: a live run grows
    Frame frame(long index) const;
    std::vector<StepRow> steps() const;
    // In order; what they hold is said in model/path_piece.hpp. Files of older programs leave elastic vertices out.
    std::vector<std::vector<Mat34>> path_pieces(long first_step, long last_step) const;
    bool has_path() const;
    long frame_step(long index) const;           // without reading the frame
    std::vector<FrameEntry> frame_list() const;  // in the order of their numbers
    std::string checkpoint(long& step) const;    // the newest; "" when there is none

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

Frame snapshot(const State& state, const Outputs& outputs);

// A consistent copy, also of a file with a log beside it. Replaces `to` like a new run does.
void copy_run_file(const std::string& from, const std::string& to);

}  // namespace tenon::run
