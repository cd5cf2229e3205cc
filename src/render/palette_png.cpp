#include "render/palette_png.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include <png.h>

namespace tenon::render {
namespace {

constexpr int bits = 5, bins = 1 << (3 * bits);

int bin_of(const Pixel& pixel) {
    return (pixel[0] >> (8 - bits)) << (2 * bits) | (pixel[1] >> (8 - bits)) << bits | pixel[2] >> (8 - bits);
}

// The pixels of one cell of the histogram.
struct Bin {
    std::array<long, 3> sum{};
    long count = 0;
    int index = 0;
    double mean(int channel) const { return static_cast<double>(sum[channel]) / static_cast<double>(count); }
};

struct Box {
    std::size_t first, last;  // of the used bins
    long count = 0;
    int axis = 0;
    double spread = 0;
};

Box measured(const std::vector<Bin>& used, std::size_t first, std::size_t last) {
    Box box{first, last};
    for (int k = 0; k < 3; ++k) {
        double low = 256, high = -1;
        for (std::size_t i = first; i < last; ++i) {
            low = std::min(low, used[i].mean(k));
            high = std::max(high, used[i].mean(k));
        }
        if (high - low > box.spread) {
            box.spread = high - low;
            box.axis = k;
        }
    }
    for (std::size_t i = first; i < last; ++i) box.count += used[i].count;
    return box;
}

// The box whose colours differ most, weighed by how often they occur, is cut where half its pixels are on each side.
std::vector<Box> cut_boxes(std::vector<Bin>& used, int colors) {
    std::vector<Box> boxes{measured(used, 0, used.size())};
    const auto badness = [](const Box& b) {
        return b.last - b.first < 2 ? 0.0 : b.spread * b.spread * static_cast<double>(b.count);
    };
    while (static_cast<int>(boxes.size()) < colors) {
        const auto worst = std::max_element(
            boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) { return badness(a) < badness(b); });
        if (badness(*worst) <= 0) break;
        const Box box = *worst;
        std::sort(used.begin() + static_cast<long>(box.first), used.begin() + static_cast<long>(box.last),
                  [&](const Bin& a, const Bin& b) {
                      return a.mean(box.axis) != b.mean(box.axis) ? a.mean(box.axis) < b.mean(box.axis)
                                                                  : a.index < b.index;
                  });
        std::size_t middle = box.first + 1;
        for (long before = used[box.first].count; middle + 1 < box.last && 2 * before < box.count; ++middle)
            before += used[middle].count;
        *worst = measured(used, box.first, middle);
        boxes.push_back(measured(used, middle, box.last));
    }
    return boxes;
}

}  // namespace

std::vector<std::uint8_t> encode_palette_png(const Image& image, int colors) {
    std::vector<Bin> all(bins);
    for (const Pixel& pixel : image.pixels) {
        Bin& bin = all[bin_of(pixel)];
        ++bin.count;
        for (int k = 0; k < 3; ++k) bin.sum[k] += pixel[k];
    }
    std::vector<Bin> used;
    for (int i = 0; i < bins; ++i)
        if (all[i].count > 0) {
            all[i].index = i;
            used.push_back(all[i]);
        }
    if (used.empty()) throw std::runtime_error("PNG encoder: a picture without pixels");
    std::vector<Pixel> palette;
    std::vector<std::uint8_t> color_of_bin(bins, 0);
    for (const Box& box : cut_boxes(used, std::clamp(colors, 2, 256))) {
        std::array<long, 3> sum{};
        for (std::size_t i = box.first; i < box.last; ++i) {
            color_of_bin[used[i].index] = static_cast<std::uint8_t>(palette.size());
            for (int k = 0; k < 3; ++k) sum[k] += used[i].sum[k];
        }
        Pixel mean{};
        for (int k = 0; k < 3; ++k) mean[k] = static_cast<std::uint8_t>((sum[k] + box.count / 2) / box.count);
        palette.push_back(mean);
    }
    std::vector<std::uint8_t> indices;
    indices.reserve(image.pixels.size());
    for (const Pixel& pixel : image.pixels) indices.push_back(color_of_bin[bin_of(pixel)]);

    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(image.width);
    header.height = static_cast<png_uint_32>(image.height);
    header.format = PNG_FORMAT_RGB_COLORMAP;
    header.colormap_entries = static_cast<png_uint_32>(palette.size());
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
    std::vector<std::uint8_t> bytes(size);
    if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, indices.data(), 0, palette.data()))
        throw std::runtime_error(std::string("PNG encoder: ") + header.message);
    bytes.resize(size);
    return bytes;
}

}  // namespace tenon::render
