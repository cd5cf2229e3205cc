// The built page: a handful of files in share/tenon/viewer beside the program. `make view` builds them.
#pragma once

#include <map>
#include <string>

namespace tenon::serve {

struct PageFile {
    std::string type, bytes;
};

// By their names ("index.html", "viewer.js" ...), read once: nothing else on the disk can be asked for.
using PageFiles = std::map<std::string, PageFile>;

std::string page_folder();                                       // where this program looks
PageFiles load_page(const std::string& folder = page_folder());  // throws InputError that says how to get it

}  // namespace tenon::serve
