#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include "run/joint_axes.hpp"
#include "run/joint_drives.hpp"
#include "run/run_file.hpp"
#include "run/run_schema.hpp"
#include "run/sqlite.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

constexpr const char* cure = "give a file written by tenon run";

// Thrown inside the reader, turned into an InputError that names the file.
struct Damaged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Numbers that a program may compute with; integers always are.
template <class T>
bool is_finite(const T& value) {
    if constexpr (std::is_floating_point_v<T>)
        return std::isfinite(value);
    else if constexpr (requires { value.allFinite(); })
        return value.allFinite();
    else if constexpr (requires { value[0]; })
        return std::all_of(value.begin(), value.end(), [](const auto& part) { return is_finite(part); });
    else
        return true;
}

double finite_number(const Statement& row, int column, const char* what) {
    const double value = row.number(column);
    if (!std::isfinite(value)) throw Damaged(std::string(what) + " is not a finite number");
    return value;
}

// Rows come in the order of their numbers, 0, 1, 2 ...: a damaged tree that shows the same page for ever does not.
void check_number(const Statement& row, std::size_t wanted, const char* what) {
    if (row.integer(0) != static_cast<long>(wanted))
        throw Damaged(std::string(what) + " are not numbered from 0 on");
}

template <class T>
std::vector<T> array(const Statement& row, int column, const char* what) {
    const std::string_view bytes = row.blob(column);
    if (bytes.size() % sizeof(T) != 0) throw Damaged(std::string(what) + " has an odd size");
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    for (const T& value : values)
        if (!is_finite(value)) throw Damaged(std::string(what) + " holds a number that is not finite");
    return values;
}

template <class T>
std::vector<T> array(const Statement& row, int column, const char* what, std::size_t wanted) {
    std::vector<T> values = array<T>(row, column, what);
    if (values.size() != wanted)
        throw Damaged(std::string(what) + " has " + std::to_string(values.size()) + " entries instead of " +
                      std::to_string(wanted));
    return values;
}

void check_index(long index, std::size_t count, const char* what) {
    if (index < 0 || index >= static_cast<long>(count)) throw Damaged(std::string(what) + " is out of range");
}

template <std::size_t N>
void check_corners(const std::vector<std::array<int, N>>& faces, std::size_t count, const char* what) {
    for (const auto& face : faces)
        for (const int corner : face) check_index(corner, count, what);
}

template <std::size_t N>
int index_of(const char* const (&names)[N], const std::string& name, const char* what) {
    for (std::size_t i = 0; i < N; ++i)
        if (name == names[i]) return static_cast<int>(i);
    throw Damaged("unknown " + std::string(what) + " '" + name + "'");
}

std::vector<std::pair<std::string, double>> numbers_by_name(const std::string& text) {
    std::vector<std::pair<std::string, double>> values;
    const auto object = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!object.is_object()) throw Damaged("a step's figures are not an object");
    for (const auto& [name, value] : object.items())
        if (value.is_number()) values.emplace_back(name, value.get<double>());
    return values;
}

void check_header(const std::string& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) {
        const bool missing = errno == ENOENT || errno == ENOTDIR;
        throw InputError(file, "", missing ? "no such file" : std::strerror(errno), cure);
    }
    if (S_ISDIR(info.st_mode)) throw InputError(file, "", "is a directory, not a run file", cure);
    if (!S_ISREG(info.st_mode)) throw InputError(file, "", "is not a plain file", cure);
    std::ifstream in(file, std::ios::binary);
    if (!in) throw InputError(file, "", "cannot be read", "check its permissions");
    char head[100] = {};
    in.read(head, sizeof head);
    if (in.gcount() < 100 || std::memcmp(head, "SQLite format 3", 16) != 0)
        throw InputError(file, "", "is not a run file", cure);
}

std::size_t bytes_of(const std::string& file) {
    struct stat info {};
    return ::stat(file.c_str(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

// Nothing is ever written. A log beside the file (of a live or killed run) needs a place for its index; where there is
// none (a read-only disk) and no log either, the file alone is the run.
Database open_for_reading(const std::string& file) {
    try {
        Database database(file, Database::Mode::read_only);
        database.pragma("SELECT count(*) FROM sqlite_master");
        return database;
    } catch (const SqliteError& error) {
        const bool no_place = error.code() == SQLITE_CANTOPEN || error.code() == SQLITE_READONLY ||
                              error.code() == SQLITE_PERM || error.code() == SQLITE_IOERR;
        if (!no_place || ::access((file + "-wal").c_str(), F_OK) == 0) throw;
    }
    return Database(file, Database::Mode::immutable);
}

// What the action returns; what the database says against it is said of the file.
template <class Action>
auto guarded(const std::string& file, const Action& action) {
    try {
        return action();
    } catch (const SqliteError& error) {
        throw InputError(file, "", std::string("cannot be read as a run file: ") + error.what(), cure);
    } catch (const Damaged& error) {
        throw InputError(file, "", std::string("is a damaged run file: ") + error.what(),
                         "run the scene again");
    }
}

}  // namespace

struct RunReader::Impl : RunModel {
    std::string file;
    Database database;

    template <class Action>
    auto guarded(const Action& action) const {
        return run::guarded(file, action);
    }

    std::string meta(const std::string& key) const {
        Statement query(database, "SELECT value FROM meta WHERE key=?");
        query.bind(0, key);
        return query.next() ? query.text(0) : std::string();
    }

    void check_format() const;
    void read_shapes();
    void read_bodies();
    void read_elastic();
    void read_joints();
    Frame read_frame(long index) const;
    std::size_t elastic_matrices() const;  // that hold all elastic vertices in a piece of the path
    void read_elastic_frame(long index, Frame& frame) const;
    void read_contacts(long index, Frame& frame) const;
    void read_joint_forces(long index, Frame& frame) const;
};

void RunReader::Impl::check_format() const {
    Statement table(database, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name='meta'");
    table.next();
    if (table.integer(0) == 0 || meta("format") != "tenon-run")
        throw InputError(file, "", "is a database, but not a run file", cure);
    const std::string version = meta("version");
    if (version.empty() || version.size() > 6 || version.find_first_not_of("0123456789") != std::string::npos)
        throw Damaged("its version is unreadable");
    if (std::stol(version) > run_file_version)
        throw InputError(file, "meta.version",
                         "is of version " + version + ", newer than this program reads (" +
                             std::to_string(run_file_version) + ")",
                         "use a newer Tenon");
}

void RunReader::Impl::read_shapes() {
    Statement row(database, "SELECT * FROM shapes ORDER BY id");
    while (row.next()) {
        check_number(row, shapes.size(), "shapes");
        ShapeData shape;
        shape.name = row.text(1);
        shape.mesh.vertices = array<Vec3>(row, 2, "shapes.vertices");
        shape.mesh.triangles = array<Triangle>(row, 3, "shapes.triangles");
        shape.mesh.edges = array<Edge>(row, 4, "shapes.edges");
        shape.mesh.points = array<int>(row, 5, "shapes.points");
        const auto frame = array<double>(row, 6, "shapes.geometry_frame", 7);
        shape.geometry_frame.position = Vec3(frame[0], frame[1], frame[2]);
        shape.geometry_frame.rotation = Quat(frame[3], frame[4], frame[5], frame[6]);
        shape.closed = row.integer(7) != 0;
        const std::size_t vertices = shape.mesh.vertices.size();
        check_corners(shape.mesh.triangles, vertices, "a corner of a shape's triangle");
        check_corners(shape.mesh.edges, vertices, "an end of a shape's edge");
        for (const int point : shape.mesh.points) check_index(point, vertices, "a point of a shape");
        shapes.push_back(std::move(shape));
    }
}

void RunReader::Impl::read_bodies() {
    Statement row(database, "SELECT * FROM bodies ORDER BY id");
    while (row.next()) {
        check_number(row, bodies.size(), "bodies");
        BodyInfo body;
        body.name = row.text(1);
        check_index(row.integer(2), shapes.size(), "a body's shape");
        body.shape = static_cast<int>(row.integer(2));
        body.type = static_cast<BodyType>(index_of(body_type_names, row.text(3), "body type"));
        body.mass = finite_number(row, 4, "a body's mass");
        for (int k = 0; k < 3; ++k) {
            body.second_moments[k] = finite_number(row, 5 + k, "a body's second moment");
            body.color[k] = finite_number(row, 8 + k, "a body's colour");
        }
        body.collides = row.integer(11) != 0;
        body.group = row.text(12);
        body.min_separation = finite_number(row, 13, "a body's separation");
        bodies.push_back(std::move(body));
    }
}

void RunReader::Impl::read_elastic() {
    Statement row(database, "SELECT * FROM elastic ORDER BY id");
    while (row.next()) {
        check_number(row, elastic.size(), "elastic bodies");
        ElasticInfo body;
        body.name = row.text(1);
        body.rest = array<Vec3>(row, 2, "elastic.rest");
        body.vertex_mass = array<double>(row, 3, "elastic.vertex_mass", body.rest.size());
        body.tets = array<Tet>(row, 4, "elastic.tets");
        body.surface = array<Triangle>(row, 5, "elastic.surface");
        body.embedded.vertices = array<Vec3>(row, 6, "elastic.embedded_vertices");
        body.embedded.triangles = array<Triangle>(row, 7, "elastic.embedded_triangles");
        body.embedded_tet = array<int>(row, 8, "elastic.embedded_tet", body.embedded.vertices.size());
        body.embedded_weight = array<Vec4>(row, 9, "elastic.embedded_weight", body.embedded.vertices.size());
        for (int k = 0; k < 3; ++k) body.color[k] = finite_number(row, 10 + k, "an elastic body's colour");
        check_corners(body.surface, body.rest.size(), "a corner of an elastic surface");
        check_corners(body.embedded.triangles, body.embedded.vertices.size(),
                      "a corner of an embedded surface");
        for (const int tet : body.embedded_tet)
            check_index(tet, body.tets.size(), "an embedding tetrahedron");
        for (const Tet& tet : body.tets)  // plane-strain triangles have no fourth corner
            for (int k = 0; k < 4; ++k)
                if (k < 3 || tet[k] != -1) check_index(tet[k], body.rest.size(), "a corner of a tetrahedron");
        elastic.push_back(std::move(body));
    }
}

void RunReader::Impl::read_joints() {
    Statement row(database,
                  "SELECT id, name, type, body_a, body_b, point_a, point_b FROM joints ORDER BY id");
    while (row.next()) {
        check_number(row, joints.size(), "joints");
        JointInfo joint;
        joint.name = row.text(1);
        joint.type = static_cast<JointType>(index_of(joint_type_names, row.text(2), "joint type"));
        for (int k = 0; k < 2; ++k) {
            if (row.integer(3 + k) != -1) check_index(row.integer(3 + k), bodies.size(), "a joint's body");
            joint.bodies[k] = static_cast<int>(row.integer(3 + k));
            joint.point[k] = array<Vec3>(row, 5 + k, "joints.point", 1)[0];
        }
        joints.push_back(std::move(joint));
    }
}

void RunReader::Impl::read_elastic_frame(long index, Frame& frame) const {
    frame.x.resize(elastic.size());
    frame.v.resize(elastic.size());
    frame.element_state.resize(elastic.size());
    Statement row(database,
                  "SELECT x, v, element_state, elastic FROM elastic_frames WHERE frame=? ORDER BY elastic");
    row.bind(0, index);
    for (std::size_t i = 0; i < elastic.size(); ++i) {
        if (!row.next() || row.integer(3) != static_cast<long>(i))
            throw Damaged("frame " + std::to_string(index) + " lacks an elastic body");
        frame.x[i] = array<Vec3>(row, 0, "elastic_frames.x", elastic[i].rest.size());
        frame.v[i] = array<Vec3>(row, 1, "elastic_frames.v", elastic[i].rest.size());
        frame.element_state[i] = array<float>(row, 2, "elastic_frames.element_state", elastic[i].tets.size());
    }
}

void RunReader::Impl::read_contacts(long index, Frame& frame) const {
    Statement row(database,
                  "SELECT count, pairs, points, normals, forces, distances FROM contacts WHERE frame=?");
    row.bind(0, index);
    if (!row.next()) return;
    if (row.integer(0) < 0) throw Damaged("contacts.count is negative");
    const auto count = static_cast<std::size_t>(row.integer(0));
    const auto pairs = array<std::array<int, 2>>(row, 1, "contacts.pairs", count);
    const auto points = array<Vec3>(row, 2, "contacts.points", count);
    const auto normals = array<Vec3>(row, 3, "contacts.normals", count);
    const auto forces = array<Vec3>(row, 4, "contacts.forces", count);
    const auto distances = array<double>(row, 5, "contacts.distances", count);
    frame.contacts.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (const int body : pairs[i])
            if (body != -1) check_index(body, bodies.size() + elastic.size(), "a contact's body");
        frame.contacts[i] = {pairs[i][0], pairs[i][1], points[i], normals[i], forces[i], distances[i]};
    }
}

void RunReader::Impl::read_joint_forces(long index, Frame& frame) const {
    Statement row(database, "SELECT force, torque, coordinate FROM joint_forces WHERE frame=?");
    row.bind(0, index);
    if (!row.next()) {
        if (!joints.empty()) throw Damaged("frame " + std::to_string(index) + " lacks its joint forces");
        return;
    }
    frame.joint_force = array<Vec3>(row, 0, "joint_forces.force", joints.size());
    frame.joint_torque = array<Vec3>(row, 1, "joint_forces.torque", joints.size());
    frame.joint_coordinate = array<std::array<double, 3>>(row, 2, "joint_forces.coordinate", joints.size());
}

Frame RunReader::Impl::read_frame(long index) const {
    Statement row(database, "SELECT step, time, q, rate FROM frames WHERE id=?");
    row.bind(0, index);
    if (!row.next())
        throw InputError(file, "frames[" + std::to_string(index) + "]", "no such frame",
                         "frames are numbered from 0");
    Frame frame;
    frame.step = row.integer(0);
    frame.time = finite_number(row, 1, "a frame's time");
    frame.q = array<Mat34>(row, 2, "frames.q", bodies.size());
    frame.rate = array<Mat34>(row, 3, "frames.rate", bodies.size());
    read_elastic_frame(index, frame);
    read_contacts(index, frame);
    read_joint_forces(index, frame);
    return frame;
}

std::size_t RunReader::Impl::elastic_matrices() const {
    std::size_t vertices = 0;
    for (const ElasticInfo& body : elastic) vertices += body.rest.size();
    return (vertices + 3) / 4;
}

RunReader::RunReader(const std::string& file) : impl_(std::make_unique<Impl>()) {
    impl_->file = file;
    check_header(file);
    impl_->guarded([&] {
        impl_->database = open_for_reading(file);
        impl_->database.distrust(bytes_of(file) + bytes_of(file + "-wal"));
        impl_->check_format();
        impl_->read_shapes();
        impl_->read_bodies();
        impl_->read_elastic();
        impl_->read_joints();
        // A missing table is found now rather than at the first question.
        for (const char* sql :
             {"SELECT id, step, time, q, rate FROM frames", "SELECT x FROM elastic_frames",
              "SELECT count FROM contacts", "SELECT force FROM joint_forces", "SELECT step FROM steps",
              "SELECT q FROM path", "SELECT state FROM checkpoints", "SELECT a, b FROM ignored"})
            Statement(impl_->database, sql);
    });
}

RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;

const std::string& RunReader::file() const {
    return impl_->file;
}
const RunModel& RunReader::model() const {
    return *impl_;
}
const std::vector<ShapeData>& RunReader::shapes() const {
    return impl_->shapes;
}
const std::vector<BodyInfo>& RunReader::bodies() const {
    return impl_->bodies;
}
const std::vector<ElasticInfo>& RunReader::elastic() const {
    return impl_->elastic;
}
const std::vector<JointInfo>& RunReader::joints() const {
    return impl_->joints;
}

std::string RunReader::meta(const std::string& key) const {
    return impl_->guarded([&] { return impl_->meta(key); });
}

std::string RunReader::scene_json() const {
    return meta("scene");
}

std::vector<std::array<int, 2>> RunReader::ignored_pairs() const {
    return impl_->guarded([&] {
        std::vector<std::array<int, 2>> pairs;
        const std::size_t count = impl_->bodies.size() + impl_->elastic.size();
        Statement row(impl_->database, "SELECT a, b, rowid FROM ignored ORDER BY rowid");
        for (long last = 0; row.next(); last = row.integer(2)) {
            if (row.integer(2) <= last) throw Damaged("pairs that may touch are out of order");
            check_index(row.integer(0), count, "an ignored body");
            check_index(row.integer(1), count, "an ignored body");
            pairs.push_back({static_cast<int>(row.integer(0)), static_cast<int>(row.integer(1))});
        }
        return pairs;
    });
}

// Frames are numbered without gaps, so the largest number is enough: no scan over large rows.
long RunReader::frame_count() const {
    return impl_->guarded([&] {
        Statement row(impl_->database, "SELECT ifnull(max(id), -1) FROM frames");
        row.next();
        return row.integer(0) + 1;
    });
}

long RunReader::frame_step(long index) const {
    return impl_->guarded([&] {
        Statement row(impl_->database, "SELECT step FROM frames WHERE id=?");
        row.bind(0, index);
        if (!row.next())
            throw InputError(file(), "frames[" + std::to_string(index) + "]", "no such frame",
                             "frames are numbered from 0");
        return row.integer(0);
    });
}

std::vector<FrameEntry> RunReader::frame_list() const {
    return impl_->guarded([&] {
        std::vector<FrameEntry> list;
        Statement table(impl_->database,
                        "SELECT count(*) FROM sqlite_master WHERE type='table' AND name='hashes'");
        table.next();
        Statement row(impl_->database,
                      table.integer(0) > 0
                          ? "SELECT id, step, time, state FROM frames LEFT JOIN hashes ON frame=id "
                            "ORDER BY id"
                          : "SELECT id, step, time, '' FROM frames ORDER BY id");
        while (row.next()) {
            if (!list.empty() && row.integer(0) <= list.back().id) throw Damaged("frames are out of order");
            list.push_back({row.integer(0), row.integer(1), row.number(2), row.text(3)});
        }
        return list;
    });
}

Frame RunReader::frame(long index) const {
    return impl_->guarded([&] { return impl_->read_frame(index); });
}

std::vector<StepRow> RunReader::steps() const {
    return impl_->guarded([&] {
        std::vector<StepRow> rows;
        Statement row(impl_->database, "SELECT * FROM steps ORDER BY step");
        while (row.next()) {
            StepRow step;
            step.step = row.integer(0);
            if (!rows.empty() && step.step <= rows.back().step) throw Damaged("steps are out of order");
            step.time = row.number(1);
            step.wall_ms = row.number(2);
            step.report.iterations = static_cast<int>(row.integer(3));
            step.report.converged = row.integer(4) != 0;
            step.report.contacts = static_cast<int>(row.integer(5));
            step.report.min_distance = row.is_null(6) ? 1e300 : row.number(6);
            step.report.joint_residual = row.number(7);
            step.energy = {row.number(8), row.number(9), row.number(10)};
            for (int k = 0; k < 3; ++k) {
                step.linear_momentum[k] = row.number(11 + k);
                step.angular_momentum[k] = row.number(14 + k);
            }
            step.report.solver = row.text(17);
            step.report.phases = numbers_by_name(row.text(18));
            step.report.metrics = numbers_by_name(row.text(19));
            const auto warnings = nlohmann::json::parse(row.text(20), nullptr, false);
            if (warnings.is_array())
                for (const auto& warning : warnings)
                    if (warning.is_string()) step.report.warnings.push_back(warning.get<std::string>());
            rows.push_back(std::move(step));
        }
        return rows;
    });
}

std::vector<std::vector<Mat34>> RunReader::path_pieces(long first_step, long last_step) const {
    return impl_->guarded([&] {
        std::vector<std::vector<Mat34>> pieces;
        Statement row(impl_->database,
                      "SELECT q, step, id FROM path WHERE step BETWEEN ? AND ? ORDER BY step, id");
        row.bind(0, first_step).bind(1, last_step);
        std::array<long, 2> last{-1, -1};
        while (row.next()) {
            const std::array<long, 2> now{row.integer(1), row.integer(2)};
            if (now <= last) throw Damaged("pieces of the path are out of order");
            last = now;
            pieces.push_back(array<Mat34>(row, 0, "path.q"));
            const std::size_t size = pieces.back().size(), bodies = impl_->bodies.size();
            if (size != bodies && size != bodies + impl_->elastic_matrices())
                throw Damaged("a piece of the path has " + std::to_string(size) + " matrices for " +
                              std::to_string(bodies) + " bodies");
        }
        return pieces;
    });
}

bool RunReader::has_path() const {
    return impl_->guarded([&] {
        Statement row(impl_->database, "SELECT 1 FROM path LIMIT 1");
        return row.next();
    });
}

std::string RunReader::checkpoint(long& step) const {
    return impl_->guarded([&] {
        std::string state;
        Statement row(impl_->database,
                      "SELECT step, state FROM checkpoints WHERE step=(SELECT max(step) FROM checkpoints) "
                      "ORDER BY part");
        while (row.next()) {
            step = row.integer(0);
            state += row.blob(1);
        }
        return state;
    });
}

std::vector<JointAxes> joint_axes(const RunReader& run) {
    return guarded(run.file(), [&] {
        Database database = open_for_reading(run.file());
        database.distrust(bytes_of(run.file()) + bytes_of(run.file() + "-wal"));
        std::vector<JointAxes> axes;
        Statement row(database, "SELECT frame_a, frame_b, rest_length, id FROM joints ORDER BY id");
        while (row.next()) {
            if (row.integer(3) != static_cast<long>(axes.size()) || axes.size() == run.joints().size())
                throw Damaged("joints are not numbered from 0 on");
            JointAxes& joint = axes.emplace_back();
            for (int k = 0; k < 2; ++k) joint.frame[k] = array<Mat3>(row, k, "joints.frame", 1)[0];
            joint.rest_length = finite_number(row, 2, "a joint's rest length");
        }
        return axes;
    });
}

struct JointDriveReader::Impl {
    std::string file;
    std::size_t joints = 0;
    Database database;
    bool has_table = false;  // files of older programs have none
};

JointDriveReader::JointDriveReader(const RunReader& run) : impl_(std::make_unique<Impl>()) {
    impl_->file = run.file();
    impl_->joints = run.joints().size();
    guarded(impl_->file, [&] {
        impl_->database = open_for_reading(impl_->file);
        impl_->database.distrust(bytes_of(impl_->file) + bytes_of(impl_->file + "-wal"));
        impl_->has_table =
            impl_->database.pragma("SELECT count(*) FROM sqlite_master WHERE name='joint_drives'") == "1";
    });
}

JointDriveReader::~JointDriveReader() = default;

JointDrives JointDriveReader::at(long frame) const {
    JointDrives drives;
    if (!impl_->has_table) return drives;
    guarded(impl_->file, [&] {
        Statement row(impl_->database, "SELECT rate, motor, limits FROM joint_drives WHERE frame=?");
        row.bind(0, frame);
        if (!row.next()) return;
        using Three = std::array<double, 3>;
        drives.rate = array<Three>(row, 0, "joint_drives.rate", impl_->joints);
        drives.motor = array<Three>(row, 1, "joint_drives.motor", impl_->joints);
        drives.limits = array<Three>(row, 2, "joint_drives.limits", impl_->joints);
    });
    return drives;
}

}  // namespace tenon::run
