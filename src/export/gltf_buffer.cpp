#include "export/gltf_buffer.hpp"

#include <algorithm>

namespace tenon::exporting {
namespace {

constexpr int gltf_float = 5126, gltf_unsigned_int = 5125;

const char* type_of(int components) {
    static const char* const names[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    return names[components];
}

}  // namespace

std::size_t GltfBuffer::append(const void* data, std::size_t size) {
    const std::size_t offset = bytes_.size();
    bytes_.append(static_cast<const char*>(data), size);
    return offset;  // all values are four bytes wide, so everything stays aligned
}

int GltfBuffer::view(std::size_t offset, std::size_t size, Use use) {
    nlohmann::json entry{{"buffer", 0}, {"byteOffset", offset}, {"byteLength", size}};
    if (use != Use::animation) entry["target"] = static_cast<int>(use);
    views_.push_back(std::move(entry));
    return static_cast<int>(views_.size()) - 1;
}

int GltfBuffer::add_floats(const std::vector<float>& values, int components, Use use, bool bounds) {
    const std::size_t size = values.size() * sizeof(float), offset = append(values.data(), size);
    nlohmann::json accessor{{"bufferView", view(offset, size, use)},
                            {"componentType", gltf_float},
                            {"count", values.size() / components},
                            {"type", type_of(components)}};
    if (bounds) {
        std::vector<float> lo(values.begin(), values.begin() + components), hi = lo;
        for (std::size_t i = 0; i < values.size(); ++i) {
            lo[i % components] = std::min(lo[i % components], values[i]);
            hi[i % components] = std::max(hi[i % components], values[i]);
        }
        accessor["min"] = lo;
        accessor["max"] = hi;
    }
    accessors_.push_back(std::move(accessor));
    return static_cast<int>(accessors_.size()) - 1;
}

int GltfBuffer::add_indices(const std::vector<std::uint32_t>& values) {
    const std::size_t size = values.size() * sizeof(std::uint32_t), offset = append(values.data(), size);
    accessors_.push_back({{"bufferView", view(offset, size, Use::indices)},
                          {"componentType", gltf_unsigned_int},
                          {"count", values.size()},
                          {"type", "SCALAR"}});
    return static_cast<int>(accessors_.size()) - 1;
}

}  // namespace tenon::exporting
