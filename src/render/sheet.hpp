// Several frames on one picture, with their times.
#pragma once

#include <string>
#include <vector>

#include "render/image.hpp"

namespace tenon::render {

// Pictures of one size in rows; captions may be fewer than pictures.
Image contact_sheet(const std::vector<Image>& pictures, const std::vector<std::string>& captions,
                    int columns);

// `count` indices spread evenly over [0, frames), first and last included.
std::vector<long> spread_frames(long frames, long count);

}  // namespace tenon::render
