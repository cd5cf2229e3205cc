#include "pool.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "math/parallel.hpp"

namespace tenon::python {
namespace {

// Loops inside a step stay on their thread while pools have the cores: results do not depend on it.
class OneThreadInside {
  public:
    OneThreadInside() {
        const std::lock_guard lock(mutex_);
        if (users_++ == 0) {
            before_ = thread_count();
            set_threads(1);
        }
    }
    ~OneThreadInside() {
        const std::lock_guard lock(mutex_);
        if (--users_ == 0) set_threads(before_);
    }
    OneThreadInside(const OneThreadInside&) = delete;
    OneThreadInside& operator=(const OneThreadInside&) = delete;

  private:
    static inline std::mutex mutex_;
    static inline int users_ = 0, before_ = 0;
};

constexpr auto look_up = std::chrono::milliseconds(50);  // how long a Ctrl-C may wait

}  // namespace

Pool::Pool(std::shared_ptr<const Compiled> compiled, int states, int threads)
    : compiled_(std::move(compiled)),
      arrays_(std::make_shared<Arrays>(*compiled_, static_cast<std::size_t>(states))),
      threads_(threads) {
    for (int i = 0; i < states; ++i)
        states_.push_back(std::make_shared<LiveState>(compiled_, arrays_, static_cast<std::size_t>(i)));
}

void Pool::step(int count, const std::function<bool()>& keep_waiting) {
    failures_.assign(states_.size(), nullptr);
    const OneThreadInside inside;
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::condition_variable done;
    int working = std::min(threads_, size());
    const auto work = [&] {
        for (std::size_t i = next++; i < states_.size(); i = next++) {
            try {
                const LiveState::Use use(*states_[i]);
                for (int k = 0; k < count && !stop; ++k) states_[i]->advance();
            } catch (...) {
                failures_[i] = std::current_exception();
            }
        }
        const std::lock_guard lock(mutex);
        --working;
        done.notify_all();
    };
    std::vector<std::thread> threads;
    for (int t = working; t > 0; --t) threads.emplace_back(work);
    {
        std::unique_lock lock(mutex);
        while (!done.wait_for(lock, look_up, [&] { return working == 0; })) {
            lock.unlock();
            if (!keep_waiting()) stop = true;
            lock.lock();
        }
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace tenon::python
