#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include <nlohmann/json.hpp>

#include "math/whole_file.hpp"
#include "run/joint_drives.hpp"
#include "run/recording.hpp"
#include "run/run_file.hpp"
#include "run/run_schema.hpp"
#include "run/sqlite.hpp"
#include "run/writer_lock.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::run {
namespace {

static_assert(std::endian::native == std::endian::little, "run files hold little-endian numbers");
static_assert(sizeof(Vec3) == 24 && sizeof(Mat34) == 96 && sizeof(Vec4) == 32);

constexpr std::size_t checkpoint_part_bytes = std::size_t{1} << 28;  // far below SQLite's limit of 1e9
constexpr std::size_t most_recorded_drives = 100'000;                // joints
constexpr std::size_t max_bodies = 10'000'000;                       // 96 bytes each in one blob below 1e9

// Refuses outputs that could not, or should not, be replaced by a run file.
void check_output(const std::string& file) {
    if (file.empty()) throw InputError(file, "", "no name for the run file", "give one with -o run.tenon");
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return;
    if (S_ISDIR(info.st_mode))
        throw InputError(file, "", "is a directory", "name a file inside it, such as " + file + "/run.tenon");
    if (!S_ISREG(info.st_mode)) throw InputError(file, "", "is not a plain file", "choose another output");
    char head[16] = {};
    std::ifstream in(file, std::ios::binary);
    in.read(head, sizeof head);
    if (info.st_size > 0 && std::memcmp(head, "SQLite format 3", 16) != 0)
        throw InputError(file, "", "exists and is no run file, so it is not overwritten",
                         "remove it or choose another output");
}

void remove_with_logs(const std::string& file) {
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) std::remove((file + ending).c_str());
}

// So that the old file is not replaced by one that a power failure empties.
void flush_to_disk(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    ::fsync(descriptor);
    ::close(descriptor);
}

std::vector<double> pose_numbers(const Pose& pose) {
    return {pose.position.x(), pose.position.y(), pose.position.z(), pose.rotation.w(),
            pose.rotation.x(), pose.rotation.y(), pose.rotation.z()};
}

std::string numbers_by_name(const std::vector<std::pair<std::string, double>>& values) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& [name, value] : values)
        object[name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr;
    return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_shapes(Database& database, const std::vector<ShapeData>& shapes) {
    Statement insert(database, "INSERT INTO shapes VALUES(?,?,?,?,?,?,?,?)");
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const ShapeData& shape = shapes[i];
        const std::vector<double> frame = pose_numbers(shape.geometry_frame);
        insert.bind(0, static_cast<long>(i)).bind(1, shape.name).bind_array(2, shape.mesh.vertices);
        insert.bind_array(3, shape.mesh.triangles).bind_array(4, shape.mesh.edges);
        insert.bind_array(5, shape.mesh.points).bind_array(6, frame).bind(7, shape.closed ? 1 : 0);
        insert.run();
    }
}

void write_bodies(Database& database, const std::vector<BodyInfo>& bodies) {
    Statement insert(database, "INSERT INTO bodies VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const BodyInfo& body = bodies[i];
        insert.bind(0, static_cast<long>(i)).bind(1, body.name).bind(2, body.shape);
        insert.bind(3, body_type_names[static_cast<int>(body.type)]).bind(4, body.mass);
        for (int k = 0; k < 3; ++k) insert.bind(5 + k, body.second_moments[k]).bind(8 + k, body.color[k]);
        insert.bind(11, body.collides ? 1 : 0).bind(12, body.group);
        insert.bind(13, body.min_separation).run();
    }
}

void write_elastic(Database& database, const std::vector<ElasticInfo>& elastic) {
    Statement insert(database, "INSERT INTO elastic VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
    for (std::size_t i = 0; i < elastic.size(); ++i) {
        const ElasticInfo& body = elastic[i];
        insert.bind(0, static_cast<long>(i)).bind(1, body.name).bind_array(2, body.rest);
        insert.bind_array(3, body.vertex_mass).bind_array(4, body.tets).bind_array(5, body.surface);
        insert.bind_array(6, body.embedded.vertices).bind_array(7, body.embedded.triangles);
        insert.bind_array(8, body.embedded_tet).bind_array(9, body.embedded_weight);
        for (int k = 0; k < 3; ++k) insert.bind(10 + k, body.color[k]);
        insert.run();
    }
}

void write_joints(Database& database, const Model& model) {
    Statement insert(database, "INSERT INTO joints VALUES(?,?,?,?,?,?,?,?,?,?)");
    for (std::size_t i = 0; i < model.joints.size(); ++i) {
        const Joint& joint = model.joints[i];
        insert.bind(0, static_cast<long>(i)).bind(1, joint.spec.name);
        insert.bind(2, joint_type_names[static_cast<int>(joint.spec.type)]);
        insert.bind(3, joint.bodies[0]).bind(4, joint.bodies[1]);
        for (int k = 0; k < 2; ++k) {
            insert.bind_blob(5 + k, joint.point[k].data(), sizeof(Vec3));
            insert.bind_blob(7 + k, joint.frame[k].data(), sizeof(Mat3));
        }
        insert.bind(9, joint.rest_length).run();
    }
}

// The pairs that the scene lets touch; groups and `collides` are columns of the bodies.
void write_ignored(Database& database, const Model& model) {
    Statement insert(database, "INSERT INTO ignored VALUES(?,?)");
    const auto add = [&](int a, int b) {
        if (a >= 0 && b >= 0 && a != b) insert.bind(0, a).bind(1, b).run();
    };
    std::vector<std::uint64_t> keys(model.ignored_pairs.begin(), model.ignored_pairs.end());
    std::sort(keys.begin(), keys.end());
    for (const std::uint64_t key : keys)
        add(static_cast<int>(key & 0xffffffffu), static_cast<int>(key >> 32));
    for (std::size_t i = 0; i < model.elastic.size(); ++i) {
        int last = -1;
        for (const ElasticBody::Pin& pin : model.elastic[i].pins) {
            if (pin.body != last) add(pin.body, model.bodies.size() + static_cast<int>(i));
            last = pin.body;
        }
    }
}

template <class List>
bool finite(const List& values) {
    for (const auto& value : values)
        if (!value.allFinite()) return false;
    return true;
}

JointDrives drives_of(const Outputs& outputs) {
    JointDrives drives;
    if (outputs.joints.size() > most_recorded_drives) return drives;
    for (const JointOutput& joint : outputs.joints) {
        drives.rate.push_back(joint.coordinate_rate);
        drives.motor.push_back(joint.motor_force);
        drives.limits.push_back(joint.limit_force);
    }
    return drives;
}

}  // namespace

// A run starts in `file`.partial without a log, because a database in WAL mode cannot be renamed while it is
// open. The first frame completes it: it is closed, moved into place, and opened again in WAL mode.
struct RunWriter::Impl {
    std::string file;
    std::optional<WriterLock> lock;
    std::string partial;  // empty once the first frame is in
    Database database;
    long frames = 0;
    std::size_t bodies = 0;
    bool in_transaction = false;

    struct Inserts {
        Statement frame, hash, elastic, contacts, joints, drives, step, path;
        explicit Inserts(const Database& database)
            : frame(database, "INSERT INTO frames VALUES(?,?,?,?,?)"),
              hash(database, "INSERT INTO hashes VALUES(?,?)"),
              elastic(database, "INSERT INTO elastic_frames VALUES(?,?,?,?,?)"),
              contacts(database, "INSERT INTO contacts VALUES(?,?,?,?,?,?,?)"),
              joints(database, "INSERT INTO joint_forces VALUES(?,?,?,?)"),
              drives(database, "INSERT INTO joint_drives VALUES(?,?,?,?)"),
              step(database,
                   "INSERT OR REPLACE INTO steps VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
              path(database, "INSERT INTO path(step, q) VALUES(?,?)") {}
    };
    std::optional<Inserts> inserts;

    ~Impl() {
        inserts.reset();
        database.close();  // rolls back what was not committed
        if (!partial.empty()) remove_with_logs(partial);
    }

    // Runs `action`, turning SQLite's complaints (disk full, gone, locked) into errors that name the file.
    template <class Action>
    void guarded(const Action& action) {
        try {
            action();
        } catch (const SqliteError& error) {
            cannot_write(file, error.what());
        }
    }

    void begin() {
        if (!in_transaction) database.execute("BEGIN IMMEDIATE");
        in_transaction = true;
    }
    void commit() {
        if (in_transaction) database.execute("COMMIT");
        in_transaction = false;
    }

    void create(const Scene& scene, const Model& model, const State& state);
    void open_in_place();
    void move_into_place();
    void insert_frame(const Frame& frame, const JointDrives& drives);
    void put_meta(const std::string& key, const std::string& value);
};

void RunWriter::Impl::put_meta(const std::string& key, const std::string& value) {
    Statement(database, "INSERT OR REPLACE INTO meta VALUES(?,?)").bind(0, key).bind(1, value).run();
}

void RunWriter::Impl::create(const Scene& scene, const Model& model, const State& state) {
    bodies = state.q.size();
    database = Database(partial, Database::Mode::create);
    // Large pages read large blobs faster; small runs stay small.
    database.execute(bodies > 2000 ? "PRAGMA page_size=65536" : "PRAGMA page_size=4096");
    // Until it is moved into place a failed file is thrown away: no journal is needed.
    database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
    database.execute(("PRAGMA application_id=" + std::to_string(run_file_application)).c_str());
    database.execute(("PRAGMA user_version=" + std::to_string(run_file_version)).c_str());
    begin();
    database.execute(run_schema);
    put_meta("format", "tenon-run");
    put_meta("version", std::to_string(run_file_version));
    put_meta("status", "running");
    put_meta("name", scene.name);
    put_meta("method", scene.method);
    put_meta("up", scene.up);
    put_meta("dt", nlohmann::json(scene.dt).dump());
    put_meta("gravity", nlohmann::json({scene.gravity.x(), scene.gravity.y(), scene.gravity.z()}).dump());
    put_meta("scene", write_scene(scene));
    const RunModel run = describe(model);
    write_shapes(database, run.shapes);
    write_bodies(database, run.bodies);
    write_elastic(database, run.elastic);
    write_joints(database, model);
    write_ignored(database, model);
    inserts.emplace(database);
}

void RunWriter::Impl::open_in_place() {
    database = Database(file, Database::Mode::read_write);
    database.execute("CREATE TABLE IF NOT EXISTS hashes(frame INTEGER PRIMARY KEY, state TEXT NOT NULL)");
    database.execute(
        "CREATE TABLE IF NOT EXISTS joint_drives(frame INTEGER PRIMARY KEY, rate BLOB, motor BLOB, limits "
        "BLOB)");
    // Network file systems may refuse WAL; the run is then recorded with a plain journal.
    database.pragma("PRAGMA journal_mode=WAL");
    database.execute("PRAGMA synchronous=NORMAL");
    inserts.emplace(database);
}

void RunWriter::Impl::move_into_place() {
    inserts.reset();
    database.close();
    flush_to_disk(partial);
    for (const char* ending : {"-wal", "-shm", "-journal"}) std::remove((file + ending).c_str());
    if (std::rename(partial.c_str(), file.c_str()) != 0) cannot_write(file, std::strerror(errno));
    partial.clear();
    open_in_place();
}

void RunWriter::Impl::insert_frame(const Frame& frame, const JointDrives& drives) {
    const long id = frames;
    Inserts& to = *inserts;
    to.frame.bind(0, id)
        .bind(1, frame.step)
        .bind(2, frame.time)
        .bind_array(3, frame.q)
        .bind_array(4, frame.rate);
    to.frame.run();
    to.hash.bind(0, id).bind(1, state_hash(frame)).run();
    for (std::size_t i = 0; i < frame.x.size(); ++i) {
        to.elastic.bind(0, id).bind(1, static_cast<long>(i)).bind_array(2, frame.x[i]);
        to.elastic.bind_array(3, frame.v[i]).bind_array(4, frame.element_state[i]).run();
    }
    if (!frame.contacts.empty()) {
        std::vector<std::array<int, 2>> pairs;
        std::vector<Vec3> points, normals, forces;
        std::vector<double> distances;
        for (const Contact& contact : frame.contacts) {
            pairs.push_back({contact.a, contact.b});
            points.push_back(contact.point);
            normals.push_back(contact.normal);
            forces.push_back(contact.force);
            distances.push_back(contact.distance);
        }
        to.contacts.bind(0, id).bind(1, static_cast<long>(pairs.size())).bind_array(2, pairs);
        to.contacts.bind_array(3, points)
            .bind_array(4, normals)
            .bind_array(5, forces)
            .bind_array(6, distances);
        to.contacts.run();
    }
    if (!frame.joint_force.empty()) {
        to.joints.bind(0, id).bind_array(1, frame.joint_force).bind_array(2, frame.joint_torque);
        to.joints.bind_array(3, frame.joint_coordinate).run();
    }
    if (!drives.rate.empty()) {
        to.drives.bind(0, id).bind_array(1, drives.rate).bind_array(2, drives.motor);
        to.drives.bind_array(3, drives.limits).run();
    }
}

RunWriter::RunWriter(const std::string& file, const Scene& scene, const Model& model, const State& state)
    : impl_(std::make_unique<Impl>()) {
    check_output(file);
    if (state.q.size() > max_bodies)
        throw InputError(file, "", "a run file holds at most 10 million bodies",
                         "simulate without an output");
    if (::access(make_folder_of(file).c_str(), W_OK | X_OK) != 0) cannot_write(file, std::strerror(errno));
    impl_->file = file;
    impl_->lock.emplace(file);
    impl_->partial = file + ".partial";
    remove_with_logs(impl_->partial);
    impl_->guarded([&] { impl_->create(scene, model, state); });
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunWriter::~RunWriter() = default;

std::unique_ptr<RunWriter> RunWriter::reopen(const std::string& file, long step, bool keep_frame) {
    auto impl = std::make_unique<Impl>();
    impl->file = file;
    impl->lock.emplace(file);
    impl->guarded([&] {
        impl->open_in_place();
        impl->begin();
        Database& database = impl->database;
        const std::string after = std::to_string(step), last = std::to_string(keep_frame ? step : step - 1);
        const std::string dropped = " WHERE frame IN (SELECT id FROM frames WHERE step > " + last + ");";
        database.execute(
            ("DELETE FROM hashes" + dropped + "DELETE FROM elastic_frames" + dropped +
             "DELETE FROM contacts" + dropped + "DELETE FROM joint_forces" + dropped +
             "DELETE FROM joint_drives" + dropped + "DELETE FROM frames WHERE step > " + last +
             ";DELETE FROM steps WHERE step > " + after + ";DELETE FROM path WHERE step > " + after +
             ";DELETE FROM checkpoints WHERE step > " + after +
             ";DELETE FROM meta WHERE key='report' OR (key LIKE 'push.%' AND CAST(substr(key, 6) AS "
             "INTEGER) > " +
             after + ")")
                .c_str());
        impl->put_meta("status", "running");
        impl->commit();
        impl->frames = std::stol(database.pragma("SELECT ifnull(max(id), -1) FROM frames")) + 1;
        impl->bodies = std::stoul(database.pragma("SELECT count(*) FROM bodies"));
    });
    return std::unique_ptr<RunWriter>(new RunWriter(std::move(impl)));
}

void RunWriter::add_frame(const State& state, const Outputs& outputs) {
    const Frame frame = snapshot(state, outputs);
    if (frame.q.size() != impl_->bodies)
        throw InputError(impl_->file, "", "bodies came or went after the run file was begun",
                         "a run file holds the same bodies throughout");
    bool good =
        finite(frame.q) && finite(frame.rate) && finite(frame.joint_force) && finite(frame.joint_torque);
    const JointDrives drives = drives_of(outputs);
    for (const auto* list : {&drives.rate, &drives.motor, &drives.limits})
        for (const auto& values : *list)
            for (const double value : values) good = good && std::isfinite(value);
    for (std::size_t i = 0; i < frame.x.size(); ++i) good = good && finite(frame.x[i]) && finite(frame.v[i]);
    for (const Contact& contact : frame.contacts)
        good = good && contact.point.allFinite() && contact.normal.allFinite() && contact.force.allFinite();
    if (!good) throw StepFailure("the state holds a number that is not finite");
    // A file that was removed can still be written to, and nobody would ever read it.
    if (impl_->partial.empty() && ::access(impl_->file.c_str(), F_OK) != 0)
        cannot_write(impl_->file, "it was removed while the run was going");
    impl_->guarded([&] {
        impl_->begin();
        impl_->insert_frame(frame, drives);
        impl_->commit();
        if (impl_->frames++ == 0 && !impl_->partial.empty()) impl_->move_into_place();
    });
}

void RunWriter::add_step(const StepRow& row) {
    impl_->guarded([&] {
        impl_->begin();
        Statement& to = impl_->inserts->step;
        const StepReport& report = row.report;
        to.bind(0, row.step).bind(1, row.time).bind(2, row.wall_ms).bind(3, report.iterations);
        to.bind(4, report.converged ? 1 : 0).bind(5, report.contacts);
        if (report.min_distance < 1e299) to.bind(6, report.min_distance);
        to.bind(7, report.joint_residual).bind(8, row.energy.kinetic).bind(9, row.energy.gravity);
        to.bind(10, row.energy.elastic);
        for (int k = 0; k < 3; ++k)
            to.bind(11 + k, row.linear_momentum[k]).bind(14 + k, row.angular_momentum[k]);
        to.bind(17, report.solver);
        to.bind(18, numbers_by_name(report.phases)).bind(19, numbers_by_name(report.metrics));
        to.bind(
            20,
            nlohmann::json(report.warnings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        to.run();
    });
}

void RunWriter::add_path_piece(long step, const std::vector<Mat34>& q) {
    if (!finite(q)) throw StepFailure("the path holds a number that is not finite");
    impl_->guarded([&] {
        impl_->begin();
        impl_->inserts->path.bind(0, step).bind_array(1, q).run();
    });
}

// Only the newest is kept: a checkpoint of a large scene is larger than a frame.
void RunWriter::add_checkpoint(long step, const std::string& state) {
    impl_->guarded([&] {
        impl_->begin();
        impl_->database.execute("DELETE FROM checkpoints");
        Statement insert(impl_->database, "INSERT INTO checkpoints VALUES(?,?,?)");
        long part = 0;
        for (std::size_t begin = 0; begin < state.size() || part == 0; begin += checkpoint_part_bytes) {
            const std::size_t bytes = std::min(checkpoint_part_bytes, state.size() - begin);
            insert.bind(0, step).bind(1, part++).bind_blob(2, state.data() + begin, bytes).run();
        }
        if (impl_->frames > 0) impl_->commit();
    });
}

void RunWriter::set_meta(const std::string& key, const std::string& value) {
    impl_->guarded([&] {
        impl_->begin();
        impl_->put_meta(key, value);
        if (impl_->frames > 0) impl_->commit();
    });
}

// A finished run is one plain file: the log is folded in unless a reader still needs it.
void RunWriter::close() {
    if (!impl_->database.is_open() || impl_->frames == 0) return;
    impl_->guarded([&] { impl_->commit(); });
    impl_->inserts.reset();
    try {
        impl_->database.pragma("PRAGMA wal_checkpoint(TRUNCATE)");
        impl_->database.execute("PRAGMA busy_timeout=100");
        impl_->database.pragma("PRAGMA journal_mode=DELETE");
    } catch (const SqliteError&) {
        // A reader is following the run: the log stays until the last of them leaves.
    }
    impl_->database.close();
    impl_->lock.reset();
}

void copy_run_file(const std::string& from, const std::string& to) {
    check_output(to);
    make_folder_of(to);
    const std::string partial = to + ".partial";
    remove_with_logs(partial);
    try {
        const Database source(from, Database::Mode::read_write);
        Statement(source, "VACUUM INTO ?").bind(0, partial).run();
    } catch (const SqliteError& error) {
        remove_with_logs(partial);
        cannot_write(to, error.what());
    }
    for (const char* ending : {"-wal", "-shm", "-journal"}) std::remove((to + ending).c_str());
    if (std::rename(partial.c_str(), to.c_str()) != 0) {
        const std::string why = std::strerror(errno);
        std::remove(partial.c_str());
        cannot_write(to, why);
    }
}

Frame snapshot(const State& state, const Outputs& outputs) {
    Frame frame;
    frame.step = state.step;
    frame.time = state.time;
    frame.q = state.q;
    frame.rate = state.rate;
    for (const ElasticState& body : state.elastic) {
        frame.x.push_back(body.x);
        frame.v.push_back(body.v);
    }
    frame.element_state = outputs.element_state;
    frame.contacts = outputs.contacts;
    for (const JointOutput& joint : outputs.joints) {
        frame.joint_force.push_back(joint.force);
        frame.joint_torque.push_back(joint.torque);
    }
    frame.joint_coordinate = state.joint_coordinate;
    return frame;
}

}  // namespace tenon::run
