#include "math/parallel.hpp"
#include "math/steady.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#ifndef TENON_STD_THREADS
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace tenon {
namespace {

std::atomic<int> requested_threads{0};

int hardware_threads() {
    return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

void set_threads(int count) {
    requested_threads = std::max(0, count);
}

int thread_count() {
    const int requested = requested_threads;
    return requested > 0 ? requested : hardware_threads();
}

#ifdef TENON_STD_THREADS

// ThreadSanitizer does not understand TBB's scheduler; plain threads it does.
void parallel_ranges(std::size_t count, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body) {
    grain = std::max<std::size_t>(grain, 1);
    std::atomic<std::size_t> next{0};
    auto work = [&] {
        for (std::size_t begin = next.fetch_add(grain); begin < count; begin = next.fetch_add(grain))
            body(begin, std::min(count, begin + grain));
    };
    std::vector<std::thread> workers;
    for (int i = 1; i < thread_count(); ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
}

void steady_ranges(std::size_t count, std::size_t grain,
                   const std::function<void(std::size_t, std::size_t)>& body) {
    parallel_ranges(count, grain, body);
}

#else

namespace {

tbb::task_arena& arena_of(int threads) {
    static thread_local int arena_threads = 0;
    static thread_local std::unique_ptr<tbb::task_arena> arena;
    if (!arena || arena_threads != threads) {
        arena = std::make_unique<tbb::task_arena>(threads);
        arena_threads = threads;
    }
    return *arena;
}

}  // namespace

void steady_ranges(std::size_t count, std::size_t grain,
                   const std::function<void(std::size_t, std::size_t)>& body) {
    grain = std::max<std::size_t>(grain, 1);
    const std::size_t chunks = (count + grain - 1) / grain;
    auto run = [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) body(k * grain, std::min(count, (k + 1) * grain));
    };
    const int threads = thread_count();
    if (threads == 1) return run(0, chunks);
    arena_of(threads).execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::size_t>(0, chunks),
            [&](const tbb::blocked_range<std::size_t>& range) { run(range.begin(), range.end()); },
            tbb::static_partitioner());
    });
}

void parallel_ranges(std::size_t count, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body) {
    grain = std::max<std::size_t>(grain, 1);
    const int threads = thread_count();
    if (threads == 1) {
        for (std::size_t begin = 0; begin < count; begin += grain)
            body(begin, std::min(count, begin + grain));
        return;
    }
    arena_of(threads).execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::size_t>(0, count, grain),
            [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); },
            tbb::simple_partitioner());
    });
}

#endif

}  // namespace tenon
