// IEEE 754 half precision: three digits are enough for what a panel shows and a colour means.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tenon::serve {

inline std::uint16_t to_half(double value) {
    if (std::isnan(value)) return 0x7e00;
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double size = std::abs(value);
    if (size >= 65520.0) return sign | 0x7bff;  // the largest finite one: a panel says more than "infinite"
    if (size < std::ldexp(1.0, -14))
        return sign | static_cast<std::uint16_t>(std::lround(std::ldexp(size, 24)));  // subnormal
    int exponent = 0;
    const double mantissa = std::frexp(size, &exponent);  // 0.5 <= mantissa < 1
    // rounding up to the next power of two carries into the exponent by itself
    return sign |
           static_cast<std::uint16_t>(((exponent + 14) << 10) + std::lround((mantissa * 2 - 1) * 1024));
}

inline double from_half(std::uint16_t bits) {
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024.0 + mantissa, exponent - 25);
}

}  // namespace tenon::serve
