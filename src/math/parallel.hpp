// Loops over both cores. Results never depend on the number of threads: bodies of the loop write to
// their own places, and reductions add fixed-size chunks in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace tenon {

void set_threads(int count);  // 0: as many as there are cores
int thread_count();

// Calls body(begin, end) on disjoint ranges of at most `grain` that cover [0, count).
void parallel_ranges(std::size_t count, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body);

template <class Body>
void parallel_for(std::size_t count, std::size_t grain, const Body& body) {
    if (count <= grain || thread_count() == 1) {
        for (std::size_t i = 0; i < count; ++i) body(i);
        return;
    }
    parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) body(i);
    });
}

// Sum of term(i) in chunks of fixed size, added in order: the same bits for any number of threads.
template <class Value, class Term>
Value parallel_sum(std::size_t count, std::size_t grain, Value zero, const Term& term) {
    const std::size_t chunks = (count + grain - 1) / grain;
    std::vector<Value> partial(chunks, zero);
    parallel_for(chunks, 1, [&](std::size_t chunk) {
        Value sum = zero;
        const std::size_t end = std::min(count, (chunk + 1) * grain);
        for (std::size_t i = chunk * grain; i < end; ++i) sum += term(i);
        partial[chunk] = sum;
    });
    Value total = zero;
    for (const Value& value : partial) total += value;
    return total;
}

}  // namespace tenon
