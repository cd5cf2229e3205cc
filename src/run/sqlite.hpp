// The little of SQLite that run files need: a connection and statements that clean up after themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace tenon::run {

class SqliteError : public std::runtime_error {
  public:
    SqliteError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
    int code() const { return code_; }

  private:
    int code_;
};

class Database {
  public:
    enum class Mode { create, read_write, read_only, immutable };

    Database() = default;
    Database(const std::string& file, Mode mode);
    ~Database() { close(); }
    Database(Database&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), looks_(std::move(other.looks_)) {}
    Database& operator=(Database&& other) noexcept;

    void execute(const char* sql);
    std::string pragma(const char* sql);  // first column of the first row, "" when there is none
    void close();

    // For files from strangers: nothing in the schema runs, nothing is written past SQLite's own checks, no value is
    // larger than the file could hold, and no single question takes for ever.
    void distrust(std::size_t file_bytes);

    bool is_open() const { return handle_ != nullptr; }
    sqlite3* handle() const { return handle_; }

  private:
    sqlite3* handle_ = nullptr;
    std::unique_ptr<long> looks_;  // how often the progress handler was asked
};

// A prepared statement. Parameters and columns are numbered from 0.
class Statement {
  public:
    Statement(const Database& database, const char* sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(int index, long value);
    Statement& bind(int index, int value) { return bind(index, static_cast<long>(value)); }
    Statement& bind(int index, double value);  // what is not finite becomes NULL
    Statement& bind(int index, std::string_view text);
    Statement& bind_blob(int index, const void* data, std::size_t bytes);  // must outlive run() or next()

    // Fixed-size values without padding: numbers, Eigen vectors and matrices, std::arrays of numbers.
    template <class T>
    Statement& bind_array(int index, const std::vector<T>& values) {
        return bind_blob(index, values.data(), values.size() * sizeof(T));
    }

    void run();   // executes and resets, for writing
    bool next();  // steps to the next row, for reading

    bool is_null(int column) const;
    long integer(int column) const;
    double number(int column) const;  // NaN for NULL
    std::string text(int column) const;
    std::string_view blob(int column) const;  // valid until the next call

  private:
    void check(int code) const;
    sqlite3* database_ = nullptr;
    sqlite3_stmt* statement_ = nullptr;
};

}  // namespace tenon::run
