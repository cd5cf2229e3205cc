// The two ways things go wrong: the input is bad, or a step cannot be completed.
#pragma once

#include <stdexcept>
#include <string>

namespace tenon {

// Bad input: which file, where in it, what is wrong and what would be right. The program exits with 2.
class InputError : public std::runtime_error {
  public:
    InputError(std::string file, std::string path, std::string problem, std::string cure = {});

    const std::string& file() const { return file_; }
    const std::string& path() const { return path_; }
    const std::string& problem() const { return problem_; }
    const std::string& cure() const { return cure_; }

  private:
    std::string file_, path_, problem_, cure_;
};

// A step that could not be completed. The world keeps its last good state.
class StepFailure : public std::runtime_error {
  public:
    explicit StepFailure(const std::string& reason, int body = -1)
        : std::runtime_error(reason), body_(body) {}
    int body() const { return body_; }

  private:
    int body_;
};

}  // namespace tenon
