// Our block Cholesky beside Eigen's SimplicialLDLT and CHOLMOD's supernodal factorisation, on the patterns of a
// stack of blocks and of two nets of rings, and on Newton systems of stiff bodies and soft parts.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <Eigen/SparseCholesky>

#include "bench/bench.hpp"
#include "bench/loops.hpp"
#include "math/parallel.hpp"
#include "solve/block_cholesky.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/simulation.hpp"

#ifdef TENON_HAVE_CHOLMOD
#include <suitesparse/cholmod.h>
#endif

namespace tenon::bench {
namespace {

using solve::BlockMatrix;
using Sparse = Eigen::SparseMatrix<double>;

// Bodies on a grid that touch their neighbours, cut off after `bodies`.
std::vector<std::pair<int, int>> grid_pairs(int nx, int ny, int nz, int bodies) {
    std::vector<std::pair<int, int>> pairs;
    const auto id = [&](int x, int y, int z) { return (z * ny + y) * nx + x; };
    const auto add = [&](int a, int b) {
        if (a < bodies && b < bodies) pairs.emplace_back(a, b);
    };
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) {
                if (x + 1 < nx) add(id(x, y, z), id(x + 1, y, z));
                if (y + 1 < ny) add(id(x, y, z), id(x, y + 1, z));
                if (z + 1 < nz) add(id(x, y, z), id(x, y, z + 1));
            }
    return pairs;
}

// Newton system of affine bodies: inertia, stiff orthogonality, and contacts as sums of outer products.
BlockMatrix newton_matrix(int bodies, const std::vector<std::pair<int, int>>& pairs) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    BlockMatrix matrix;
    matrix.resize(solve::make_pattern(bodies, pairs), 12);
    for (int i = 0; i < bodies; ++i)
        for (int k = 0; k < 12; ++k) matrix.diagonal_block(i)[k * 13] = k < 9 ? 1e4 : 1.0;
    Eigen::Matrix<double, 12, 1> a, b;
    for (int i = 0; i < bodies; ++i)
        for (int e = matrix.pattern.start[i]; e < matrix.pattern.start[i + 1]; ++e)
            for (int contact = 0; contact < 8; ++contact) {
                for (int k = 0; k < 12; ++k) a[k] = 3 * normal(random), b[k] = 3 * normal(random);
                using Block = Eigen::Map<Eigen::Matrix<double, 12, 12>>;
                Block(matrix.diagonal_block(i)) += a * a.transpose();
                Block(matrix.diagonal_block(matrix.pattern.columns[e])) += b * b.transpose();
                Block(matrix.lower_block(e)) += a * b.transpose();
            }
    return matrix;
}

Sparse to_sparse(const BlockMatrix& matrix) {
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < matrix.pattern.nodes; ++i) {
        for (int c = 0; c < 12; ++c)
            for (int r = c; r < 12; ++r)
                entries.emplace_back(i * 12 + r, i * 12 + c, matrix.diagonal[i * 144 + c * 12 + r]);
        for (int e = matrix.pattern.start[i]; e < matrix.pattern.start[i + 1]; ++e)
            for (int c = 0; c < 12; ++c)
                for (int r = 0; r < 12; ++r)
                    entries.emplace_back(i * 12 + r, matrix.pattern.columns[e] * 12 + c,
                                         matrix.lower[e * 144 + c * 12 + r]);
    }
    Sparse sparse(matrix.size(), matrix.size());
    sparse.setFromTriplets(entries.begin(), entries.end());
    return sparse;
}

// Lower half of a symmetric matrix in Matrix Market form whose unknowns come in twelves.
BlockMatrix read_dump(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string header;
    int rows = 0, columns = 0;
    long count = 0;
    std::getline(in, header);
    in >> rows >> columns >> count;
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<std::pair<int, int>> pairs;
    for (long k = 0; k < count; ++k) {
        int i = 0, j = 0;
        double value = 0;
        in >> i >> j >> value;
        entries.emplace_back(i - 1, j - 1, value);
        const std::pair<int, int> nodes((i - 1) / 12, (j - 1) / 12);
        if (nodes.first != nodes.second && (pairs.empty() || pairs.back() != nodes)) pairs.push_back(nodes);
    }
    if (!in) throw InputError(file.string(), "", "ends early", "");
    BlockMatrix matrix;
    matrix.resize(solve::make_pattern(rows / 12, std::move(pairs)), 12);
    for (const auto& entry : entries) {
        const int i = entry.row() / 12, j = entry.col() / 12, r = entry.row() % 12, c = entry.col() % 12;
        if (i == j) {
            matrix.diagonal_block(i)[12 * c + r] = matrix.diagonal_block(i)[12 * r + c] = entry.value();
        } else {
            matrix.lower_block(matrix.find(i, j))[12 * c + r] = entry.value();
        }
    }
    return matrix;
}

// What `affine` factors in the first Newton iteration of one step of hybrid-drop: ships and helicopters that have landed on
// each other, 12 unknowns a body, and their soft parts, four vertices a node.
BlockMatrix mixed_matrix(double cell, int step) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("tenon-mixed-" + std::to_string(std::random_device()()));
    std::filesystem::create_directories(folder);
    Scene scene =
        make_builtin(*find_builtin("hybrid-drop"), {{"ships", 2.0}, {"helicopters", 5.0}, {"cell", cell}});
    scene.method_params["dump"] = (folder / "newton").string();
    scene.method_params["dump_step"] = static_cast<double>(step);
    Simulation simulation(scene);
    for (int k = 0; k <= step; ++k) simulation.step();
    BlockMatrix matrix =
        read_dump(folder / ("newton-step" + std::to_string(step) + "-round0-iteration0.mtx"));
    std::filesystem::remove_all(folder);
    return matrix;
}

struct Case {
    std::string name;
    int nx, ny, nz, bodies;
};

class Comparison {
  public:
    Comparison(std::string name, BlockMatrix matrix, const Options& options)
        : name_(std::move(name)),
          options_(options),
          matrix_(std::move(matrix)),
          b_(Eigen::VectorXd::Random(matrix_.size())) {}

    void all(bool with_eigen) {
        ours(1);
        ours(2);
#ifdef TENON_HAVE_CHOLMOD
        cholmod();
#else
        options_.note("CHOLMOD is not installed: scripts/setup bench");
#endif
        if (with_eigen) eigen();
    }

    void ours(int threads) {
        set_threads(threads);
        solve::BlockCholesky cholesky;
        cholesky.analyse(matrix_.pattern, 12);
        std::vector<double> times;
        for (int k = 0; k <= options_.repeats; ++k) {
            cholesky.factor(matrix_);
            if (k > 0) times.push_back(cholesky.stats().factor_ms);  // the first one touches the memory
        }
        Eigen::VectorXd x(matrix_.size());
        const double solve_ms = 1e3 * seconds_of([&] { cholesky.solve(b_.data(), x.data()); });
        set_threads(0);
        Row row = start("tenon", threads, cholesky.stats().analyse_ms, median(times), solve_ms, x);
        row.set("factor_mb", cholesky.stats().factor_entries * 8e-6);
        row.set("gflops", cholesky.stats().factor_flops / median(times) * 1e-6);
        options_.print(row);
    }

    void eigen() {
        const Sparse sparse = to_sparse(matrix_);
        Eigen::SimplicialLDLT<Sparse> ldlt;
        const double analyse_ms = 1e3 * seconds_of([&] { ldlt.analyzePattern(sparse); });
        const double factor_ms = 1e3 * seconds_of([&] { ldlt.factorize(sparse); });
        Eigen::VectorXd x;
        const double solve_ms = 1e3 * seconds_of([&] { x = ldlt.solve(b_); });
        options_.print(start("eigen-simplicial-ldlt", 1, analyse_ms, factor_ms, solve_ms, x));
    }

#ifdef TENON_HAVE_CHOLMOD
    void cholmod() {
        Sparse sparse = to_sparse(matrix_);
        cholmod_common common;
        cholmod_start(&common);
        common.supernodal = CHOLMOD_SUPERNODAL;
        cholmod_sparse view{};
        view.nrow = view.ncol = sparse.rows();
        view.nzmax = sparse.nonZeros();
        view.p = sparse.outerIndexPtr(), view.i = sparse.innerIndexPtr(), view.x = sparse.valuePtr();
        view.stype = -1, view.itype = CHOLMOD_INT, view.xtype = CHOLMOD_REAL, view.dtype = CHOLMOD_DOUBLE;
        view.sorted = view.packed = 1;
        cholmod_factor* factor = nullptr;
        const double analyse_ms = 1e3 * seconds_of([&] { factor = cholmod_analyze(&view, &common); });
        std::vector<double> times;
        for (int k = 0; k <= options_.repeats; ++k) {
            const double ms = 1e3 * seconds_of([&] { cholmod_factorize(&view, factor, &common); });
            if (k > 0) times.push_back(ms);
        }
        cholmod_dense right{};
        right.nrow = right.nzmax = right.d = b_.size(), right.ncol = 1;
        right.x = b_.data(), right.xtype = CHOLMOD_REAL, right.dtype = CHOLMOD_DOUBLE;
        cholmod_dense* solution = nullptr;
        const double solve_ms =
            1e3 * seconds_of([&] { solution = cholmod_solve(CHOLMOD_A, factor, &right, &common); });
        const Eigen::VectorXd x = Eigen::Map<Eigen::VectorXd>(static_cast<double*>(solution->x), b_.size());
        options_.print(start("cholmod-supernodal", 1, analyse_ms, median(times), solve_ms, x));
        cholmod_free_dense(&solution, &common);
        cholmod_free_factor(&factor, &common);
        cholmod_finish(&common);
    }
#endif

  private:
    Row start(const std::string& engine, int threads, double analyse_ms, double factor_ms, double solve_ms,
              const Eigen::VectorXd& x) const {
        Eigen::VectorXd product(matrix_.size());
        matrix_.multiply(x.data(), product.data());
        Row row;
        row.set("bench", std::string("solve")).set("case", name_).set("engine", engine);
        row.set("size", matrix_.pattern.nodes).set("threads", threads).set("ms_per_step", factor_ms);
        row.set("analyse_ms", analyse_ms).set("solve_ms", solve_ms);
        row.set("error", (product - b_).norm() / b_.norm());
        return row;
    }

    std::string name_;
    const Options& options_;
    BlockMatrix matrix_;
    Eigen::VectorXd b_;
};

void run(const Options& options) {
    std::vector<Case> cases = {{"stack", 8, 7, 11, 562}, {"net", 26, 26, 1, 673}};
    if (!options.quick) cases.push_back({"large-net", 167, 166, 1, 27645});
    for (const Case& which : cases) {
        if (!options.wants(which.name)) continue;
        Comparison comparison(
            which.name, newton_matrix(which.bodies, grid_pairs(which.nx, which.ny, which.nz, which.bodies)),
            options);
        comparison.all(which.bodies < 5000 || options.wants("eigen"));
    }
    if (options.wants("mixed"))
        Comparison("mixed", mixed_matrix(0.03, options.quick ? 2 : 25), options).all(true);
    if (options.wants("mixed-fine") && !options.quick)
        Comparison("mixed-fine", mixed_matrix(0.008, 0), options).all(false);
    run_loops(options);
}

}  // namespace

Bench solve_bench() {
    return {"solve",
            "block Cholesky beside Eigen and CHOLMOD: milliseconds to factor, residual; short loops beside "
            "oneTBB",
            run};
}

}  // namespace tenon::bench
