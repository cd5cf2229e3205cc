// Little-endian bytes for the page's typed arrays: arrays start at multiples of four bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::serve {

class ByteWriter {
  public:
    template <class T>
    void value(const T& item) {
        bytes_.append(reinterpret_cast<const char*>(&item), sizeof(T));
    }
    template <class T>
    void array(const std::vector<T>& items) {
        align(4);
        if (!items.empty())
            bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
    }

    // All first bytes of the items, then all second bytes: slowly changing numbers then have long runs of zeros.
    template <class T>
    void planes(const std::vector<T>& items) {
        const std::size_t start = bytes_.size(), count = items.size();
        bytes_.resize(start + count * sizeof(T));
        for (std::size_t i = 0; i < count; ++i) {
            char raw[sizeof(T)];
            std::memcpy(raw, &items[i], sizeof(T));
            for (std::size_t k = 0; k < sizeof(T); ++k) bytes_[start + k * count + i] = raw[k];
        }
    }

    void align(std::size_t size) {
        while (bytes_.size() % size != 0) bytes_.push_back('\0');
    }
    std::size_t size() const { return bytes_.size(); }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

}  // namespace tenon::serve
