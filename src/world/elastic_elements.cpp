#include "world/elastic_elements.hpp"

#include <Eigen/LU>
#include <algorithm>

#include "math/parallel.hpp"

namespace tenon {
namespace {

constexpr std::array<Edge, 6> kPairs{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

// Rest gradients of the corners' weights: rows 1..3 of the inverse edge matrix, and minus their sum.
Eigen::Matrix<double, 4, 3> tet_gradients(const std::array<Vec3, 4>& p, double& volume) {
    Mat3 edges;
    edges << p[1] - p[0], p[2] - p[0], p[3] - p[0];
    volume = edges.determinant() / 6;
    Eigen::Matrix<double, 4, 3> gradient;
    gradient.bottomRows<3>() = edges.inverse();
    gradient.row(0) = -gradient.bottomRows<3>().colwise().sum();
    return gradient;
}

Eigen::Matrix<double, 4, 3> triangle_gradients(const std::array<Vec3, 3>& p, double& area) {
    Mat2 edges;
    edges << (p[1] - p[0]).head<2>(), (p[2] - p[0]).head<2>();
    area = 0.5 * edges.determinant();
    Eigen::Matrix<double, 4, 3> gradient = Eigen::Matrix<double, 4, 3>::Zero();
    gradient.block<2, 2>(1, 0) = edges.inverse();
    gradient.row(0) = -gradient.middleRows<2>(1).colwise().sum();
    return gradient;
}

// Corners times gradients: 3x3.
Mat3 gradient_of(const ElasticElements& e, int element, const std::vector<Vec3>& x) {
    Mat3 f = Mat3::Zero();
    for (int k = 0; k < e.corners; ++k) f += x[e.tets[element][k]] * e.shape_gradient[element].row(k);
    return f;
}

}  // namespace

Mat3 ElasticElements::deformation(int element, const std::vector<Vec3>& x) const {
    Mat3 f = gradient_of(*this, element, x);
    if (corners == 3) f(2, 2) = 1;  // plane strain: no stretch out of the plane
    return f;
}

Mat3 ElasticElements::deformation_rate(int element, const std::vector<Vec3>& v) const {
    return gradient_of(*this, element, v);
}

ElasticElements make_elements(const ElasticBody& body, const std::vector<MaterialSpec>& materials) {
    ElasticElements e;
    e.model = elastic_model(body.model);
    e.corners = body.plane_strain ? 3 : 4;
    e.tets = body.tets;
    e.shape_gradient.resize(e.tets.size());
    e.volume.resize(e.tets.size());
    e.material.resize(e.tets.size());
    for (int i = 0; i < e.size(); ++i) {
        const Tet& t = e.tets[i];
        if (body.plane_strain) {
            e.shape_gradient[i] =
                triangle_gradients({body.rest[t[0]], body.rest[t[1]], body.rest[t[2]]}, e.volume[i]);
            e.volume[i] *= body.thickness;
        } else {
            e.shape_gradient[i] = tet_gradients(
                {body.rest[t[0]], body.rest[t[1]], body.rest[t[2]], body.rest[t[3]]}, e.volume[i]);
        }
        const MaterialSpec& material = materials[body.tet_material[i]];
        e.material[i] = lame_parameters(material.young, material.poisson);
    }
    return e;
}

double elastic_energy(const ElasticElements& e, const std::vector<Vec3>& x) {
    return parallel_sum(e.tets.size(), 512, 0.0, [&](std::size_t i) {
        return e.volume[i] * elastic_energy(e.model, e.material[i], e.deformation(static_cast<int>(i), x));
    });
}

void add_elastic_forces(const ElasticElements& e, const std::vector<Vec3>& x, std::vector<Vec3>& force) {
    std::vector<Mat3> stress(e.tets.size());
    parallel_for(e.tets.size(), 256, [&](std::size_t i) {
        stress[i] =
            e.volume[i] * elastic_stress(e.model, e.material[i], e.deformation(static_cast<int>(i), x));
    });
    for (int i = 0; i < e.size(); ++i)
        for (int k = 0; k < e.corners; ++k)
            force[e.tets[i][k]] -= stress[i] * e.shape_gradient[i].row(k).transpose();
}

namespace {

// From the nine entries of F to the corners' coordinates.
Mat12 over_corners(const ElasticElements& e, int element, const Mat9& h) {
    const auto& g = e.shape_gradient[element];
    // rows of h by corner: t(k) = sum over columns c of g(k, c) h(3c.., :)
    Mat12 result = Mat12::Zero();
    std::array<Eigen::Matrix<double, 3, 9>, 4> t;
    for (int k = 0; k < e.corners; ++k)
        t[k] = g(k, 0) * h.topRows<3>() + g(k, 1) * h.middleRows<3>(3) + g(k, 2) * h.bottomRows<3>();
    for (int k = 0; k < e.corners; ++k)
        for (int l = 0; l < e.corners; ++l)
            result.block<3, 3>(3 * k, 3 * l) =
                e.volume[element] * (g(l, 0) * t[k].leftCols<3>() + g(l, 1) * t[k].middleCols<3>(3) +
                                     g(l, 2) * t[k].rightCols<3>());
    if (e.corners == 3)  // plane strain: vertices do not leave the plane
        for (int k = 0; k < 3; ++k) {
            result.row(3 * k + 2).setZero();
            result.col(3 * k + 2).setZero();
        }
    return result;
}

}  // namespace

Mat12 element_stiffness(const ElasticElements& e, int element, const std::vector<Vec3>& x, bool project) {
    return over_corners(e, element,
                        elastic_stiffness(e.model, e.material[element], e.deformation(element, x), project));
}

void element_response(const ElasticElements& e, int element, const std::vector<Vec3>& x,
                      ElementResponse& response) {
    const ElasticResponse at =
        elastic_response(e.model, e.material[element], e.deformation(element, x), true);
    for (int k = 0; k < e.corners; ++k)
        response.force[k] = -e.volume[element] * at.stress * e.shape_gradient[element].row(k).transpose();
    response.stiffness = over_corners(e, element, at.stiffness);
}

ElasticAssembly make_assembly(const ElasticElements& e, const std::vector<int>& node_of_vertex, int nodes) {
    ElasticAssembly assembly;
    std::vector<std::pair<int, int>> pairs;
    const auto node = [&](int element, int corner) {
        return corner < e.corners ? node_of_vertex[e.tets[element][corner]] : -1;
    };
    for (int i = 0; i < e.size(); ++i)
        for (const Edge& pair : kPairs) {
            const int a = node(i, pair[0]), b = node(i, pair[1]);
            if (a >= 0 && b >= 0 && a != b) pairs.emplace_back(a, b);
        }
    assembly.pattern = solve::make_pattern(nodes, std::move(pairs));

    solve::BlockMatrix finder;
    finder.pattern = assembly.pattern;
    assembly.places.resize(e.tets.size());
    for (int i = 0; i < e.size(); ++i) {
        ElasticAssembly::Places& places = assembly.places[i];
        for (int k = 0; k < 4; ++k) places.node[k] = node(i, k);
        for (int k = 0; k < 6; ++k) {
            const int a = node(i, kPairs[k][0]), b = node(i, kPairs[k][1]);
            places.entry[k] = a >= 0 && b >= 0 && a != b ? finder.find(std::max(a, b), std::min(a, b)) : -1;
            places.transposed[k] = a < b;
        }
    }

    // greedy colouring in element order
    std::vector<std::uint64_t> used(nodes, 0);
    std::vector<int> colour(e.tets.size(), 0);
    int colours = 1;
    for (int i = 0; i < e.size(); ++i) {
        std::uint64_t taken = 0;
        for (int n : assembly.places[i].node)
            if (n >= 0) taken |= used[n];
        int c = 0;
        while (c < 63 && (taken >> c) & 1) ++c;
        for (int n : assembly.places[i].node)
            if (n >= 0) used[n] |= std::uint64_t{1} << c;
        colour[i] = c;
        colours = std::max(colours, c + 1);
    }
    assembly.colour_start.assign(colours + 1, 0);
    for (int c : colour) ++assembly.colour_start[c + 1];
    for (int c = 0; c < colours; ++c) assembly.colour_start[c + 1] += assembly.colour_start[c];
    std::vector<int> next(assembly.colour_start.begin(), assembly.colour_start.end() - 1);
    assembly.by_colour.resize(e.tets.size());
    for (int i = 0; i < e.size(); ++i) assembly.by_colour[next[colour[i]]++] = i;
    return assembly;
}

void add_stiffness(const ElasticElements& e, const ElasticAssembly& assembly, const std::vector<Vec3>& x,
                   double scale, bool project, solve::BlockMatrix& matrix) {
    using Block = Eigen::Map<Mat3>;
    const auto add = [&](int element) {
        const ElasticAssembly::Places& places = assembly.places[element];
        if (std::all_of(places.node.begin(), places.node.end(), [](int n) { return n < 0; })) return;
        const Mat12 k = scale * element_stiffness(e, element, x, project);
        for (int c = 0; c < e.corners; ++c)
            if (places.node[c] >= 0)
                Block(matrix.diagonal_block(places.node[c])) += k.block<3, 3>(3 * c, 3 * c);
        for (int p = 0; p < 6; ++p) {
            if (places.entry[p] < 0) continue;
            const auto [a, b] = kPairs[p];
            // the stored block's row is the later node
            if (places.transposed[p])
                Block(matrix.lower_block(places.entry[p])) += k.block<3, 3>(3 * b, 3 * a);
            else
                Block(matrix.lower_block(places.entry[p])) += k.block<3, 3>(3 * a, 3 * b);
        }
    };
    const int colours = static_cast<int>(assembly.colour_start.size()) - 1;
    for (int c = 0; c < colours; ++c) {
        const int begin = assembly.colour_start[c], count = assembly.colour_start[c + 1] - begin;
        const std::size_t grain = c < 63 ? 128 : count + 1;  // the last colour may hold neighbours
        parallel_for(count, grain, [&](std::size_t i) { add(assembly.by_colour[begin + i]); });
    }
}

}  // namespace tenon
