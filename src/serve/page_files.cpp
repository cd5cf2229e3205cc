#include "serve/page_files.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

constexpr std::array<std::array<const char*, 2>, 4> known_files = {
    {{"index.html", "text/html; charset=utf-8"},
     {"viewer.js", "text/javascript; charset=utf-8"},
     {"viewer.css", "text/css; charset=utf-8"},
     {"favicon.svg", "image/svg+xml"}}};

}  // namespace

// bin/tenon and share/tenon/viewer lie beside each other, in the build folder as where it is installed.
std::string page_folder() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return "share/tenon/viewer";
    return (program.parent_path().parent_path() / "share" / "tenon" / "viewer").string();
}

PageFiles load_page(const std::string& folder) {
    PageFiles files;
    for (const auto& [name, type] : known_files) {
        std::ifstream in(std::filesystem::path(folder) / name, std::ios::binary);
        std::ostringstream bytes;
        bytes << in.rdbuf();
        if (!in.is_open() || bytes.str().empty())
            throw InputError(folder, name, "the viewer's page is not built",
                             "'make view' in Tenon's source folder builds it (it needs Node 18 or newer)");
        files[name] = {type, std::move(bytes).str()};
    }
    return files;
}

}  // namespace tenon::serve
