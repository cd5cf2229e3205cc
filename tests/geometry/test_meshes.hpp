// Small meshes for tests of trees and queries.
#pragma once

#include <cmath>
#include <random>

#include "tenon/mesh.hpp"

namespace tenon::geometry {

inline Mesh torus_mesh(int around, int across, double major, double minor) {
    Mesh mesh;
    for (int i = 0; i < around; ++i) {
        for (int j = 0; j < across; ++j) {
            const double a = 2 * M_PI * i / around, b = 2 * M_PI * j / across;
            const double r = major + minor * std::cos(b);
            mesh.vertices.emplace_back(r * std::cos(a), minor * std::sin(b), r * std::sin(a));
            const int i1 = (i + 1) % around, j1 = (j + 1) % across;
            const int v00 = i * across + j, v10 = i1 * across + j, v01 = i * across + j1,
                      v11 = i1 * across + j1;
            mesh.triangles.push_back({v00, v01, v11});
            mesh.triangles.push_back({v00, v11, v10});
        }
    }
    return mesh;
}

inline Mesh cube_mesh(double size) {
    Mesh mesh;
    for (int i = 0; i < 8; ++i)
        mesh.vertices.emplace_back(size * ((i & 1) - 0.5), size * ((i >> 1 & 1) - 0.5),
                                   size * ((i >> 2 & 1) - 0.5));
    mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                      {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    return mesh;
}

// Triangles, loose edges and loose points at random, and one vertex that nothing uses.
inline Mesh soup_mesh(int triangles, int edges, int points, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Mesh mesh;
    mesh.vertices.emplace_back(50, 50, 50);
    auto cluster = [&](int count) {
        const Vec3 center(uniform(random), uniform(random), uniform(random));
        for (int k = 0; k < count; ++k)
            mesh.vertices.push_back(center + 0.2 * Vec3(uniform(random), uniform(random), uniform(random)));
        return static_cast<int>(mesh.vertices.size()) - count;
    };
    for (int i = 0; i < triangles; ++i) {
        const int v = cluster(3);
        mesh.triangles.push_back({v, v + 1, v + 2});
    }
    for (int i = 0; i < edges; ++i) {
        const int v = cluster(2);
        mesh.edges.push_back({v, v + 1});
    }
    for (int i = 0; i < points; ++i) mesh.points.push_back(cluster(1));
    return mesh;
}

inline Mat34 random_map(std::mt19937& random, double spread, double shear) {
    std::normal_distribution<double> normal;
    Mat34 q;
    q.leftCols<3>() =
        Quat(normal(random), normal(random), normal(random), normal(random)).normalized().toRotationMatrix();
    for (int i = 0; i < 9; ++i) q(i % 3, i / 3) += shear * normal(random);
    q.col(3) = spread * Vec3(normal(random), normal(random), normal(random));
    return q;
}

}  // namespace tenon::geometry
