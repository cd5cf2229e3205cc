// Loops as short as those of a step, shared between threads: our thread team beside oneTBB and beside one thread. Why the team
// exists: a step has thousands of such loops, and a thread that must be woken for each gains nothing.
#include "bench/loops.hpp"

#include <cmath>
#include <string>
#include <vector>

#ifdef TENON_HAVE_TBB
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#endif

#include "math/parallel.hpp"

namespace tenon::bench {

namespace {

constexpr int threads = 2;
constexpr std::size_t ranges = 16;  // a loop is cut into this many
constexpr int between = 200;        // additions of one thread alone between two loops

// What a loop does to one number: the square roots of a distance or a norm.
double root_of(double x) {
    return std::sqrt(x * x + 1.0) - 0.5;
}

class Loops {
  public:
    Loops(std::size_t count, int repeats) : values_(count, 1.0), repeats_(repeats) {}

    // Milliseconds a loop, `share(count, grain, body)` calling body(begin, end) on ranges.
    template <class Share>
    double time(const Share& share) {
        const auto body = [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) values_[i] = root_of(values_[i]);
        };
        const std::size_t grain = (values_.size() + ranges - 1) / ranges;
        share(values_.size(), grain, body);  // threads start, data comes into the caches
        std::vector<double> times;
        for (int round = 0; round < 5; ++round)
            times.push_back(1e3 / repeats_ * seconds_of([&] {
                                for (int k = 0; k < repeats_; ++k) {
                                    share(values_.size(), grain, body);
                                    for (int i = 0; i < between; ++i) sum_ += values_[i % values_.size()];
                                }
                            }));
        return median(times);
    }
    double sum() const { return sum_; }

  private:
    std::vector<double> values_;
    int repeats_;
    double sum_ = 0.0;
};

void print(const Options& options, const std::string& name, std::size_t count, const std::string& engine,
           double used, double ms, double alone) {
    Row row;
    row.set("bench", std::string("solve")).set("case", name).set("engine", engine);
    row.set("size", static_cast<double>(count)).set("threads", used).set("ms_per_step", ms);
    row.set("speedup", alone / ms);
    options.print(row);
}

}  // namespace

void run_loops(const Options& options) {
    for (const std::size_t count : {2'000u, 20'000u, 200'000u}) {
        const std::string name = "loop-" + std::to_string(count);
        if (!options.wants(name)) continue;
        const int repeats = static_cast<int>((options.quick ? 4'000'000u : 40'000'000u) / count);
        Loops loops(count, repeats);
        const double alone =
            loops.time([](std::size_t size, std::size_t, const auto& body) { body(0, size); });
        print(options, name, count, "tenon", 1, alone, alone);
        const int before = thread_count();
        set_threads(threads);
        print(options, name, count, "tenon", threads, loops.time(parallel_ranges), alone);
        set_threads(before);
#ifdef TENON_HAVE_TBB
        const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
        const double tbb_ms = loops.time([](std::size_t size, std::size_t grain, const auto& body) {
            tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size, grain),
                              [&](const auto& range) { body(range.begin(), range.end()); });
        });
        print(options, name, count, "tbb", threads, tbb_ms, alone);
#else
        options.note("oneTBB is not installed: scripts/setup bench");
#endif
    }
}

}  // namespace tenon::bench
