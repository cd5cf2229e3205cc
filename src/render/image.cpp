#include "render/image.hpp"

#include <algorithm>
#include <stdexcept>

#include <png.h>

#include "math/whole_file.hpp"
#include "tenon/error.hpp"

namespace tenon::render {

Image::Image(int w, int h, Pixel fill) : width(w), height(h), pixels(static_cast<std::size_t>(w) * h, fill) {}

void Image::paste(const Image& other, int x, int y) {
    for (int row = std::max(0, -y); row < other.height && row + y < height; ++row)
        for (int column = std::max(0, -x); column < other.width && column + x < width; ++column)
            at(column + x, row + y) = other.at(column, row);
}

std::vector<std::uint8_t> encode_png(const Image& image) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(image.width);
    header.height = static_cast<png_uint_32>(image.height);
    header.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
    std::vector<std::uint8_t> bytes(size);
    if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr))
        throw std::runtime_error(std::string("PNG encoder: ") + header.message);
    bytes.resize(size);
    return bytes;
}

void write_png(const Image& image, const std::string& file) {
    const std::vector<std::uint8_t> bytes = encode_png(image);
    write_whole_file(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Image read_png(const std::string& file) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_file(&header, file.c_str()))
        throw InputError(file, "", std::string("is no PNG picture: ") + header.message);
    header.format = PNG_FORMAT_RGB;
    Image image(static_cast<int>(header.width), static_cast<int>(header.height));
    const png_color white{255, 255, 255};
    if (!png_image_finish_read(&header, &white, image.pixels.data(), 0, nullptr))
        throw InputError(file, "", std::string("is a damaged PNG picture: ") + header.message);
    return image;
}

}  // namespace tenon::render
