// A method's memory in its saved form: what copies of a state and checkpoints hold until the next step.
#pragma once

#include <ostream>

#include "tenon/state.hpp"

namespace tenon {

class SavedMemory final : public MethodMemory {
  public:
    explicit SavedMemory(std::string bytes) : bytes_(std::move(bytes)) {}
    const std::string& bytes() const { return bytes_; }
    std::unique_ptr<MethodMemory> clone() const override { return std::make_unique<SavedMemory>(bytes_); }
    void save(std::ostream& out) const override {
        out.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    }

  private:
    std::string bytes_;
};

}  // namespace tenon
