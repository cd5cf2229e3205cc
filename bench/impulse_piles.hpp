// Random contact problems: bodies near each other, touching at random points, moving at random.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "methods/impulse/problem.hpp"

namespace tenon::impulse {

// A problem built body by body; body 0 is fixed.
struct ProblemBuilder {
    ContactProblem problem;
    std::vector<Vec3> centers;

    ProblemBuilder() { add_body(0, Vec3::Zero(), Vec3::Zero()); }

    int add_body(double mass, const Vec3& center, const Vec3& moments) {
        InverseMass m;
        if (mass > 0) {
            m.movable = true;
            m.m = {1 / mass, 1 / mass, 1 / mass};
            m.I = {1 / moments.x(), 0, 0, 1 / moments.y(), 0, 1 / moments.z()};
        }
        problem.mass.push_back(m);
        problem.twist.emplace_back();
        problem.before.emplace_back();
        centers.push_back(center);
        return static_cast<int>(centers.size()) - 1;
    }
    void add_contact(int a, int b, const Vec3& point, const Vec3& normal, double friction) {
        ContactPoint c;
        c.a = a;
        c.b = b;
        c.normal = normal.normalized();
        make_tangents(c.normal, c.tangent1, c.tangent2);
        c.ra = point - centers[a];
        c.rb = point - centers[b];
        c.friction = friction;
        problem.contacts.push_back(c);
    }
};

inline Vec3 random_vector(std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double x = uniform(random), y = uniform(random), z = uniform(random);
    return {x, y, z};
}

// Masses differ by up to a factor of twenty; some bodies touch the floor, which is body 0.
inline ProblemBuilder random_pile(std::mt19937& random, int bodies, bool with_floor, double friction) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    ProblemBuilder b;
    for (int i = 0; i < bodies; ++i) {
        const double mass = std::exp(1.5 * uniform(random));
        const Vec3 place = random_vector(random);
        const int body = b.add_body(mass, 0.3 * bodies * Vec3(place.x(), std::abs(place.y()), place.z()),
                                    mass * (0.1 * Vec3::Ones() + 0.03 * random_vector(random)));
        b.problem.twist[body].v = random_vector(random) - Vec3(0, 0.5, 0);
        b.problem.twist[body].w = random_vector(random);
        b.problem.before[body] = b.problem.twist[body];
        b.problem.before[body].v += Vec3(0, 0.0981, 0);
    }
    for (int i = 1; i <= bodies; ++i)
        for (int j = with_floor ? 0 : 1; j < i; ++j) {
            if (std::abs(uniform(random)) > 4.0 / bodies) continue;
            const Vec3 normal = j == 0 ? Vec3(0, 1, 0) : Vec3((b.centers[i] - b.centers[j]).normalized());
            const Vec3 middle =
                j == 0 ? Vec3(b.centers[i] - Vec3(0, 0.3, 0)) : Vec3(0.5 * (b.centers[i] + b.centers[j]));
            for (int k = 0; k < 3; ++k) {
                const Vec3 point = middle + 0.2 * random_vector(random);
                b.add_contact(j, i, point, normal + 0.1 * random_vector(random), friction);
            }
        }
    return b;
}

// The pile numbered k of a fixed series: two to ten bodies, with and without a floor, friction 0 to 0.9.
inline ProblemBuilder numbered_pile(int k) {
    std::mt19937 random(static_cast<unsigned>(k) + 1);
    return random_pile(random, 2 + k % 9, k % 2 == 0, 0.1 * (k % 10));
}

// The solved pile one step later: gravity has acted, bodies were jostled and some contacts are new, the others start
// from their impulses.
inline void next_step(ProblemBuilder& b, std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(0, 1);
    for (std::size_t i = 1; i < b.problem.twist.size(); ++i) {
        Twist& t = b.problem.twist[i];
        b.problem.before[i] = t;
        t.v += Vec3(0, -0.0981, 0) + 0.05 * random_vector(random);
        t.w += 0.05 * random_vector(random);
    }
    for (ContactPoint& c : b.problem.contacts)
        if (uniform(random) < 0.2) c.impulse.setZero();
}

}  // namespace tenon::impulse
