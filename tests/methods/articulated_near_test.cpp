// Which links are near which colliders: against asking every link about every collider in every step.
#include <gtest/gtest.h>

#include <random>

#include "methods/articulated/near_colliders.hpp"

namespace tenon::articulated {
namespace {

TEST(NearColliders, FindsWhatAskingAllFinds) {
    std::mt19937 engine(5);
    const auto random = [&](double lo, double hi) {
        return std::uniform_real_distribution<double>(lo, hi)(engine);
    };
    const auto box_at = [](const Vec3& center, double half) {
        Box3 box;
        box.lo = center - Vec3::Constant(half);
        box.hi = center + Vec3::Constant(half);
        return box;
    };
    const int bodies = 400, colliders = 30;
    std::vector<Vec3> at(bodies), speed(bodies), post(colliders);
    for (int i = 0; i < bodies; ++i) {
        at[i] = Vec3(random(-20, 20), random(-20, 20), random(-20, 20));
        speed[i] = Vec3(random(-1, 1), random(-1, 1), random(-1, 1));
    }
    for (Vec3& p : post) p = Vec3(random(-20, 20), random(-20, 20), random(-20, 20));
    NearColliders near;
    std::vector<int> hits;
    int found = 0, asked = 0;
    for (int step = 0; step < 200; ++step) {
        if (step % 50 == 30) {  // something else puts a body in a collider's place
            at[step] = post[step % colliders];
            near.wake();
        }
        if (step % 3 == 0) post[step % colliders] += Vec3(0.05, 0, 0);
        std::vector<Box3> boxes;
        for (const Vec3& p : post) boxes.push_back(box_at(p, 1.0));
        double most = 0.0;
        for (const Vec3& v : speed) most = std::max(most, 0.05 * v.norm());
        near.begin(boxes, bodies, most);
        for (int i = 0; i < bodies; ++i) {
            const Box3 box = box_at(at[i], 0.2 + 0.05 * speed[i].norm());
            std::vector<int> expected;
            for (int f = 0; f < colliders; ++f)
                if (boxes[f].overlaps(box)) expected.push_back(f);
            hits.clear();
            if (!near.sleeps(i)) {
                ++asked;
                near.find(i, box, 0.2, hits);
            }
            ASSERT_EQ(hits, expected) << "body " << i << " in step " << step;
            found += static_cast<int>(hits.size());
        }
        double moved = 0.0;
        for (int i = 0; i < bodies; ++i) {
            const Vec3 way = 0.05 * speed[i];
            at[i] += way;
            moved = std::max(moved, way.norm());
            speed[i] += Vec3(random(-0.1, 0.1), random(-0.1, 0.1), random(-0.1, 0.1));
        }
        near.travel(moved);
    }
    EXPECT_GT(found, 500);
    EXPECT_LT(asked, 200 * bodies * 9 / 10);  // some sleep
}

}  // namespace
}  // namespace tenon::articulated
