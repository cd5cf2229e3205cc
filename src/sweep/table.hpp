// The merged results: one row per run, whatever became of it.
#pragma once

#include <string>
#include <vector>

#include "sweep/execute.hpp"

namespace tenon::sweep {

struct Row {
    const Task* task = nullptr;
    std::string status;  // done | unconverged | failed | killed | running | waiting
    TaskResult result;
};

struct Table {
    std::vector<std::string> parameters, results;  // names of columns
    std::vector<Row> rows;                         // in the tasks' order

    Cell value(const Row& row, std::size_t result) const;  // of the result column
    long count(const std::string& status) const;
};

Table collect(const Sweep& sweep);

// task, scene, parameters, status, reason, results, the kept run, wall_seconds.
std::string to_csv(const Sweep& sweep, const Table& table);
// The same as table `results`; `sweep` holds the plan, `columns` what each column is. Throws InputError.
void write_sqlite(const Sweep& sweep, const Table& table, const std::string& file);

}  // namespace tenon::sweep
