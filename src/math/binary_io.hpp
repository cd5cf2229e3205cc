// Plain values and vectors of them to and from streams, bit for bit: what checkpoints are made of.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace tenon {

// Fixed-size Eigen types are plain numbers in memory though not formally trivially copyable.
template <class T>
void write_value(std::ostream& out, const T& value) {
    out.write(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T>
void read_value(std::istream& in, T& value) {
    in.read(reinterpret_cast<char*>(&value), sizeof(T));
    if (!in) throw std::runtime_error("the checkpoint ends too early");
}

template <class T>
void write_values(std::ostream& out, const std::vector<T>& values) {
    write_value(out, static_cast<std::uint64_t>(values.size()));
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <class T>
void read_values(std::istream& in, std::vector<T>& values) {
    std::uint64_t count = 0;
    read_value(in, count);
    if (count > (std::uint64_t{1} << 33) / sizeof(T)) throw std::runtime_error("the checkpoint is damaged");
    values.resize(count);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in) throw std::runtime_error("the checkpoint ends too early");
}

}  // namespace tenon
