// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Written beside the file and renamed to it. A pipe or a device is written to directly: it must not be replaced.
// Throws InputError.
void write_whole_file(const std::string& file, std::string_view bytes);

}  // namespace tenon
