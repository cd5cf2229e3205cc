#include "render/movie.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "math/whole_file.hpp"
#include "tenon/error.hpp"

namespace tenon::render {

bool movie_program_found() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (access((folder + "/ffmpeg").c_str(), X_OK) == 0) return true;
    return false;
}

MovieWriter::MovieWriter(const std::string& file, int width, int height, double fps) : file_(file) {
    if (!movie_program_found())
        throw InputError(file, "", "making MP4 needs the ffmpeg program, which was not found",
                         "install ffmpeg, or write an .apng, which needs no other program");
    make_folder_of(file);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw InputError(file, "", "cannot start ffmpeg: no pipe left");
    process_ = fork();
    if (process_ < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw InputError(file, "", "cannot start ffmpeg: no process left");
    }
    const std::string size = fmt::format("{}x{}", width, height), rate = fmt::format("{:g}", fps);
    if (process_ == 0) {
        dup2(ends[0], STDIN_FILENO);
        execlp("ffmpeg", "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s",
               size.c_str(), "-r", rate.c_str(), "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2",
               "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart", file.c_str(),
               static_cast<char*>(nullptr));
        _exit(127);
    }
    ::close(ends[0]);
    pipe_ = ends[1];
}

void MovieWriter::add(const Image& image) {
    const char* bytes = reinterpret_cast<const char*>(image.pixels.data());
    std::size_t left = image.pixels.size() * sizeof(Pixel);
    // an ffmpeg that died must not kill this process by SIGPIPE
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    bool good = true;
    while (left > 0 && good) {
        const ssize_t written = ::write(pipe_, bytes, left);
        if (written < 0 && errno == EINTR) continue;
        good = written > 0;
        if (good) {
            bytes += written;
            left -= static_cast<std::size_t>(written);
        }
    }
    sigaction(SIGPIPE, &before, nullptr);
    if (!good)
        throw InputError(file_, "", "ffmpeg stopped before the movie was complete", "see its message above");
}

void MovieWriter::close() {
    if (pipe_ < 0) return;
    ::close(pipe_);
    pipe_ = -1;
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw InputError(file_, "", "ffmpeg could not write the movie", "see its message above");
}

MovieWriter::~MovieWriter() {
    try {
        close();
    } catch (const std::exception&) {  // already reported by add(), or the caller did not want to know
    }
}

}  // namespace tenon::render
