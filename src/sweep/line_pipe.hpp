// Lines over pipes: what a sweep's processes say to each other.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace tenon::sweep {

// Reads a descriptor by lines. Does not own it.
class LineReader {
  public:
    explicit LineReader(int handle) : handle_(handle) {}
    bool fill();  // reads what is there, waiting for the first byte; false at the end
    std::optional<std::string> line();

  private:
    int handle_;
    std::string pending_;
};

bool write_all(int handle, const std::string& text);  // false when nobody reads any more

// A child process with pipes to its standard input and output.
class Child {
  public:
    // `variables` ("NAME=value") go before those of this process. Throws InputError.
    explicit Child(const std::vector<std::string>& command, const std::vector<std::string>& variables = {});
    ~Child();  // ends it
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    bool say(const std::string& line) { return write_all(in_, line + "\n"); }
    void close_input();
    int output() const { return out_; }
    LineReader& reader() { return reader_; }
    void send(int signal) const;
    int wait();  // its status as waitpid tells it

  private:
    pid_t pid_ = -1;
    int in_ = -1, out_ = -1;
    LineReader reader_{-1};
};

// "ended by signal 11 (Segmentation fault)", "ended with exit code 3".
std::string end_in_words(int status);

}  // namespace tenon::sweep
