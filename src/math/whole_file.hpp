// Files that are there whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Written beside the file (its folder is made when missing) and renamed to it. A pipe or a device is written to directly: it must not be replaced.
// Throws InputError.
void write_whole_file(const std::string& file, std::string_view bytes);

// The folder that a file is to be written to, made when it is missing. Where it cannot be made, opening the file says why.
std::string make_folder_of(const std::string& file);

}  // namespace tenon
