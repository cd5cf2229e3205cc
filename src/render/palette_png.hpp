// Small PNG files: pictures of at most 256 colours, chosen for the picture.
#pragma once

#include <cstdint>
#include <vector>

#include "render/image.hpp"

namespace tenon::render {

// Colours by median cut over a 5-bit histogram; each pixel gets the nearest. `colors` from 2 to 256.
std::vector<std::uint8_t> encode_palette_png(const Image& image, int colors);

}  // namespace tenon::render
