#include "sweep/table.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "run/sqlite.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

namespace fs = std::filesystem;

std::string state_without_result(const Sweep& sweep, const Task& task) {
    switch (sweep.folder.lock_state(task)) {
        case Folder::Lock::held:
            return "running";
        case Folder::Lock::left:
            return "killed";
        default:
            return "waiting";
    }
}

struct Column {
    std::string name, kind, meaning;
};

std::vector<Column> columns_of(const Sweep& sweep, const Table& table) {
    std::vector<Column> columns = {{"task", "task", "number of the run, from 0"}, {"scene", "task", ""}};
    for (const std::string& name : table.parameters) columns.push_back({name, "parameter", ""});
    columns.push_back({"status", "outcome", "done, unconverged, failed, killed, running or waiting"});
    columns.push_back({"reason", "outcome", "why the run is not done"});
    for (const ResultSpec& result : sweep.plan.results)
        columns.push_back({result.name, "result", result.expression});
    if (sweep.plan.keep_runs)
        columns.push_back({"run", "outcome", "the kept run file, from the sweep's folder"});
    columns.push_back({"wall_seconds", "time", "what the run took"});
    return columns;
}

std::vector<Cell> cells_of(const Sweep& sweep, const Table& table, const Row& row) {
    std::vector<Cell> cells = {static_cast<double>(row.task->number), row.task->scene};
    cells.insert(cells.end(), row.task->values.begin(), row.task->values.end());
    cells.emplace_back(row.status);
    cells.push_back(row.result.reason.empty() ? Cell() : Cell(row.result.reason));
    for (std::size_t i = 0; i < table.results.size(); ++i) cells.push_back(table.value(row, i));
    if (sweep.plan.keep_runs) {
        std::error_code error;
        const std::string file = sweep.folder.run_file(*row.task);
        cells.push_back(fs::exists(file, error) ? Cell("runs/" + fs::path(file).filename().string())
                                                : Cell());
    }
    const bool finished = !row.result.status.empty();
    cells.push_back(finished ? Cell(row.result.wall_seconds) : Cell());
    return cells;
}

std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
}

void fill(run::Database& database, const Sweep& sweep, const Table& table) {
    const std::vector<Column> columns = columns_of(sweep, table);
    std::string names, places;
    for (const Column& column : columns) {
        names += (names.empty() ? "" : ", ") + quoted(column.name);
        places += places.empty() ? "?" : ", ?";
        if (column.name == "task") names += " INTEGER PRIMARY KEY";
    }
    database.execute(("CREATE TABLE results(" + names + ")").c_str());
    database.execute("CREATE TABLE columns(name TEXT, kind TEXT, meaning TEXT)");
    database.execute("CREATE TABLE sweep(key TEXT PRIMARY KEY, value TEXT)");
    run::Statement column_row(database, "INSERT INTO columns VALUES(?, ?, ?)");
    for (const Column& column : columns)
        column_row.bind(0, std::string_view(column.name))
            .bind(1, std::string_view(column.kind))
            .bind(2, std::string_view(column.meaning))
            .run();
    run::Statement about(database, "INSERT INTO sweep VALUES(?, ?)");
    about.bind(0, std::string_view("name")).bind(1, std::string_view(sweep.plan.name)).run();
    about.bind(0, std::string_view("plan")).bind(1, std::string_view(sweep.plan.text)).run();
    run::Statement insert(database, ("INSERT INTO results VALUES(" + places + ")").c_str());
    for (const Row& row : table.rows) {
        const std::vector<Cell> cells = cells_of(sweep, table, row);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (const double* number = std::get_if<double>(&cells[i])) {
                if (i == 0)
                    insert.bind(0, static_cast<long>(*number));
                else
                    insert.bind(static_cast<int>(i), *number);
            } else if (const std::string* text = std::get_if<std::string>(&cells[i])) {
                insert.bind(static_cast<int>(i), std::string_view(*text));
            }
        }
        insert.run();
    }
}

}  // namespace

Cell Table::value(const Row& row, std::size_t result) const {
    for (const auto& [name, cell] : row.result.values)
        if (name == results[result]) return cell;
    return {};
}

long Table::count(const std::string& status) const {
    return std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.status == status; });
}

Table collect(const Sweep& sweep) {
    Table table;
    table.parameters = parameter_columns(sweep.plan);
    for (const ResultSpec& result : sweep.plan.results) table.results.push_back(result.name);
    for (const Task& task : sweep.tasks) {
        Row& row = table.rows.emplace_back();
        row.task = &task;
        if (std::optional<TaskResult> result = sweep.folder.read(task)) {
            row.status = result->status;
            row.result = std::move(*result);
            row.result.report.clear();
            row.result.verdict.clear();
        } else {
            row.status = state_without_result(sweep, task);
            if (row.status == "killed") row.result.reason = "its process ended before the run did";
        }
    }
    return table;
}

std::string to_csv(const Sweep& sweep, const Table& table) {
    std::string text;
    for (const Column& column : columns_of(sweep, table))
        text += (text.empty() ? "" : ",") + csv_text(column.name);
    text += "\n";
    for (const Row& row : table.rows) {
        std::string line;
        for (const Cell& cell : cells_of(sweep, table, row)) line += csv_text(cell) + ",";
        line.back() = '\n';
        text += line;
    }
    return text;
}

void write_sqlite(const Sweep& sweep, const Table& table, const std::string& file) {
    const std::string partial = file + ".partial";
    std::error_code error;
    fs::remove(partial, error);
    try {
        run::Database database(partial, run::Database::Mode::create);
        database.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
        fill(database, sweep, table);
        database.execute("COMMIT");
    } catch (const run::SqliteError& failure) {
        fs::remove(partial, error);
        throw InputError(file, "", std::string("cannot be written: ") + failure.what(),
                         "check the space left");
    }
    fs::rename(partial, file, error);
    if (error) throw InputError(file, "", "cannot be written: " + error.message(), "check the folder");
}

}  // namespace tenon::sweep
