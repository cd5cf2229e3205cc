// Pictures: what is visible, what is dark, and that nothing depends on threads.
#include "render/render.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "geometry/shapes.hpp"
#include "math/parallel.hpp"
#include "render/label.hpp"
#include "render/sheet.hpp"

namespace tenon::render {
namespace {

Mesh box(double x, double y, double z) {
    const geometry::ShapeInfo* info = geometry::find_shape("box");
    return info->make(
        resolve_params(info->parameters, {{"size", std::vector<double>{x, y, z}}}, {"test", ""}));
}

struct Stand {
    Drawing model;
    run::Frame frame;

    void add(const Mesh& mesh, const Vec3& position, std::array<double, 3> color, bool moves = true) {
        model.meshes.push_back(draw_mesh(mesh, true));
        model.coarse.push_back(model.meshes.back());
        Box3 extent;
        for (const Vec3& vertex : mesh.vertices) extent.add(vertex);
        model.boxes.push_back(extent);
        model.bodies.push_back({static_cast<int>(model.meshes.size()) - 1, moves, linear_from_srgb(color)});
        frame.q.push_back(to_matrix({position, Quat::Identity()}));
    }
    Image draw(RenderOptions options, CameraWish wish = {}) const {
        return render_frame(model, frame, make_stage(model, {frame}, options, wish), options);
    }
};

int brightness(const Pixel& p) {
    return p[0] + p[1] + p[2];
}

RenderOptions small() {
    RenderOptions options;
    options.width = 160;
    options.height = 120;
    return options;
}

TEST(Render, ShowsRightSideUp) {
    // red on the left, green on the right, blue on top of red, seen from the front
    Stand stand;
    stand.add(box(1, 1, 1), Vec3(-2, 0.5, 0), {0.9, 0.1, 0.1});
    stand.add(box(1, 1, 1), Vec3(2, 0.5, 0), {0.1, 0.9, 0.1});
    stand.add(box(1, 1, 1), Vec3(-2, 1.6, 0), {0.1, 0.1, 0.9});
    CameraWish front;
    front.azimuth = 0;
    front.elevation = 5;
    const Image image = stand.draw(small(), front);
    std::array<Vec2, 3> middle{Vec2::Zero(), Vec2::Zero(), Vec2::Zero()};
    std::array<int, 3> count{};
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            for (int k = 0; k < 3; ++k) {
                const Pixel& p = image.at(x, y);
                if (p[k] < 60 + std::max(p[(k + 1) % 3], p[(k + 2) % 3])) continue;
                middle[k] += Vec2(x, y);
                ++count[k];
            }
    for (int k = 0; k < 3; ++k) {
        ASSERT_GT(count[k], 100);
        middle[k] /= count[k];
    }
    EXPECT_LT(middle[0].x(), 70);
    EXPECT_GT(middle[1].x(), 90);
    EXPECT_LT(middle[2].y() + 10, middle[0].y());
    EXPECT_NEAR(middle[2].x(), middle[0].x(), 8);
}

TEST(Render, NearHidesFar) {
    Stand stand;
    stand.add(box(1, 1, 0.1), Vec3(0, 0.5, 1), {0.9, 0.1, 0.1});
    stand.add(box(0.8, 0.8, 0.1), Vec3(0, 0.5, -1), {0.1, 0.9, 0.1});
    CameraWish front;
    front.azimuth = front.elevation = 0;
    const Image image = stand.draw(small(), front);
    const Pixel middle = image.at(80, 60);
    EXPECT_GT(middle[0], middle[1] + 60);
}

// Coordinates whose squares overflow: a picture that shows little, never a read beside the buffer.
TEST(Render, CoordinatesBeyondAllMeasureAreNoHarm) {
    for (const double far : {1e20, 1e30, 1e99, 1e300})
        for (const Vec3& at : {Vec3(far, far, far), Vec3(-far, 0, far)}) {
            Stand stand;
            stand.add(box(1, 1, 1), Vec3(0, 0.5, 0), {0.9, 0.1, 0.1});
            stand.add(box(1, 1, 1), at, {0.1, 0.9, 0.1});
            Mat34& last = stand.frame.q.back();
            last.leftCols<3>().setConstant(far);
            const Image image = stand.draw(small());
            EXPECT_EQ(image.width, 160);
        }
}

TEST(Render, CastsAShadowOnTheGround) {
    Stand with, without;
    for (Stand* stand : {&with, &without}) stand->add(box(0.2, 0.2, 0.2), Vec3(0, 0.1, 0), {0.5, 0.5, 0.5});
    with.add(box(1, 0.05, 1), Vec3(0, 1, 0), {0.5, 0.5, 0.5});
    without.add(box(1, 0.05, 1), Vec3(0, 1, 0), {0.5, 0.5, 0.5});
    const RenderOptions options = small();
    const Stage stage = make_stage(with.model, {with.frame}, options, {});
    const Image shaded = render_frame(with.model, with.frame, stage, options);
    without.model.bodies.pop_back();
    const Image bare = render_frame(without.model, without.frame, stage, options);
    // ground pixels (in neither picture covered by a body) that got clearly darker
    int darker = 0;
    for (int y = 0; y < shaded.height; ++y)
        for (int x = 0; x < shaded.width; ++x)
            if (brightness(bare.at(x, y)) > 600 &&
                brightness(shaded.at(x, y)) < brightness(bare.at(x, y)) - 100 && y > shaded.height / 2)
                ++darker;
    EXPECT_GT(darker, 200);
}

TEST(Render, IsTheSameForAnyNumberOfThreads) {
    Stand stand;
    for (int i = 0; i < 30; ++i)
        stand.add(box(1, 0.4, 0.6), Vec3(i % 5, 0.5 * (i / 5), 0.1 * i), {0.3, 0.5, 0.1 + 0.02 * i});
    set_threads(1);
    const Image one = stand.draw(small());
    set_threads(2);
    const Image two = stand.draw(small());
    set_threads(0);
    EXPECT_EQ(one.pixels, two.pixels);
}

TEST(Render, DrawsForcesOverWhatHidesThem) {
    Stand stand;
    stand.add(box(1, 1, 1), Vec3(0, 0.5, 0), {0.3, 0.4, 0.8});
    Contact contact;
    contact.point = Vec3(0, 0.2, 0);  // inside the box
    contact.force = Vec3(0, 50, 0);
    stand.frame.contacts = {contact};
    RenderOptions options = small();
    options.width = 320;
    options.height = 240;
    const Image without = stand.draw(options);
    options.forces = true;
    const Image with = stand.draw(options);
    int redder = 0;
    for (std::size_t i = 0; i < with.pixels.size(); ++i)
        redder += with.pixels[i][0] - with.pixels[i][2] > without.pixels[i][0] - without.pixels[i][2] + 30;
    EXPECT_GT(redder, 8);
    EXPECT_LT(redder, 1000);
}

TEST(Render, DrawsWiresAndPoints) {
    Mesh mesh;
    mesh.vertices = {Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    mesh.edges = {{0, 1}};
    mesh.points = {2};
    const DrawMesh drawn = draw_mesh(mesh, false);
    EXPECT_GT(drawn.triangles.size(), 50u);
    Stand stand;
    stand.add(mesh, Vec3::Zero(), {0.8, 0.1, 0.1});
    const Image image = stand.draw(small());
    const auto red = std::count_if(image.pixels.begin(), image.pixels.end(),
                                   [](const Pixel& p) { return p[0] > p[1] + 50; });
    EXPECT_GT(red, 60);
}

TEST(Render, NormalsKeepSharpEdgesAndSmoothRoundOnes) {
    const DrawMesh cube = draw_mesh(box(1, 1, 1), true);
    for (const Vec3f& normal : cube.corner_normals) EXPECT_NEAR(normal.cwiseAbs().maxCoeff(), 1.0f, 1e-5f);
    const geometry::ShapeInfo* sphere = geometry::find_shape("sphere");
    const DrawMesh ball = draw_mesh(sphere->make(resolve_params(sphere->parameters, {}, {"test", ""})), true);
    for (std::size_t t = 0; t < ball.triangles.size(); ++t)
        for (int k = 0; k < 3; ++k)
            EXPECT_GT(ball.corner_normals[3 * t + k].dot(ball.vertices[ball.triangles[t][k]].normalized()),
                      0.97f);
}

TEST(Render, RoundBodiesShowHowTheyTurn) {
    const auto shape = [](const char* name) {
        const geometry::ShapeInfo* info = geometry::find_shape(name);
        return info->make(resolve_params(info->parameters, {}, {"test", ""}));
    };
    EXPECT_EQ(draw_mesh(shape("sphere"), true).quarters, Quarters::of_ball);
    EXPECT_EQ(draw_mesh(shape("cylinder"), true).quarters, Quarters::about_y);
    EXPECT_EQ(draw_mesh(shape("box"), true).quarters, Quarters::none);
    EXPECT_EQ(draw_mesh(shape("torus"), true).quarters, Quarters::none);
    // a quarter turn about the upright axis exchanges the shades of the quarters
    Stand stand;
    stand.add(shape("sphere"), Vec3(0, 1, 0), {0.9, 0.3, 0.1});
    const Image before = stand.draw(small());
    stand.frame.q[0].leftCols<3>() = Eigen::AngleAxisd(M_PI / 2, Vec3::UnitY()).toRotationMatrix();
    const Image after = stand.draw(small());
    int changed = 0;
    for (int y = 0; y < before.height; ++y)
        for (int x = 0; x < before.width; ++x)
            changed += std::abs(brightness(before.at(x, y)) - brightness(after.at(x, y))) > 60;
    EXPECT_GT(changed, 1000);
}

// Regions are boxes in the frame of the mesh; the rest shape that a run holds is placed and turned.
TEST(Render, RegionsOfAnotherMaterialAreFoundInTheMeshsFrame) {
    const SceneHints hints = scene_hints(R"({"elastic": [{"name": "bar", "position": [5, 0, 0],
        "rotation": [0.7071067811865476, 0, 0, 0.7071067811865476],
        "regions": [{"lo": [0, -1, -1], "hi": [3, 1, 1], "material": "rim"}]}]})");
    ASSERT_EQ(hints.regions.count("bar"), 1u);
    run::RunModel run;
    run::ElasticInfo bar;
    bar.name = "bar";
    // one tetrahedron about x = 1 of the mesh, one about x = -1; a quarter turn about z takes x to y
    for (const double x : {1.0, -1.0})
        for (const Vec3& corner : {Vec3(0, 0, 0), Vec3(0.2, 0, 0), Vec3(0, 0.2, 0), Vec3(0, 0, 0.2)})
            bar.rest.push_back(Vec3(5 - corner.y(), x + corner.x(), corner.z()));
    bar.tets = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    bar.surface = {{0, 2, 1}, {4, 6, 5}};
    run.elastic.push_back(bar);
    const Drawing drawing = model_of(run, hints);
    EXPECT_EQ(drawing.elastic[0].triangle_material, (std::vector<int>{0, -1}));
}

TEST(Render, FliersDoNotShrinkThePicture) {
    Stand stand;
    for (int i = 0; i < 100; ++i)
        stand.add(box(0.4, 0.4, 0.4), Vec3(0.5 * (i % 10), 0.5 * (i / 10), 0), {0.5, 0.5, 0.5});
    stand.add(box(0.4, 0.4, 0.4), Vec3(500, 0, 0), {0.5, 0.5, 0.5});
    const Stage stage = make_stage(stand.model, {stand.frame}, small(), {});
    EXPECT_LT(stage.radius, 6.0);
}

TEST(Sheet, SpreadsFramesOverTheWholeRun) {
    EXPECT_EQ(spread_frames(101, 5), (std::vector<long>{0, 25, 50, 75, 100}));
    EXPECT_EQ(spread_frames(3, 9), (std::vector<long>{0, 1, 2}));
    EXPECT_EQ(spread_frames(1, 1), (std::vector<long>{0}));
    EXPECT_TRUE(spread_frames(0, 4).empty());
}

TEST(Sheet, PlacesPicturesInRows) {
    std::vector<Image> pictures;
    for (int i = 0; i < 3; ++i) pictures.emplace_back(20, 10, Pixel{static_cast<std::uint8_t>(50 * i), 0, 0});
    const Image sheet = contact_sheet(pictures, {}, 2);
    EXPECT_EQ(sheet.width, 44);
    EXPECT_EQ(sheet.height, 24);
    EXPECT_EQ(sheet.at(30, 5)[0], 50);
    EXPECT_EQ(sheet.at(5, 20)[0], 100);
    EXPECT_EQ(sheet.at(30, 20)[0], 255);
}

TEST(Label, DrawsWithinItsBox) {
    Image image(120, 30);
    draw_text(image, "t = 0.25 s", 5, 20, 10, {0, 0, 0});
    int dark = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            if (image.at(x, y)[0] < 100) {
                ++dark;
                EXPECT_GE(y, 8);
                EXPECT_LE(y, 21);
                EXPECT_LT(x, 5 + text_width("t = 0.25 s", 10));
            }
    EXPECT_GT(dark, 60);
}

}  // namespace
}  // namespace tenon::render
