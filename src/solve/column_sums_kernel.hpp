// The sums, compiled once for each instruction set.
#pragma once

#include "math/simd.hpp"
#include "solve/column_sums.hpp"

namespace tenon::solve {
namespace {

using Four = simd::Vector<double, 4>;

TENON_SIMD double total(const Four& v) {
    return (v[0] + v[1]) + (v[2] + v[3]);
}

void sums_over_columns(const double* groups, int count, const double* y, ColumnSums& sums) {
    Four squares{}, along[6]{}, lower[21]{};
    for (int g = 0; g < count; ++g, groups += 24) {
        Four c[6], product{};
        for (int i = 0; i < 6; ++i) {
            c[i] = simd::load<Four>(groups + 4 * i);
            product += c[i] * y[i];
        }
        const Four positive = simd::larger(product, Four{});
        if (!simd::any(positive > Four{})) continue;
        squares += positive * positive;
        for (int i = 0, k = 0; i < 6; ++i) {
            along[i] += positive * c[i];
            const Four counted = product > Four{} ? c[i] : Four{};
            for (int j = 0; j <= i; ++j, ++k) lower[k] += counted * c[j];
        }
    }
    sums.squares = total(squares);
    for (int i = 0; i < 6; ++i) sums.along[i] = total(along[i]);
    for (int k = 0; k < 21; ++k) sums.lower[k] = total(lower[k]);
}

}  // namespace
}  // namespace tenon::solve
