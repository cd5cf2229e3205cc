#include "pool.hpp"

#include <mutex>
#include <stdexcept>

#include "math/interrupt.hpp"
#include "math/parallel.hpp"
#include "math/thread_team.hpp"

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

}  // namespace

Pool::Pool(std::shared_ptr<const Compiled> compiled, int states, int threads)
    : compiled_(std::move(compiled)),
      arrays_(std::make_shared<Arrays>(*compiled_, static_cast<std::size_t>(states))),
      threads_(threads) {
    for (int i = 0; i < states; ++i)
        states_.push_back(std::make_shared<LiveState>(compiled_, arrays_, static_cast<std::size_t>(i)));
}

Pool::Use::Use(Pool& pool) : pool_(pool) {
    if (pool.busy_.exchange(true))
        throw std::runtime_error(
            "another thread is working with this pool: give each thread a pool of its own");
}

void Pool::step(int count, const std::vector<char>& chosen) {
    failures_.assign(states_.size(), nullptr);
    const OneThreadInside inside;
    const auto advance = [&](std::size_t i) {
        if (!chosen.empty() && !chosen[i]) return;
        try {
            const LiveState::Use use(*states_[i]);
            for (int k = 0; k < count; ++k) {
                check_interrupt();
                states_[i]->advance();
            }
        } catch (const Interrupted&) {
            throw;
        } catch (...) {
            failures_[i] = std::current_exception();
        }
    };
    // half of each thread's states are its own in every call; who is done early takes over from the others
    share_ranges(states_.size(), 1, threads_, Sharing::halves, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) advance(i);
    });
}

}  // namespace tenon::python
