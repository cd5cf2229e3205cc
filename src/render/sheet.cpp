#include "render/sheet.hpp"

#include <algorithm>

#include "render/label.hpp"

namespace tenon::render {

Image contact_sheet(const std::vector<Image>& pictures, const std::vector<std::string>& captions,
                    int columns) {
    if (pictures.empty() || columns < 1) return {};
    constexpr int gap = 4;
    const int width = pictures[0].width, height = pictures[0].height;
    const int rows = (static_cast<int>(pictures.size()) + columns - 1) / columns;
    Image sheet(columns * (width + gap) - gap, rows * (height + gap) - gap);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const int x = static_cast<int>(i) % columns * (width + gap),
                  y = static_cast<int>(i) / columns * (height + gap);
        sheet.paste(pictures[i], x, y);
        if (i >= captions.size()) continue;
        const double size = std::clamp(height / 28.0, 7.0, 20.0);
        draw_text(sheet, captions[i], x + size, y + 2 * size, size, {60, 66, 74});
    }
    return sheet;
}

std::vector<long> spread_frames(long frames, long count) {
    count = std::min(frames, count);
    std::vector<long> indices;
    for (long i = 0; i < count; ++i) indices.push_back(count == 1 ? 0 : i * (frames - 1) / (count - 1));
    return indices;
}

}  // namespace tenon::render
