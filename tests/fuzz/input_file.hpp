// What targets share: the input as a file, and what counts as refused.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tenon/error.hpp"

namespace tenon::fuzz {

// A file with the input's bytes, in a folder of its own.
class InputFile {
  public:
    InputFile(std::string_view bytes, const std::string& ending) {
        static const std::string folder = [] {
            std::string name = (std::filesystem::temp_directory_path() / "tenon-fuzz-XXXXXX").string();
            if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
            return name;
        }();
        name_ = folder + "/input" + ending;
        std::ofstream(name_, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    ~InputFile() {
        for (const char* ending : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(name_ + ending);
    }
    const std::string& name() const { return name_; }

  private:
    std::string name_;
};

template <void (*read)(std::string_view)>
void guarded(std::string_view bytes) {
    try {
        read(bytes);
    } catch (const InputError& error) {
        if (error.problem().empty()) throw std::logic_error("an error that says nothing");
        if (error.file() == "again.json")
            throw std::logic_error(std::string("written, not read: ") + error.what());
    }
}

}  // namespace tenon::fuzz
