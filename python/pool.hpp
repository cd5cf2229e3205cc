// Many states of one model, stepped as a batch.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "live_state.hpp"

namespace tenon::python {

class Pool {
  public:
    Pool(std::shared_ptr<const Compiled> compiled, int states, int threads);

    int size() const { return static_cast<int>(states_.size()); }
    int threads() const { return threads_; }
    const std::shared_ptr<const Compiled>& compiled() const { return compiled_; }
    const std::shared_ptr<Arrays>& arrays() const { return arrays_; }
    const std::shared_ptr<LiveState>& state(int index) const {
        return states_[static_cast<std::size_t>(index)];
    }

    // Steps the chosen states (all, when empty) `count` times, each by one thread. A state whose step fails stays as it
    // was before that step; the others go on. What states threw is in `failures`, null where all went well. Throws
    // Interrupted when told to stop; states then have done different numbers of steps.
    void step(int count, const std::vector<char>& chosen);
    const std::vector<std::exception_ptr>& failures() const { return failures_; }

    // Held while a thread works with the pool: a second one is refused.
    class Use {
      public:
        explicit Use(Pool& pool);
        ~Use() { pool_.busy_ = false; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        Pool& pool_;
    };

  private:
    std::shared_ptr<const Compiled> compiled_;
    std::shared_ptr<Arrays> arrays_;
    std::vector<std::shared_ptr<LiveState>> states_;
    std::vector<std::exception_ptr> failures_;
    int threads_;
    std::atomic<bool> busy_ = false;
};

}  // namespace tenon::python
