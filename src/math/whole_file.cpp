#include "math/whole_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tenon/error.hpp"

namespace tenon {

std::string make_folder_of(const std::string& file) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    if (folder.empty()) return ".";
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    return folder;
}

void write_whole_file(const std::string& file, std::string_view bytes) {
    struct stat info {};
    const bool exists = ::stat(file.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) throw InputError(file, "", "is a directory", "name a file");
    if (!exists) make_folder_of(file);
    const bool direct = exists && !S_ISREG(info.st_mode);
    const std::string target = direct ? file : file + ".partial";
    std::FILE* out = std::fopen(target.c_str(), "wb");
    if (!out)
        throw InputError(file, "", std::string("cannot be written: ") + std::strerror(errno),
                         "choose a folder that may be written to");
    bool good = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
    good = std::fclose(out) == 0 && good;
    if (good && (direct || std::rename(target.c_str(), file.c_str()) == 0)) return;
    const std::string reason = std::strerror(errno);
    if (!direct) std::remove(target.c_str());
    throw InputError(file, "", "cannot be written: " + reason, "check the space left and the path");
}

}  // namespace tenon
