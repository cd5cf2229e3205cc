// Many states of one model, stepped as a batch by threads of its own.
#pragma once

#include <exception>
#include <functional>
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

    // Steps every state `count` times, each by one thread. A state whose step fails stays as it was before that step;
    // the others go on. `keep_waiting` is called now and then by the calling thread; false stops after the steps under
    // way. What states threw is in `failures`, empty where all went well.
    void step(int count, const std::function<bool()>& keep_waiting);
    const std::vector<std::exception_ptr>& failures() const { return failures_; }

  private:
    std::shared_ptr<const Compiled> compiled_;
    std::shared_ptr<Arrays> arrays_;
    std::vector<std::shared_ptr<LiveState>> states_;
    std::vector<std::exception_ptr> failures_;
    int threads_;
};

}  // namespace tenon::python
