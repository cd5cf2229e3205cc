#include "sweep/line_pipe.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "tenon/error.hpp"

extern char** environ;

namespace tenon::sweep {

bool LineReader::fill() {
    char bytes[65536];
    while (true) {
        const ssize_t count = ::read(handle_, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) return true;
        if (count <= 0) return false;
        pending_.append(bytes, static_cast<std::size_t>(count));
        return true;
    }
}

std::optional<std::string> LineReader::line() {
    const std::size_t end = pending_.find('\n');
    if (end == std::string::npos) return {};
    std::string first = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return first;
}

bool write_all(int handle, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(handle, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}

namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> all;
    for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
    return all;
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::vector<std::string>& variables) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0)
        throw InputError(command[0], "", "no pipe can be made", "too many open files");
    if (::pipe2(from, O_CLOEXEC) != 0) {
        ::close(to[0]);
        ::close(to[1]);
        throw InputError(command[0], "", "no pipe can be made", "too many open files");
    }
    std::vector<char*> arguments = pointers_to(command), environment = pointers_to(variables);
    arguments.push_back(nullptr);
    for (char** entry = environ; *entry; ++entry) environment.push_back(*entry);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    const int code =
        posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = from[0];
    reader_ = LineReader(out_);
    if (code != 0) {
        pid_ = -1;
        ::close(in_);
        ::close(out_);
        throw InputError(command[0], "", std::string("cannot be started: ") + std::strerror(code),
                         "check the path");
    }
}

Child::~Child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        wait();
    }
    close_input();
    if (out_ >= 0) ::close(out_);
}

void Child::close_input() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
}

void Child::send(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
}

int Child::wait() {
    int status = 0;
    while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
}

std::string end_in_words(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace tenon::sweep
