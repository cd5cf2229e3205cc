// MP4 movies through the ffmpeg program, where it is installed.
#pragma once

#include <string>

#include <sys/types.h>

#include "render/image.hpp"

namespace tenon::render {

bool movie_program_found();  // ffmpeg on the PATH

// Hands frames to an ffmpeg process. Throws InputError when it cannot be started or fails.
class MovieWriter {
  public:
    MovieWriter(const std::string& file, int width, int height, double fps);
    ~MovieWriter();
    MovieWriter(const MovieWriter&) = delete;
    MovieWriter& operator=(const MovieWriter&) = delete;

    void add(const Image& image);
    void close();

  private:
    std::string file_;
    int pipe_ = -1;
    pid_t process_ = -1;
};

}  // namespace tenon::render
