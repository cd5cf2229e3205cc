#include "tenon/error.hpp"

namespace tenon {
namespace {

std::string sentence(const std::string& file, const std::string& path, const std::string& problem,
                     const std::string& cure) {
    std::string text = file;
    if (!path.empty()) text += (text.empty() ? "" : ": ") + path;
    if (!text.empty()) text += ": ";
    text += problem;
    if (!cure.empty()) text += " (" + cure + ")";
    return text;
}

}  // namespace

InputError::InputError(std::string file, std::string path, std::string problem, std::string cure)
    : std::runtime_error(sentence(file, path, problem, cure)),
      file_(std::move(file)),
      path_(std::move(path)),
      problem_(std::move(problem)),
      cure_(std::move(cure)) {}

}  // namespace tenon
