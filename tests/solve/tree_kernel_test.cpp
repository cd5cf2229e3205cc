// Both builds of the tree recursion's kernel against the dense KKT system of one body and its parent.
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "methods/articulated/tree_kernel.hpp"

namespace tenon::articulated {
namespace {

// K dq + C^T l = f,  K_p dq_p + C_p^T l = f_p,  C dq + C_p dq_p - E l = -c, solved through the kernel and at once.
void compare_with_dense(const TreeKernel& kernel, int size, int parent_size, int rows) {
    std::mt19937 random(100 * size + 10 * parent_size + rows);
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    const auto fill = [&](int r, int c) {
        return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(r, c, [&] { return number(random); }));
    };
    const auto definite = [&](int n) {
        const Eigen::MatrixXd B = fill(n, n);
        return Eigen::MatrixXd(B * B.transpose() + Eigen::MatrixXd::Identity(n, n));
    };
    const Eigen::MatrixXd K = definite(size), Kp = definite(parent_size), C = fill(rows, size),
                          Cp = fill(rows, parent_size);
    const Eigen::VectorXd f = fill(size, 1), fp = fill(parent_size, 1), c = fill(rows, 1),
                          E = fill(rows, 1).cwiseAbs();

    const int total = size + parent_size + rows;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(total, total);
    A.topLeftCorner(size, size) = K;
    A.block(size, size, parent_size, parent_size) = Kp;
    A.bottomLeftCorner(rows, size) = C;
    A.block(size + parent_size, size, rows, parent_size) = Cp;
    A.topRightCorner(size + parent_size, rows) = A.bottomLeftCorner(rows, size + parent_size).transpose();
    A.bottomRightCorner(rows, rows) = -Eigen::MatrixXd(E.asDiagonal());
    Eigen::VectorXd b(total);
    b << f, fp, -c;
    const Eigen::VectorXd exact = A.fullPivLu().solve(b);

    const int P = padded(rows), Q = padded(parent_size), ld = padded(size);
    std::vector<double> k(ld * size), kp(Q * parent_size), own(size * P), above(rows * Q), S(P * rows), v(ld),
        vp(Q), s(P);
    Eigen::Map<Eigen::MatrixXd>(k.data(), ld, size).topRows(size) = K;
    Eigen::Map<Eigen::MatrixXd>(kp.data(), Q, parent_size).topRows(parent_size) = Kp;
    Eigen::Map<Eigen::MatrixXd>(own.data(), P, size).topRows(rows) = C;
    Eigen::Map<Eigen::MatrixXd>(above.data(), Q, rows).topRows(parent_size) = Cp.transpose();
    for (int i = 0; i < size; ++i) v[i] = f[i];
    for (int i = 0; i < parent_size; ++i) vp[i] = fp[i];
    for (int r = 0; r < rows; ++r) s[r] = c[r];
    kernel.eliminate(size, rows, k.data(), own.data(), S.data(), E.data());
    kernel.pass_on(parent_size, rows, S.data(), above.data(), kp.data());
    kernel.forward(size, rows, k.data(), own.data(), S.data(), v.data(), s.data());
    kernel.forward_parent(parent_size, rows, above.data(), s.data(), vp.data());
    // the parent is a root without rows
    kernel.eliminate(parent_size, 0, kp.data(), nullptr, nullptr, nullptr);
    kernel.forward(parent_size, 0, kp.data(), nullptr, nullptr, vp.data(), nullptr);
    kernel.backward(parent_size, 0, kp.data(), nullptr, nullptr, vp.data(), nullptr);
    kernel.backward_parent(parent_size, rows, above.data(), vp.data(), s.data());
    kernel.backward(size, rows, k.data(), own.data(), S.data(), v.data(), s.data());

    Eigen::VectorXd found(total);
    for (int i = 0; i < size; ++i) found[i] = v[i];
    for (int i = 0; i < parent_size; ++i) found[size + i] = vp[i];
    for (int r = 0; r < rows; ++r) found[size + parent_size + r] = s[r];
    EXPECT_LT((found - exact).norm(), 1e-11 * exact.norm())
        << size << " unknowns, " << parent_size << " of the parent, " << rows << " rows";
}

void compare_all(const TreeKernel& kernel) {
    for (int size : {6, 12})
        for (int parent_size : {6, 12})
            for (int rows = 1; rows <= 9; ++rows) compare_with_dense(kernel, size, parent_size, rows);
}

TEST(TreeKernel, PortableIsTheDenseSolution) {
    compare_all(tree_kernel_portable());
}

TEST(TreeKernel, ChosenIsTheDenseSolution) {
    compare_all(tree_kernel());
}

// A row given twice is dropped: its multiplier is zero, the other carries all.
TEST(TreeKernel, RedundantRowsAreDropped) {
    for (const TreeKernel* kernel : {&tree_kernel_portable(), &tree_kernel()}) {
        std::vector<double> k(padded(6) * 6, 0.0), own(6 * 4, 0.0), S(4 * 2, 0.0), f(8, 0.0), s(4, 0.0);
        for (int i = 0; i < 6; ++i) k[i * padded(6) + i] = 2.0;
        own[0] = own[1] = 1.0;  // both hold the first unknown
        f[0] = 3.0;
        const double compliance[2] = {0.0, 0.0};
        kernel->eliminate(6, 2, k.data(), own.data(), S.data(), compliance);
        kernel->forward(6, 2, k.data(), own.data(), S.data(), f.data(), s.data());
        kernel->backward(6, 2, k.data(), own.data(), S.data(), f.data(), s.data());
        EXPECT_NEAR(f[0], 0.0, 1e-15);
        EXPECT_NEAR(s[0], 3.0, 1e-14);
        EXPECT_EQ(s[1], 0.0);
    }
}

}  // namespace
}  // namespace tenon::articulated
