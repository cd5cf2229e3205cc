#include "sweep/task_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "run/sqlite.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

namespace fs = std::filesystem;
using run::Database;
using run::Statement;

constexpr const char* schema = R"sql(
CREATE TABLE task(key TEXT PRIMARY KEY, value);
CREATE TABLE result(name TEXT PRIMARY KEY, value);
)sql";

void bind(Statement& statement, int index, const Cell& cell) {
    if (const double* number = std::get_if<double>(&cell))
        statement.bind(index, *number);
    else if (const std::string* text = std::get_if<std::string>(&cell))
        statement.bind(index, std::string_view(*text));
    // what is not bound is NULL
}

void fill(const Database& database, const Task& task, const TaskResult& result) {
    Statement about(database, "INSERT INTO task VALUES(?, ?)");
    const auto put = [&](std::string_view key, const std::string& value) {
        about.bind(0, key).bind(1, std::string_view(value)).run();
    };
    put("spec", task.spec);
    put("status", result.status);
    put("reason", result.reason);
    put("report", result.report);
    put("verdict", result.verdict);
    about.bind(0, std::string_view("wall_seconds")).bind(1, result.wall_seconds).run();
    Statement value(database, "INSERT INTO result VALUES(?, ?)");
    for (const auto& [name, cell] : result.values) {
        value.bind(0, std::string_view(name));
        bind(value, 1, cell);
        value.run();
    }
}

TaskResult read_result(const Database& database, std::string& spec) {
    TaskResult result;
    Statement about(database, "SELECT key, value FROM task");
    while (about.next()) {
        const std::string key = about.text(0);
        if (key == "wall_seconds") result.wall_seconds = about.number(1);
        if (key == "spec") spec = about.text(1);
        if (key == "status") result.status = about.text(1);
        if (key == "reason") result.reason = about.text(1);
        if (key == "report") result.report = about.text(1);
        if (key == "verdict") result.verdict = about.text(1);
    }
    Statement values(database, "SELECT name, value, typeof(value) FROM result ORDER BY rowid");
    while (values.next()) {
        Cell cell;
        if (values.text(2) == "text")
            cell = values.text(1);
        else if (!values.is_null(1))
            cell = values.number(1);
        result.values.emplace_back(values.text(0), std::move(cell));
    }
    return result;
}

}  // namespace

void Folder::make() const {
    std::error_code error;
    for (const char* name : {"tasks", "locks", "scratch"}) {
        fs::create_directories(fs::path(path_) / name, error);
        if (error)
            throw InputError(path_, "", "cannot be made: " + error.message(),
                             "choose a folder that may be written to with -o");
    }
}

std::string Folder::file(const std::string& name) const {
    return (fs::path(path_) / name).string();
}

std::string Folder::result_file(const Task& task) const {
    return file("tasks/" + task.key.substr(0, 2) + "/" + task.key + ".sqlite");
}

std::string Folder::run_file(const Task& task) const {
    return file("runs/" + task.key + ".tenon");
}

std::string Folder::scratch_file(const Task& task) const {
    return file(fmt::format("scratch/{}-{}.tenon", task.key, getpid()));
}

std::string Folder::lock_file(const Task& task) const {
    return file("locks/" + task.key);
}

void Folder::write(const Task& task, const TaskResult& result) const {
    const std::string target = result_file(task);
    const std::string partial = fmt::format("{}.{}.partial", target, getpid());
    std::error_code error;
    fs::create_directories(fs::path(target).parent_path(), error);
    fs::remove(partial, error);
    try {
        Database database(partial, Database::Mode::create);
        // A half-written file is never seen under its name, and a damaged one is a run to be made again.
        database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
        database.execute(schema);
        fill(database, task, result);
        database.execute("COMMIT");
    } catch (const run::SqliteError& failure) {
        fs::remove(partial, error);
        throw InputError(target, "", std::string("cannot be written: ") + failure.what(),
                         "check the space left and the folder");
    }
    fs::rename(partial, target, error);
    if (error) throw InputError(target, "", "cannot be written: " + error.message(), "check the folder");
}

std::optional<TaskResult> Folder::read(const Task& task) const {
    const std::string target = result_file(task);
    if (::access(target.c_str(), R_OK) != 0) return {};
    try {
        const Database database(target, Database::Mode::immutable);
        std::string spec;
        TaskResult result = read_result(database, spec);
        if (spec != task.spec || result.status.empty()) return {};
        return result;
    } catch (const run::SqliteError&) {
        return {};
    }
}

Folder::Lock Folder::lock_state(const Task& task) const {
    const int handle = ::open(lock_file(task).c_str(), O_RDWR | O_CLOEXEC);
    if (handle < 0) return Lock::none;
    const bool held = ::flock(handle, LOCK_EX | LOCK_NB) != 0;
    ::close(handle);
    return held ? Lock::held : Lock::left;
}

void Folder::remove_lock(const Task& task) const {
    ::unlink(lock_file(task).c_str());
}

TaskLock::TaskLock(const Folder& folder, const Task& task) : file_(folder.lock_file(task)) {
    handle_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (handle_ < 0) throw InputError(file_, "", "cannot be made", "the sweep's folder must be writable");
    if (::flock(handle_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(handle_);
    handle_ = -1;
}

TaskLock::~TaskLock() {
    if (handle_ < 0) return;
    ::unlink(file_.c_str());
    ::close(handle_);
}

}  // namespace tenon::sweep
