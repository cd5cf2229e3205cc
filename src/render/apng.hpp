// Animated PNG: a short film that browsers show as a picture, without any other program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/image.hpp"

namespace tenon::render {

// Keeps of each picture only the part that differs from the one before.
class ApngWriter {
  public:
    ApngWriter(const std::string& file, int width, int height, double fps);

    void add(const Image& image);
    void close();  // writes the file; throws InputError

  private:
    struct Part {
        int x = 0, y = 0, width = 0, height = 0, repeats = 1;  // shown for so many frames
        std::vector<std::uint8_t> data;                        // the compressed pixels
    };
    std::string file_;
    int width_, height_;
    double fps_;
    Image last_;
    std::vector<Part> parts_;
};

}  // namespace tenon::render
