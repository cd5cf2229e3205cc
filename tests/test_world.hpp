// A model with a state and outputs of its own, for tests that build one by hand.
#pragma once

#include <utility>

#include "tenon/state.hpp"

namespace tenon::test {

struct TestWorld {
    Model model;
    State state;
    Outputs outputs;
};

inline TestWorld make_world(Model model) {
    State state = initial_state(model);
    Outputs outputs(model);
    return {std::move(model), std::move(state), std::move(outputs)};
}

inline TestWorld make_world(const Scene& scene) {
    return make_world(compile(scene));
}

}  // namespace tenon::test
