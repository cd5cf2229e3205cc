// A stepper whose first step begins beside where the bodies were put: barriers open what touches.
#pragma once

#include "tenon/state.hpp"

namespace tenon {

class OpensStart {
  public:
    virtual ~OpensStart() = default;

    // Moves the bodies to where the first step begins, so that the start that is recorded is the one that was simulated.
    virtual void open(State& state) = 0;
};

}  // namespace tenon
