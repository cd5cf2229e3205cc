#include "math/thread_team.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include <pthread.h>

#include "math/interrupt.hpp"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;
using Body = std::function<void(std::size_t, std::size_t)>;

constexpr int most_threads = 64, most_loops = 64;
constexpr auto stay_awake = std::chrono::microseconds(1000);  // without work
constexpr int turns_between_looks = 32;                       // at the clock, and at who else wants the core

// What is left of one thread's part of a loop: its owner takes from the front, others from the back. (Plain numbers, so
// that a loop sets up the parts it has and not all it could have.)
struct alignas(64) Part {
    std::uint64_t left;  // the first of its ranges and, in the upper half, the end
    std::size_t first;

    void set(std::size_t first_range, std::size_t ranges) {
        first = first_range;
        left = static_cast<std::uint64_t>(ranges) << 32;
    }
    bool take(bool front, std::size_t& taken) {
        const std::atomic_ref shared(left);
        std::uint64_t seen = shared.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint64_t begin = seen & 0xffffffffu, end = seen >> 32;
            if (begin >= end) return false;
            const std::uint64_t rest = front ? seen + 1 : (end - 1) << 32 | begin;
            if (!shared.compare_exchange_weak(seen, rest, std::memory_order_relaxed)) continue;
            taken = front ? begin : end - 1;
            return true;
        }
    }
};

class Loop {
  public:
    Loop(std::size_t count, std::size_t grain, int threads, Sharing sharing, const Body& body)
        : count_(count), grain_(grain), threads_(threads), sharing_(sharing), body_(body) {
        const std::size_t ranges = (count + grain - 1) / grain, many = threads;
        for (std::size_t p = 0; p < many; ++p) {
            const std::size_t first = ranges * p / many, next = ranges * (p + 1) / many;
            if (sharing == Sharing::halves)
                parts_[p].set(first, next - first);
            else
                parts_[p].set(p, ranges / many + (p < ranges % many));
        }
    }

    int threads() const { return threads_; }

    // Until no range is left to begin with.
    void work(int thread) {
        for (int k = 0; k < threads_; ++k) {
            Part& part = parts_[(thread + k) % threads_];
            std::size_t taken = 0;
            while (part.take(k == 0 || sharing_ == Sharing::dealt, taken))
                run(sharing_ == Sharing::halves ? part.first + taken : part.first + taken * threads_);
        }
    }

    void throw_failure() {
        if (failed_) std::rethrow_exception(failure_);
    }

  private:
    void run(std::size_t range) {
        if (failed_.load(std::memory_order_relaxed)) return;
        try {
            body_(range * grain_, std::min(count_, (range + 1) * grain_));
        } catch (...) {
            const std::lock_guard lock(failing_);
            if (!failed_) failure_ = std::current_exception();
            failed_ = true;
        }
    }

    std::size_t count_, grain_;
    int threads_;
    Sharing sharing_;
    const Body& body_;
    std::array<Part, most_threads> parts_;
    std::mutex failing_;
    std::exception_ptr failure_;
    std::atomic<bool> failed_ = false;
};

// Where a loop is found while it runs. Helpers count themselves before they look at the loop, its owner takes it away
// before it looks at their number: none is there when the loop ends.
struct alignas(64) Place {
    std::atomic<Loop*> loop = nullptr;
    std::atomic<int> helpers = 0;
    std::atomic<int> within = -1;  // the place of the loop that this one was started in
};

void breathe() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

class Team {
  public:
    void run(Loop& loop) {
        const int place = take_place();
        if (place < 0) return loop.work(0);
        grow(loop.threads());
        Place& here = places_[place];
        here.within = within_;
        here.loop = &loop;
        open_.fetch_or(bit(place));
        if (sleepers_ > 0) {
            ++calls_;
            calls_.notify_all();
        }
        work(place, loop);
        here.loop = nullptr;
        wait_for_helpers(place);
        taken_.fetch_and(~bit(place));
    }

  private:
    static std::uint64_t bit(int place) { return std::uint64_t{1} << place; }

    int take_place() {
        std::uint64_t taken = taken_.load(std::memory_order_relaxed);
        while (~taken != 0) {
            const int place = std::countr_one(taken);
            if (taken_.compare_exchange_weak(taken, taken | bit(place))) return place;
        }
        return -1;
    }

    void work(int place, Loop& loop) {
        const int outer = within_;
        within_ = place;
        loop.work(thread_);
        within_ = outer;
        open_.fetch_and(~bit(place));
    }

    bool is_within(int place, int outer) const {
        while (place >= 0 && place != outer) place = places_[place].within;
        return place == outer;
    }

    // Takes part in an open loop, or only in one that was started within `outer`.
    bool help(int place, int outer) {
        Place& there = places_[place];
        ++there.helpers;
        Loop* loop = there.loop;
        const bool may = loop && thread_ < loop->threads() && (outer < 0 || is_within(place, outer));
        if (may) work(place, *loop);
        --there.helpers;
        return may;
    }

    bool help_any(int outer) {
        bool helped = false;
        for (std::uint64_t open = open_; open != 0; open &= open - 1)
            helped = help(std::countr_zero(open), outer) || helped;
        return helped;
    }

    void wait_for_helpers(int place) {
        for (int turn = 1; places_[place].helpers > 0; ++turn) {
            if (open_.load(std::memory_order_relaxed) != 0 && help_any(place)) turn = 1;
            breathe();
            if (turn % turns_between_looks == 0) std::this_thread::yield();
        }
    }

    void grow(int threads) {
        static const int most = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
        const int wanted = std::min(threads - 1, most);
        if (size_.load(std::memory_order_relaxed) >= wanted) return;
        const std::lock_guard lock(growing_);
        for (; size_ < wanted; ++size_)
            std::thread([this, index = size_ + 1] { wait_for_loops(index); }).detach();
    }

    void wait_for_loops(int index) {
        thread_ = index;
        for (;;) {
            const auto start = Clock::now();
            for (int turn = 1; open_.load(std::memory_order_relaxed) == 0 || !help_any(-1); ++turn) {
                breathe();
                if (turn % turns_between_looks != 0) continue;
                std::this_thread::yield();
                if (Clock::now() - start > stay_awake) {
                    sleep();
                    break;
                }
            }
        }
    }

    void sleep() {
        ++sleepers_;
        const unsigned calls = calls_;
        if (open_ == 0) calls_.wait(calls);
        --sleepers_;
    }

    std::array<Place, most_loops> places_;
    alignas(64) std::atomic<std::uint64_t> open_ = 0;   // places of loops with ranges left
    alignas(64) std::atomic<std::uint64_t> taken_ = 0;  // places in use
    alignas(64) std::atomic<unsigned> calls_ = 0;
    std::atomic<int> sleepers_ = 0;
    std::atomic<int> size_ = 0;
    std::mutex growing_;
    static thread_local int thread_;  // 0: not one of the team
    static thread_local int within_;  // place of the loop that the thread works at
};

thread_local int Team::thread_ = 0;
thread_local int Team::within_ = -1;

// Never taken down: its threads may still be asleep in it when the program ends. The child of a fork has none of its
// parent's threads, and gets a team of its own.
Team& team() {
    static std::atomic<Team*> one = [] {
        pthread_atfork(nullptr, nullptr, [] { one = new Team; });
        return new Team;
    }();
    return *one;
}

}  // namespace

void share_ranges(std::size_t count, std::size_t grain, int threads, Sharing sharing, const Body& body) {
    check_interrupt();
    grain = std::max({grain, std::size_t{1}, count >> 31});
    if (threads <= 1) {
        for (std::size_t begin = 0; begin < count; begin += grain)
            body(begin, std::min(count, begin + grain));
        return;
    }
    // Who helps looks at the same flag as who started the loop.
    const std::atomic<bool>* flag = watched_interrupt();
    const Body stoppable = [flag, &body](std::size_t begin, std::size_t end) {
        const InterruptScope scope(flag);
        body(begin, end);
    };
    Loop loop(count, grain, std::min(threads, most_threads), sharing, flag ? stoppable : body);
    team().run(loop);
    loop.throw_failure();
}

}  // namespace tenon
