// Vectors of four numbers, one for each of four pairs of primitives; included once for each instruction set.
#pragma once

#include <cstdint>

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tenon::geometry {
namespace {

typedef double Four __attribute__((vector_size(32)));
typedef double AnyFour __attribute__((vector_size(32), aligned(8), may_alias));  // anywhere in memory
typedef std::int64_t Mask __attribute__((vector_size(32)));

struct Four3 {
    Four x, y, z;
};

inline Four all(double value) {
    return Four{value, value, value, value};
}
inline Four3 operator-(const Four3& a, const Four3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Four3 operator+(const Four3& a, const Four3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Four3 operator*(const Four& s, const Four3& a) {
    return {s * a.x, s * a.y, s * a.z};
}
inline Four dot(const Four3& a, const Four3& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Four3 cross(const Four3& a, const Four3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Four3 choose(const Mask& mask, const Four3& a, const Four3& b) {
    return {mask ? a.x : b.x, mask ? a.y : b.y, mask ? a.z : b.z};
}

// Three numbers from each of four places, which may be read one further.
inline Four3 load(const double* p0, const double* p1, const double* p2, const double* p3) {
    const auto row = [](const double* from) -> Four { return *reinterpret_cast<const AnyFour*>(from); };
    const Four r0 = row(p0), r1 = row(p1), r2 = row(p2), r3 = row(p3);
    const Four xz01 = __builtin_shufflevector(r0, r1, 0, 4, 2, 6),
               xz23 = __builtin_shufflevector(r2, r3, 0, 4, 2, 6),
               y01 = __builtin_shufflevector(r0, r1, 1, 5, 3, 7),
               y23 = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
    return {__builtin_shufflevector(xz01, xz23, 0, 1, 4, 5), __builtin_shufflevector(y01, y23, 0, 1, 4, 5),
            __builtin_shufflevector(xz01, xz23, 2, 3, 6, 7)};
}

}  // namespace
}  // namespace tenon::geometry
