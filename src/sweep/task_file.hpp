// A sweep's folder: one SQLite file per finished run, locks of those under way.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/task.hpp"

namespace tenon::sweep {

// What became of a run.
struct TaskResult {
    std::string status;                                // done | unconverged | failed
    std::string reason;                                // why it is not done
    std::vector<std::pair<std::string, Cell>> values;  // by the plan's names
    double wall_seconds = 0.0;
    std::string report, verdict;  // JSON, "" where there is none
};

class Folder {
  public:
    explicit Folder(std::string path) : path_(std::move(path)) {}

    void make() const;  // throws InputError
    const std::string& path() const { return path_; }
    std::string result_file(const Task& task) const;
    std::string run_file(const Task& task) const;      // of a run that is kept
    std::string scratch_file(const Task& task) const;  // of one that is not: gone after the run
    std::string file(const std::string& name) const;

    // Whole or not at all: written beside the place and renamed.
    void write(const Task& task, const TaskResult& result) const;
    // Nothing when the file is missing, damaged, or of another task.
    std::optional<TaskResult> read(const Task& task) const;
    bool finished(const Task& task) const { return read(task).has_value(); }

    enum class Lock { none, held, left };  // left: whoever held it is gone
    Lock lock_state(const Task& task) const;
    void remove_lock(const Task& task) const;

  private:
    friend class TaskLock;
    std::string lock_file(const Task& task) const;
    std::string path_;
};

// Held by the process that makes a run. What a killed process leaves is the file without the lock.
class TaskLock {
  public:
    TaskLock(const Folder& folder, const Task& task);
    ~TaskLock();
    TaskLock(const TaskLock&) = delete;
    TaskLock& operator=(const TaskLock&) = delete;
    bool held() const { return handle_ >= 0; }

  private:
    std::string file_;
    int handle_ = -1;
};

}  // namespace tenon::sweep
