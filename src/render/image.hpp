// A picture of 8-bit RGB pixels, and PNG files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::render {

using Pixel = std::array<std::uint8_t, 3>;

struct Image {
    int width = 0, height = 0;
    std::vector<Pixel> pixels;  // rows from the top

    Image() = default;
    Image(int width, int height, Pixel fill = {255, 255, 255});

    Pixel& at(int x, int y) { return pixels[static_cast<std::size_t>(y) * width + x]; }
    const Pixel& at(int x, int y) const { return pixels[static_cast<std::size_t>(y) * width + x]; }
    void paste(const Image& other, int x, int y);  // parts outside are cut off
};

std::vector<std::uint8_t> encode_png(const Image& image);

// Throws InputError when the file cannot be written; leaves no partial file behind.
void write_png(const Image& image, const std::string& file);

// Reads 8-bit pictures back (alpha dropped, palettes expanded). Throws InputError.
Image read_png(const std::string& file);

}  // namespace tenon::render
