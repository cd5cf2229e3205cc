// Steps that a pair of detailed bodies may take, against CCD of all its candidates; what holds contacts that are too close.
#include <gtest/gtest.h>

#include <random>

#include "geometry/ccd.hpp"
#include "methods/affine/contact_corners.hpp"
#include "methods/affine/contact_field.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"

namespace tenon::affine {
namespace {

Mat34 turned(const Mat34& q, double angle, const Vec3& shift) {
    Mat34 out;
    out.leftCols<3>() = Eigen::AngleAxisd(angle, Vec3::UnitY()).toRotationMatrix() * q.leftCols<3>();
    out.col(3) = q.col(3) + shift;
    return out;
}

// The map in the order of the field's sums: the times below are compared to the last digits.
Vec3 placed(const Mat34& q, const Vec3& x) {
    Vec3 y;
    for (int k = 0; k < 3; ++k) y[k] = q(k, 0) * x[0] + q(k, 1) * x[1] + q(k, 2) * x[2] + q(k, 3);
    return y;
}

// A bolt turns in its nut, in steps of all sizes. Distances and directions are from earlier poses, as they come.
TEST(AffineCcd, SkipsNoCandidateThatLimitsTheStep) {
    const Model model = compile(make_builtin(*find_builtin("screw"), {}));
    const State state = initial_state(model);
    const int nut = 0, bolt = 1;
    const double pitch = 0.25, keep = 0.4;
    ContactScale scale;
    scale.dhat = 4e-3;
    const Mat34 start = state.q[bolt];
    const std::vector<Sweep> sweeps{{state.q[nut], state.q[nut], 0.0, false},
                                    {start, turned(start, 0.08, Vec3::Zero()), 0.02, true}};
    ContactField field(model, state);
    field.rebuild(model, sweeps, scale, {1e300, 1.0});
    ASSERT_EQ(field.pair_count(), 1);
    field.set_trial(nut, state.q[nut], state.q[nut]);

    std::mt19937 random(11);
    std::uniform_real_distribution<double> any(-1.0, 1.0);
    const CandidatePair& pair = field.pair(0);
    Mat34 q = start;
    int shortened = 0, whole = 0;
    for (int k = 0; k < 90; ++k) {
        const double angle = 0.04 * std::pow(10.0, -1.5 * (1.0 + any(random)));
        const Vec3 shift = Vec3(0, -angle * pitch / (2.0 * EIGEN_PI), 0) +
                           (k % 2 ? 0.3 : 0.005) * angle * Vec3(any(random), any(random), any(random));
        const Mat34 to = turned(q, k % 3 ? angle : -angle, k % 3 ? shift : Vec3(-shift));
        field.set_pose(bolt, q);
        if (k % 4 != 3) field.evaluate(0);
        field.set_trial(bolt, q, to);
        const double t = field.safe_step(0, 1.0, keep);

        geometry::CcdOptions options;
        options.keep = keep;
        options.keep_at_most = keep * scale.dhat;
        for (int i = pair.begin; i < pair.end; ++i) {
            const Candidate& candidate = field.candidates().candidates[i];
            const Corners c = corners_of(candidate, *field.shapes()[pair.a], *field.shapes()[pair.b]);
            std::array<Vec3, 4> x0, x1;
            for (int n = 0; n < c.count; ++n) {
                const int body = (n < c.split) == c.a_first ? pair.a : pair.b;
                const Vec3& rest = field.shapes()[body]->shape->mesh.vertices[c.vertex[n]];
                x0[n] = placed(body == bolt ? q : state.q[nut], rest);
                x1[n] = body == bolt ? Vec3(x0[n] + placed(Mat34(to - q), rest)) : x0[n];
            }
            ASSERT_EQ(c.count, 4);
            options.t_max = std::min(options.t_max, candidate.kind == PairKind::edge_edge
                                                        ? geometry::ccd_edge_edge(x0, x1, options)
                                                        : geometry::ccd_point_triangle(x0, x1, options));
        }
        ASSERT_DOUBLE_EQ(t, options.t_max) << k;
        ++(t < 1.0 ? shortened : whole);
        q += 0.9 * t * (to - q);
    }
    EXPECT_GT(shortened, 10);
    EXPECT_GT(whole, 10);
}

// A box over another, at a usual gap and at one of a ten-thousandth of the contact range.
TEST(AffineContact, StiffensOnlyWhatIsUnusuallyClose) {
    Scene scene;
    scene.add_body(body_spec(scene, "lower", box_spec({1, 1, 1}), Vec3::Zero()));
    scene.add_body(body_spec(scene, "upper", box_spec({1, 1, 1}), Vec3(0, 1.5, 0)));
    const Model model = compile(scene);
    const State state = initial_state(model);
    ContactScale scale;
    scale.dhat = 1e-2;
    for (const double part : {0.5, 1e-4}) {
        Mat34 upper = state.q[1];
        upper.col(3) = Vec3(0.1, 1.0 + part * scale.dhat, 0.1);
        ContactField field(model, state);
        field.rebuild(model, {{state.q[0], state.q[0], 0.0, false}, {upper, upper, 1e-3, true}}, scale,
                      {1.0, 1.0});
        field.set_pose(0, state.q[0]);
        field.set_pose(1, upper);
        field.evaluate(0);
        const double energy = field.contacts(0).energy;
        ASSERT_GT(energy, 0.0);
        field.stiffen_if_close(0);
        field.evaluate(0);
        EXPECT_NEAR(field.contacts(0).energy / energy, part < 1e-3 ? 10.0 : 1.0, 1e-9) << part;
    }
}

}  // namespace
}  // namespace tenon::affine
