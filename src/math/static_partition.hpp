// Loops that run again and again over the same data: each range goes to the same thread every time, so that it is
// found in that core's cache. For even work; see parallel.hpp for the rest.
#pragma once

#include "math/parallel.hpp"

namespace tenon {

// As parallel_ranges.
void static_partition_ranges(std::size_t count, std::size_t grain,
                             const std::function<void(std::size_t, std::size_t)>& body);

template <class Body>
void static_partition_for(std::size_t count, std::size_t grain, const Body& body) {
    if (count <= grain || thread_count() == 1) {
        for (std::size_t i = 0; i < count; ++i) body(i);
        return;
    }
    static_partition_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) body(i);
    });
}

}  // namespace tenon
