#include "model/elastic_elements.hpp"

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
    const Tet& t = e.tets[element];
    const double* gradient = e.shape_gradient[element].data();  // by columns of four
    Mat3 f = Mat3::Zero();
    for (int k = 1; k < e.corners; ++k) {
        const Vec3 edge = x[t[k]] - x[t[0]];
        for (int j = 0; j < 3; ++j) f.col(j) += gradient[4 * j + k] * edge;
    }
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

void set_lane(const ElasticElements& e, int element, const std::vector<Vec3>& x, int lane,
              ElementBatch& batch) {
    const double* gradient = e.shape_gradient[element].data();  // by columns of four
    const Tet& t = e.tets[element];
    Vec3 edge[3];
    for (int k = 0; k < 3; ++k)
        edge[k] = k + 1 < e.corners ? Vec3(x[t[k + 1]] - x[t[0]]) : Vec3(Vec3::Zero());
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
            batch.f[3 * j + i][lane] = edge[0][i] * gradient[4 * j + 1] + edge[1][i] * gradient[4 * j + 2] +
                                       edge[2][i] * gradient[4 * j + 3];
            batch.rate[3 * j + i][lane] = 0;
            batch.gradient[3 * j + i][lane] = gradient[4 * i + 1 + j];
        }
    if (e.corners == 3) batch.f[8][lane] = 1;
    batch.mu[lane] = e.material[element].mu;
    batch.lambda[lane] = e.material[element].lambda;
    batch.push[lane] = batch.stiffening[lane] = e.volume[element];
    batch.damping[lane] = batch.step[lane] = 0;
}

void set_rate(const ElasticElements& e, int element, const std::array<Vec3, 4>& v, int lane,
              ElementBatch& batch) {
    const double* gradient = e.shape_gradient[element].data();
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
            double sum = 0;
            for (int c = 1; c < e.corners; ++c) sum += (v[c][i] - v[0][i]) * gradient[4 * j + c];
            batch.rate[3 * j + i][lane] = sum;
        }
}

void respond(const ElasticElements& e, bool project, bool blocks, ElementBatch& batch) {
    element_kernel().respond(e.model, e.corners == 3, project, blocks, batch);
}

void read_lane(const ElementBatch& batch, int lane, int corners, ElementResponse& response) {
    response.stiffness.setZero();
    for (int c = 0; c < corners; ++c) {
        for (int i = 0; i < 3; ++i) response.force[c][i] = batch.load[3 * c + i][lane];
        for (int k = 0; k < 9; ++k)
            response.stiffness(3 * c + k % 3, 3 * c + k / 3) = batch.block[c][k][lane];
    }
    for (int q = 0; q < 6; ++q) {
        const auto [a, b] = kPairs[q];
        if (b >= corners) continue;
        for (int k = 0; k < 9; ++k)
            response.stiffness(3 * a + k % 3, 3 * b + k / 3) =
                response.stiffness(3 * b + k / 3, 3 * a + k % 3) = batch.block[4 + q][k][lane];
    }
}

void element_responses(const ElasticElements& e, const int* elements, int count, const std::vector<Vec3>& x,
                       bool project, ElementResponse* responses) {
    constexpr int lanes = ElementBatch::lanes;
    ElementBatch batch;
    for (int first = 0; first < count; first += lanes) {
        for (int k = 0; k < lanes; ++k) set_lane(e, elements[std::min(first + k, count - 1)], x, k, batch);
        respond(e, project, true, batch);
        for (int k = 0; k < lanes && first + k < count; ++k)
            read_lane(batch, k, e.corners, responses[first + k]);
    }
}

Mat12 element_stiffness(const ElasticElements& e, int element, const std::vector<Vec3>& x, bool project) {
    ElementResponse response;
    element_responses(e, &element, 1, x, project, &response);
    return response.stiffness;
}

void add_blocks(const ElementBatch& batch, int lane, const ElementPlaces& places,
                solve::BlockMatrix& matrix) {
    for (int c = 0; c < 4; ++c) {
        if (places.node[c] < 0) continue;
        double* target = matrix.diagonal_block(places.node[c]);
        for (int k = 0; k < 9; ++k) target[k] += batch.block[c][k][lane];
    }
    for (int q = 0; q < 6; ++q) {
        if (places.entry[q] < 0) continue;
        double* target = matrix.lower_block(places.entry[q]);
        const auto& block = batch.block[4 + q];
        if (places.transposed[q])  // the stored block's row is the later node
            for (int k = 0; k < 9; ++k) target[k] += block[3 * (k % 3) + k / 3][lane];
        else
            for (int k = 0; k < 9; ++k) target[k] += block[k][lane];
    }
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
        ElementPlaces& places = assembly.places[i];
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
    constexpr int lanes = ElementBatch::lanes;
    const auto add = [&](int begin, int end) {
        ElementBatch batch;
        for (int k = 0; k < lanes; ++k) {
            const int element = assembly.by_colour[std::min(begin + k, end - 1)];
            set_lane(e, element, x, k, batch);
            batch.stiffening[k] *= scale;
        }
        respond(e, project, true, batch);
        for (int k = 0; k < lanes && begin + k < end; ++k)
            add_blocks(batch, k, assembly.places[assembly.by_colour[begin + k]], matrix);
    };
    const int colours = static_cast<int>(assembly.colour_start.size()) - 1;
    for (int c = 0; c < colours; ++c) {
        const int begin = assembly.colour_start[c], end = assembly.colour_start[c + 1];
        const std::size_t batches = (end - begin + lanes - 1) / lanes;
        const std::size_t grain = c < 63 ? 32 : batches + 1;  // the last colour may hold neighbours
        parallel_for(batches, grain, [&](std::size_t i) { add(begin + lanes * static_cast<int>(i), end); });
    }
}

}  // namespace tenon
