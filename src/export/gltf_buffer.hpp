// The binary part of a glTF file, with the views and accessors that describe it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tenon::exporting {

class GltfBuffer {
  public:
    enum class Use { animation = 0, vertices = 34962, indices = 34963 };

    // Each returns the accessor's number. Positions and times must have `bounds`: their smallest and largest values.
    int add_floats(const std::vector<float>& values, int components, Use use, bool bounds);
    int add_indices(const std::vector<std::uint32_t>& values);

    const std::string& bytes() const { return bytes_; }
    const nlohmann::json& views() const { return views_; }
    const nlohmann::json& accessors() const { return accessors_; }

  private:
    std::size_t append(const void* data, std::size_t size);  // where it begins
    int view(std::size_t offset, std::size_t size, Use use);

    std::string bytes_;
    nlohmann::json views_ = nlohmann::json::array(), accessors_ = nlohmann::json::array();
};

}  // namespace tenon::exporting
