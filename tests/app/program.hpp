// Runs the built program as a user would and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tenon::test {

// A folder of its own for a test, gone afterwards.
class Folder {
  public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-app-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }
    std::size_t file_count() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
        return count;
    }

  private:
    std::filesystem::path path_;
};

inline std::string slurp(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

struct Outcome {
    int code = -1;  // exit code; 128 + signal when killed
    std::string out, err;
};

// `arguments` as in a shell, run inside `folder`.
inline Outcome tenon(const std::string& arguments, const Folder& folder) {
    const Folder streams;
    const std::string command = "cd '" + folder.path() + "' && '" TENON_PROGRAM "' " + arguments + " >'" +
                                (streams / "out") + "' 2>'" + (streams / "err") + "' </dev/null";
    const int status = std::system(command.c_str());
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = slurp(streams / "out");
    outcome.err = slurp(streams / "err");
    return outcome;
}

}  // namespace tenon::test
