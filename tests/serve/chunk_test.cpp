// Pieces of a run, taken apart again by an independent reading of docs/view.md.
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "serve/frame_chunk.hpp"
#include "serve/half.hpp"
#include "serve/html_page.hpp"
#include "serve/series_json.hpp"
#include "tenon/error.hpp"
#include "tests/serve/sample.hpp"

namespace tenon::serve {
namespace {

using test::Bytes;

class Chunk : public ::testing::Test {
  protected:
    void SetUp() override {
        test::Recorder recorder(folder_ / "run.tenon");
        recorder.add(frames_);
        recorder.finish();
        run_ = std::make_unique<OpenRun>(folder_ / "run.tenon", 1);
    }
    test::Folder folder_;
    const int frames_ = 6;
    std::unique_ptr<OpenRun> run_;
};

struct Head {
    std::uint32_t count = 0;
    std::vector<double> times;
    std::vector<std::uint32_t> numbers, steps;
};

Head head_of(Bytes& bytes, std::uint32_t magic) {
    Head head;
    EXPECT_EQ(bytes.value<std::uint32_t>(), magic);
    head.count = bytes.value<std::uint32_t>();
    head.times = bytes.array<double>(head.count);
    head.numbers = bytes.array<std::uint32_t>(head.count);
    head.steps = bytes.array<std::uint32_t>(head.count);
    bytes.align(8);
    return head;
}

TEST_F(Chunk, PosesComeBackWithinTheQuantumAndASixteenThousandthOfATurn) {
    Bytes bytes(pack_frames(*run_, {1, 3, 5}));
    const Head head = head_of(bytes, 0x31464e54);
    ASSERT_EQ(head.count, 3u);
    EXPECT_EQ(head.numbers, (std::vector<std::uint32_t>{1, 3, 5}));
    EXPECT_DOUBLE_EQ(head.times[1], 0.1 * 3);
    const double quantum = bytes.value<double>();
    // of the smallest moving body (the ball of radius 0.5) a hundred thousandth
    EXPECT_LE(quantum, 1e-5);
    const auto moving = bytes.value<std::uint32_t>(), still = bytes.value<std::uint32_t>(),
               deformed = bytes.value<std::uint32_t>(), vertices = bytes.value<std::uint32_t>();
    ASSERT_EQ(moving, 3u);
    ASSERT_EQ(still, 1u);
    ASSERT_EQ(deformed, 1u);  // the ball alone shears
    const auto ids = bytes.array<std::uint32_t>(moving);
    EXPECT_EQ(bytes.array<std::uint32_t>(still)[0], 0u);
    EXPECT_EQ(bytes.array<std::uint32_t>(deformed)[0], 3u);
    const auto matrices = bytes.array<float>(9 * 3);
    const auto positions = bytes.planes<std::int32_t>(3 * moving * 3);
    const auto rotations = bytes.planes<std::int16_t>(3 * moving * 4);
    const auto velocities = bytes.planes<std::uint16_t>(3 * moving * 6);
    std::vector<std::int32_t> at(moving * 3, 0);
    std::vector<std::int16_t> turn(moving * 4, 0);
    for (std::size_t f = 0; f < 3; ++f)
        for (std::size_t slot = 0; slot < moving; ++slot) {
            const double t = head.times[f];
            const Mat34 q = test::sample_pose(static_cast<int>(ids[slot]), t);
            for (std::size_t k = 0; k < 3; ++k) {
                at[3 * slot + k] += positions[(f * moving + slot) * 3 + k];
                EXPECT_NEAR(at[3 * slot + k] * quantum, q(static_cast<int>(k), 3), 0.5001 * quantum);
            }
            Eigen::Vector4d x;
            for (std::size_t k = 0; k < 4; ++k) {
                turn[4 * slot + k] =
                    static_cast<std::int16_t>(turn[4 * slot + k] + rotations[(f * moving + slot) * 4 + k]);
                x[static_cast<int>(k)] = turn[4 * slot + k];
            }
            if (ids[slot] == 3) continue;  // sent as a matrix
            const Mat3 a = Quat(x.normalized()).toRotationMatrix();
            const Mat3 truth = q.leftCols<3>();
            EXPECT_LT((a - truth).cwiseAbs().maxCoeff(), 1e-4);
            // v = (0, -2t, 0.3) by construction, in half precision: 2^-11 relative
            EXPECT_NEAR(from_half(velocities[(f * moving + slot) * 6 + 1]), -2 * t, 5e-4 * 2 * t);
            EXPECT_NEAR(from_half(velocities[(f * moving + slot) * 6 + 2]), 0.3, 5e-4 * 0.3);
        }
    for (std::size_t f = 0; f < 3; ++f)
        for (int k = 0; k < 9; ++k)
            EXPECT_FLOAT_EQ(matrices[9 * f + static_cast<std::size_t>(k)],
                            static_cast<float>(test::sample_pose(3, head.times[f])(k % 3, k / 3)));
    bytes.planes<std::int32_t>(3);
    bytes.planes<std::int16_t>(4);
    const auto elastic = bytes.planes<std::int32_t>(3 * vertices * 3);
    EXPECT_EQ(bytes.left(), 0u);
    // the block reaches from -0.5 (1 + t) to 0.5 (1 + t) in x
    std::int32_t low = 0, high = 0;
    for (std::size_t v = 0; v < vertices; ++v) {
        low = std::min(low, elastic[3 * v]);
        high = std::max(high, elastic[3 * v]);
    }
    EXPECT_NEAR(high * quantum, 0.5 * 1.1, quantum);
    EXPECT_NEAR(low * quantum, -0.5 * 1.1, quantum);
}

TEST_F(Chunk, ABodyFarAwayIsStillPlacedToAFloatsPrecision) {
    test::Recorder recorder(folder_ / "far.tenon");
    recorder.add(2);
    recorder.finish();
    OpenRun run(folder_ / "far.tenon", 1);
    run.quantum = 1e-12;  // as if all were tiny: 2^31 of these are 2 mm
    Bytes bytes(pack_frames(run, {0}));
    head_of(bytes, 0x31464e54);
    EXPECT_GE(bytes.value<double>() * 2147483647.0, 5.0);
}

TEST_F(Chunk, ContactsAndJointForcesAreAsRecorded) {
    Bytes bytes(pack_contacts(*run_, {2, 4}));
    const Head head = head_of(bytes, 0x31434e54);
    EXPECT_EQ(bytes.array<std::uint32_t>(2), (std::vector<std::uint32_t>{2, 4}));
    EXPECT_EQ(bytes.array<std::uint32_t>(2), (std::vector<std::uint32_t>{2, 4}));
    const auto pairs = bytes.array<std::int32_t>(2 * 6);
    EXPECT_EQ((std::vector<int>(pairs.begin(), pairs.begin() + 4)), (std::vector<int>{0, 1, 0, 2}));
    const auto numbers = bytes.array<float>(10 * 6);
    EXPECT_FLOAT_EQ(numbers[10 + 0], 1.0f);   // second contact: point x = c
    EXPECT_FLOAT_EQ(numbers[10 + 7], 11.0f);  // force y = 10 + c
    EXPECT_FLOAT_EQ(numbers[10 + 9], 0.001f);
    const auto joints = bytes.array<float>(9 * 2);
    EXPECT_FLOAT_EQ(joints[9 + 1], 8.0f);  // (1, 2, 3) times frame 4
    EXPECT_EQ(bytes.left(), 0u);
}

TEST_F(Chunk, StrainOfAUniformStretchIsItsClosedForm) {
    Bytes bytes(pack_field(*run_, {5}, "strain"));
    head_of(bytes, 0x31444e54);
    const auto values = bytes.array<std::uint16_t>(run_->surfaces[0].triangles.size());
    // F = diag(1.5, 1, 1): E = diag((1.5^2 - 1) / 2, 0, 0) = 0.625
    ASSERT_FALSE(values.empty());
    for (const std::uint16_t value : values) EXPECT_NEAR(from_half(value), 0.625, 1e-3);
    EXPECT_THROW(pack_field(*run_, {0}, "colour"), InputError);
}

TEST(Half, KeepsElevenBitsAndNeverBecomesInfinite) {
    for (const double value : {0.0, 1.0, -2.5, 0.1, 65504.0, 6.1e-5, 3e-7, 1234.5}) {
        const double back = from_half(to_half(value));
        EXPECT_NEAR(back, value, std::max(std::abs(value) / 2048, 3e-8)) << value;
    }
    EXPECT_DOUBLE_EQ(from_half(to_half(1e9)), 65504.0);
    EXPECT_DOUBLE_EQ(from_half(to_half(2047.9999)), 2048.0);  // a carry into the exponent
}

TEST_F(Chunk, SeriesKeepExtremes) {
    const auto list =
        nlohmann::json::parse(describe_series(*run_, {"kinetic", "phase.solve", "body.twin.y"}));
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0]["value"].back(), 5.0);
    EXPECT_EQ(list[0]["unit"], "J");
    EXPECT_EQ(list[1]["value"].back(), 2.5);
    EXPECT_NEAR(list[2]["value"].back().get<double>(), 5 - 0.25, 1e-12);
    EXPECT_THROW(describe_series(*run_, {"phase.nothing"}), InputError);
    EXPECT_THROW(describe_series(*run_, {"body.nobody.x"}), InputError);
    EXPECT_THROW(describe_series(*run_, {}), InputError);
}

TEST_F(Chunk, ModelSendsAShapeOnceAndNamesAsText) {
    const auto model = nlohmann::json::parse(run_->model_json);
    EXPECT_EQ(model["bodies"]["shape"][1], model["bodies"]["shape"][2]);
    EXPECT_EQ(model["bodies"]["name"][1], "<b>bold</b> \"quoted\"\nline");
    EXPECT_EQ(model["bodies"]["material"][1], "steel");
    EXPECT_EQ(model["joints"][0]["name"], "pin");
    EXPECT_EQ(model["elastic"][0]["name"], "pad");
    std::size_t size = 0;
    for (const auto& shape : model["shapes"])
        size += shape["vertices"].get<std::size_t>() * 16 + shape["indices"].get<std::size_t>() * 4;
    for (const auto& solid : model["elastic"]) size += solid["triangles"].get<std::size_t>() * 12;
    EXPECT_EQ(run_->geometry.bytes.size(), size);
}

PageFiles small_page() {
    return {{"index.html",
             {"text/html",
              "<html><head><link rel=\"icon\" href=\"./favicon.svg\"><script src=\"./viewer.js\"></script>"
              "<link href=\"./viewer.css\"></head><body></body></html>"}},
            {"viewer.js", {"text/javascript", "let s = '</script>';"}},
            {"viewer.css", {"text/css", "b{}"}},
            {"favicon.svg", {"image/svg+xml", "<svg/>"}}};
}

std::vector<std::unique_ptr<OpenRun>> only(std::unique_ptr<OpenRun> run) {
    std::vector<std::unique_ptr<OpenRun>> runs;
    runs.push_back(std::move(run));
    return runs;
}

TEST_F(Chunk, APageHoldsEverythingAndItsSize) {
    const auto runs = only(std::move(run_));
    const HtmlPage whole = html_page(small_page(), runs, {});
    EXPECT_EQ(whole.frames, frames_);
    EXPECT_TRUE(whole.notes.empty());
    EXPECT_EQ(whole.text.find("src="), std::string::npos);
    EXPECT_NE(whole.text.find("let s = '<\\/script>'"), std::string::npos);
    EXPECT_NE(whole.text.find("tenon-0-frames-0"), std::string::npos);
    EXPECT_EQ(whole.text.find("<b>bold"), std::string::npos);  // names only inside packed data
    HtmlOptions small;
    small.max_bytes = whole.text.size() - 200;
    const HtmlPage less = html_page(small_page(), runs, small);
    EXPECT_LE(less.text.size(), small.max_bytes);
    EXPECT_LT(less.frames, frames_);
    EXPECT_GE(less.frames, 2);
    ASSERT_FALSE(less.notes.empty());
    small.max_bytes = 500;
    EXPECT_THROW(html_page(small_page(), runs, small), InputError);
}

TEST(Packing, DeflatesAndEncodesAsOthersRead) {
    EXPECT_EQ(base64_text("M"), "TQ==");  // RFC 4648
    EXPECT_EQ(base64_text("Ma"), "TWE=");
    EXPECT_EQ(base64_text("Man"), "TWFu");
    const std::string text(1000, 'x'), packed = deflated(text);
    EXPECT_LT(packed.size(), 50u);
    std::string back(1000, '\0');
    uLongf size = back.size();
    ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &size,
                         reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
              Z_OK);
    EXPECT_EQ(back, text);
}

}  // namespace
}  // namespace tenon::serve
