// Plain values and vectors of them to and from streams, bit for bit: what checkpoints are made of. The same values are always
// the same bytes: gaps between the members of a structure are written as zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace tenon {

// Numbers, and matrices of them, have no gaps.
template <class T>
constexpr bool has_gaps() {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
        return false;
    else if constexpr (requires {
                           typename T::Scalar;
                           T::SizeAtCompileTime;
                       })
        return sizeof(T) != T::SizeAtCompileTime * sizeof(typename T::Scalar);
    else
        return true;
}

// Fixed-size Eigen types are plain numbers in memory though not formally trivially copyable.
template <class T>
void write_value(std::ostream& out, const T& value) {
    if constexpr (has_gaps<T>()) {
        T copy = value;
#if __has_builtin(__builtin_clear_padding)  // of GCC; elsewhere the gaps hold what they hold
        __builtin_clear_padding(&copy);
#endif
        out.write(reinterpret_cast<const char*>(&copy), sizeof(T));
    } else {
        out.write(reinterpret_cast<const char*>(&value), sizeof(T));
    }
}

// Bytes may come from anybody: what is read from them is checked before it is used as a size, a place or a count.
inline void expect_sound(bool sound) {
    if (!sound) throw std::runtime_error("is damaged: it holds values that no run has");
}

template <class T>
void read_value(std::istream& in, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        char byte = 0;
        read_value(in, byte);
        expect_sound(byte == 0 || byte == 1);
        value = byte == 1;
        return;
    }
    in.read(reinterpret_cast<char*>(&value), sizeof(T));
    if (!in) throw std::runtime_error("the checkpoint ends too early");
}

template <class T>
void write_values(std::ostream& out, const std::vector<T>& values) {
    write_value(out, static_cast<std::uint64_t>(values.size()));
    if constexpr (has_gaps<T>())
        for (const T& value : values) write_value(out, value);
    else
        out.write(reinterpret_cast<const char*>(values.data()),
                  static_cast<std::streamsize>(values.size() * sizeof(T)));
}

// A part at a time: a count that the bytes do not bear out takes no memory.
template <class T>
void read_values(std::istream& in, std::vector<T>& values) {
    constexpr std::uint64_t part = (std::uint64_t{1} << 20) / sizeof(T) + 1;
    std::uint64_t count = 0;
    read_value(in, count);
    if (count > (std::uint64_t{1} << 33) / sizeof(T)) throw std::runtime_error("the checkpoint is damaged");
    values.clear();
    for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t more = std::min(part, count - done);
        values.resize(done + more);
        in.read(reinterpret_cast<char*>(values.data() + done),
                static_cast<std::streamsize>(more * sizeof(T)));
        if (!in) throw std::runtime_error("the checkpoint ends too early");
        done += more;
    }
}

// As many as there have to be.
template <class T>
void read_values(std::istream& in, std::vector<T>& values, std::size_t count) {
    read_values(in, values);
    if (values.size() != count)
        throw std::runtime_error("holds another number of values than the scene asks for");
}

// Numbers of things, or counts, within [least, most].
inline void read_numbers(std::istream& in, std::vector<int>& values, std::size_t count, int least, int most) {
    read_values(in, values, count);
    for (const int value : values) expect_sound(value >= least && value <= most);
}

}  // namespace tenon
