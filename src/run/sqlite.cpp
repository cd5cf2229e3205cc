#include "run/sqlite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <sqlite3.h>

namespace tenon::run {
namespace {

int open_flags(Database::Mode mode) {
    switch (mode) {
        case Database::Mode::create:
            return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        case Database::Mode::read_write:
            return SQLITE_OPEN_READWRITE;
        default:
            return SQLITE_OPEN_READONLY;
    }
}

// A file: address, with the characters that mean something in it escaped.
std::string immutable_address(const std::string& file) {
    std::string address = "file:";
    const char* digits = "0123456789ABCDEF";
    for (const char c : file) {
        if (c == '%' || c == '?' || c == '#') {
            address += '%';
            address += digits[(c >> 4) & 15];
            address += digits[c & 15];
        } else {
            address += c;
        }
    }
    return address + "?immutable=1";
}

}  // namespace

Database::Database(const std::string& file, Mode mode) {
    const bool immutable = mode == Mode::immutable;
    const std::string name = immutable ? immutable_address(file) : file;
    const int flags = open_flags(mode) | (immutable ? SQLITE_OPEN_URI : 0);
    const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
    if (code != SQLITE_OK) {
        const std::string message = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
        close();
        throw SqliteError(code, message);
    }
    sqlite3_busy_timeout(handle_, 10000);
}

void Database::distrust(std::size_t file_bytes) {
    constexpr int ops_between_looks = 1'000'000, most_looks = 2000;
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    const std::size_t largest = std::clamp<std::size_t>(4 * file_bytes, std::size_t{1} << 26, 1'000'000'000);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, static_cast<int>(largest));
    looks_ = std::make_unique<long>(0);
    sqlite3_progress_handler(
        handle_, ops_between_looks,
        [](void* looks) { return ++*static_cast<long*>(looks) > most_looks ? 1 : 0; }, looks_.get());
    execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0");
}

Database& Database::operator=(Database&& other) noexcept {
    if (this != &other) {
        close();
        handle_ = std::exchange(other.handle_, nullptr);
        looks_ = std::move(other.looks_);
    }
    return *this;
}

void Database::execute(const char* sql) {
    char* text = nullptr;
    const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, &text);
    const std::string message = text ? text : "";
    sqlite3_free(text);
    if (code != SQLITE_OK) throw SqliteError(code, message);
}

std::string Database::pragma(const char* sql) {
    Statement statement(*this, sql);
    return statement.next() ? statement.text(0) : std::string();
}

void Database::close() {
    if (handle_) sqlite3_close_v2(handle_);
    handle_ = nullptr;
}

Statement::Statement(const Database& database, const char* sql) : database_(database.handle()) {
    check(sqlite3_prepare_v2(database_, sql, -1, &statement_, nullptr));
}

Statement::~Statement() {
    sqlite3_finalize(statement_);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) throw SqliteError(code, sqlite3_errmsg(database_));
}

Statement& Statement::bind(int index, long value) {
    check(sqlite3_bind_int64(statement_, index + 1, value));
    return *this;
}

Statement& Statement::bind(int index, double value) {
    check(std::isfinite(value) ? sqlite3_bind_double(statement_, index + 1, value)
                               : sqlite3_bind_null(statement_, index + 1));
    return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
    const char* data = text.data() ? text.data() : "";
    check(sqlite3_bind_text64(statement_, index + 1, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind_blob(int index, const void* data, std::size_t bytes) {
    check(bytes == 0 ? sqlite3_bind_zeroblob(statement_, index + 1, 0)
                     : sqlite3_bind_blob64(statement_, index + 1, data, bytes, SQLITE_STATIC));
    return *this;
}

void Statement::run() {
    const int code = sqlite3_step(statement_);
    const std::string message = code == SQLITE_DONE ? "" : sqlite3_errmsg(database_);
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
    if (code != SQLITE_DONE) throw SqliteError(code, message);
}

bool Statement::next() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) throw SqliteError(code, sqlite3_errmsg(database_));
    return false;
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
long Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

double Statement::number(int column) const {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                           : sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return data ? std::string(data, sqlite3_column_bytes(statement_, column)) : std::string();
}

std::string_view Statement::blob(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return data ? std::string_view(data, sqlite3_column_bytes(statement_, column)) : std::string_view();
}

}  // namespace tenon::run
