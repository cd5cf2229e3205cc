#include "render/apng.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "math/whole_file.hpp"
#include "tenon/error.hpp"

namespace tenon::render {
namespace {

std::uint32_t crc32(const std::string& bytes) {
    static const std::array<std::uint32_t, 256> table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t n = 0; n < 256; ++n) {
            std::uint32_t c = n;
            for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
            made[n] = c;
        }
        return made;
    }();
    std::uint32_t c = 0xffffffffu;
    for (const char byte : bytes) c = table[(c ^ static_cast<unsigned char>(byte)) & 255] ^ (c >> 8);
    return c ^ 0xffffffffu;
}

std::string big_endian(std::uint32_t value, int bytes = 4) {
    std::string out;
    for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k) & 255);
    return out;
}

// A chunk of a PNG file: its length, name, data and checksum.
std::string chunk(const std::string& name, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + name + data + big_endian(crc32(name + data));
}

// The data of all chunks of one name in a PNG file, in order.
std::vector<std::uint8_t> chunk_data(const std::vector<std::uint8_t>& png, const char* name) {
    std::vector<std::uint8_t> data;
    for (std::size_t at = 8; at + 12 <= png.size();) {
        const std::size_t size =
            static_cast<std::size_t>(png[at]) << 24 | png[at + 1] << 16 | png[at + 2] << 8 | png[at + 3];
        if (std::memcmp(&png[at + 4], name, 4) == 0)
            data.insert(data.end(), png.begin() + static_cast<long>(at) + 8,
                        png.begin() + static_cast<long>(at + 8 + size));
        at += 12 + size;
    }
    return data;
}

std::string as_text(const std::vector<std::uint8_t>& bytes) {
    return std::string(bytes.begin(), bytes.end());
}

}  // namespace

ApngWriter::ApngWriter(const std::string& file, int width, int height, double fps)
    : file_(file), width_(width), height_(height), fps_(fps) {}

void ApngWriter::add(const Image& image) {
    int left = 0, top = 0, right = width_ - 1, bottom = height_ - 1;
    if (!parts_.empty()) {
        left = width_, top = height_, right = bottom = -1;
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x) {
                if (image.at(x, y) == last_.at(x, y)) continue;
                left = std::min(left, x);
                right = std::max(right, x);
                top = std::min(top, y);
                bottom = std::max(bottom, y);
            }
        if (right < 0) {  // nothing moved: the last picture stays for another frame
            ++parts_.back().repeats;
            return;
        }
    }
    Part part{left, top, right - left + 1, bottom - top + 1, 1, {}};
    Image cut(part.width, part.height);
    for (int y = 0; y < part.height; ++y)
        for (int x = 0; x < part.width; ++x) cut.at(x, y) = image.at(left + x, top + y);
    part.data = chunk_data(encode_png(cut), "IDAT");
    parts_.push_back(std::move(part));
    last_ = image;
}

void ApngWriter::close() {
    if (parts_.empty()) throw InputError(file_, "", "a film needs a picture", "choose a run with frames");
    std::string out("\x89PNG\r\n\x1a\n", 8);
    out +=
        chunk("IHDR", big_endian(static_cast<std::uint32_t>(width_)) +
                          big_endian(static_cast<std::uint32_t>(height_)) + std::string("\x08\x02\0\0\0", 5));
    out += chunk("acTL", big_endian(static_cast<std::uint32_t>(parts_.size())) + big_endian(0));
    std::uint32_t sequence = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        // a delay is a fraction of two 16-bit numbers: thousandths of a second do for any rate
        const auto delay =
            static_cast<std::uint32_t>(std::clamp(std::round(1000.0 * part.repeats / fps_), 1.0, 65535.0));
        std::string control = big_endian(sequence++);
        for (const int number : {part.width, part.height, part.x, part.y})
            control += big_endian(static_cast<std::uint32_t>(number));
        control += big_endian(delay, 2) + big_endian(1000, 2) + std::string(2, '\0');
        out += chunk("fcTL", control);
        out += i == 0 ? chunk("IDAT", as_text(part.data))
                      : chunk("fdAT", big_endian(sequence++) + as_text(part.data));
    }
    write_whole_file(file_, out + chunk("IEND", ""));
}

}  // namespace tenon::render
