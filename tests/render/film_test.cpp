// Films and small pictures: animated PNG chunk by chunk, motion between frames, palettes.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "render/apng.hpp"
#include "render/between.hpp"
#include "render/palette_png.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon::render {
namespace {

std::string temporary(const std::string& name) {
    return (std::filesystem::temp_directory_path() / ("tenon-film-" + std::to_string(::getpid()) + name))
        .string();
}

struct Chunk {
    std::string name, data;
};

std::uint32_t number(const std::string& text, std::size_t at, int bytes = 4) {
    std::uint32_t value = 0;
    for (int k = 0; k < bytes; ++k) value = value << 8 | static_cast<unsigned char>(text[at + k]);
    return value;
}

// The checksum of the PNG standard, bit by bit.
std::uint32_t checksum(const std::string& text) {
    std::uint32_t c = 0xffffffffu;
    for (const char byte : text) {
        c ^= static_cast<unsigned char>(byte);
        for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
    }
    return ~c;
}

std::vector<Chunk> chunks_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x89PNG\r\n\x1a\n", 8));
    std::vector<Chunk> chunks;
    for (std::size_t at = 8; at + 12 <= bytes.size();) {
        const std::uint32_t size = number(bytes, at);
        chunks.push_back({bytes.substr(at + 4, 4), bytes.substr(at + 8, size)});
        EXPECT_EQ(number(bytes, at + 8 + size), checksum(bytes.substr(at + 4, 4 + size)))
            << chunks.back().name;
        at += 12 + size;
    }
    return chunks;
}

TEST(Apng, KeepsWhatChangesAndForHowLong) {
    const std::string file = temporary(".apng");
    Image image(8, 6, {10, 20, 30});
    {
        ApngWriter film(file, 8, 6, 25);
        film.add(image);
        image.at(3, 2) = {200, 0, 0};
        image.at(5, 4) = {0, 200, 0};
        film.add(image);
        film.add(image);  // nothing moves
        film.close();
    }
    const std::vector<Chunk> chunks = chunks_of(file);
    std::vector<std::string> names;
    for (const Chunk& chunk : chunks) names.push_back(chunk.name);
    EXPECT_EQ(names, (std::vector<std::string>{"IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "IEND"}));
    EXPECT_EQ(number(chunks[1].data, 0), 2u);  // pictures
    const std::string& second = chunks[4].data;
    EXPECT_EQ(number(second, 0), 1u);                                    // sequence
    EXPECT_EQ(number(second, 4), 3u);                                    // width of what changed
    EXPECT_EQ(number(second, 8), 3u);                                    // height
    EXPECT_EQ(number(second, 12), 3u);                                   // from the left
    EXPECT_EQ(number(second, 16), 2u);                                   // from the top
    EXPECT_EQ(number(second, 20, 2) * 25u, 2u * number(second, 22, 2));  // two frames of 1/25 s
    EXPECT_EQ(number(chunks[5].data, 0), 2u);
    // programs that know no animation see the first picture
    const Image first = read_png(file);
    EXPECT_EQ(first.at(3, 2), (Pixel{10, 20, 30}));
    std::filesystem::remove(file);
    EXPECT_THROW(ApngWriter("no.apng", 8, 6, 25).close(), InputError);
}

TEST(Between, TurnsAlongTheArcAndMovesStraight) {
    run::Frame a, b;
    a.time = 1;
    b.time = 2;
    Mat34 q = Mat34::Zero();
    q.leftCols<3>().setIdentity();
    a.q = {q};
    q.leftCols<3>() =
        Eigen::AngleAxisd(M_PI / 2, Vec3::UnitZ()).toRotationMatrix() * Vec3(1, 2, 1).asDiagonal();
    q.col(3) = Vec3(4, 0, 2);
    b.q = {q};
    a.x = {{Vec3(0, 0, 0)}};
    b.x = {{Vec3(1, 2, 3)}};
    const run::Frame middle = between_frames(a, b, 0.25);
    EXPECT_DOUBLE_EQ(middle.time, 1.25);
    const Mat3 wanted =
        Eigen::AngleAxisd(M_PI / 8, Vec3::UnitZ()).toRotationMatrix() * Vec3(1, 1.25, 1).asDiagonal();
    EXPECT_LT((middle.q[0].leftCols<3>() - wanted).norm(), 1e-12);
    EXPECT_LT((middle.q[0].col(3) - Vec3(1, 0, 0.5)).norm(), 1e-12);
    EXPECT_LT((middle.x[0][0] - Vec3(0.25, 0.5, 0.75)).norm(), 1e-12);
}

TEST(PalettePng, FewColoursAreKeptAndManyComeClose) {
    const std::string file = temporary(".png");
    const auto back = [&](const Image& image, int colors) {
        const std::vector<std::uint8_t> bytes = encode_palette_png(image, colors);
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
        return read_png(file);
    };
    Image flags(20, 10, {1, 2, 3});
    for (int x = 5; x < 10; ++x) flags.at(x, 4) = {250, 128, 7};
    for (int x = 12; x < 15; ++x) flags.at(x, 6) = {0, 255, 255};
    EXPECT_EQ(back(flags, 4).pixels, flags.pixels);

    Image ramp(256, 64);
    for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 256; ++x) {
            const auto v = static_cast<std::uint8_t>(x);
            ramp.at(x, y) = {v, static_cast<std::uint8_t>(255 - x), static_cast<std::uint8_t>(4 * y)};
        }
    const Image near = back(ramp, 256);
    int worst = 0;
    for (std::size_t i = 0; i < ramp.pixels.size(); ++i)
        for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(near.pixels[i][k] - ramp.pixels[i][k]));
    // a plane of 256 x 256 colours in 256 squares of 16 x 16: 8 from the middle, 8 more for the 5-bit cells
    EXPECT_LE(worst, 20);
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace tenon::render
