// What the fuzzers feed: every reader of files, by name. A target returns when its input was read or refused with an
// InputError; anything else (another exception, a crash, a value that is not finite) is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::fuzz {

struct Target {
    const char* name;
    void (*run)(std::string_view bytes);
    std::size_t longest;             // inputs of more bytes teach nothing new
    std::vector<std::string> words;  // dictionary
};

// Meshes need a few files of src/geometry; scenes, robots and run files the library; checkpoints and requests the program.
const std::vector<Target>& mesh_targets();
const std::vector<Target>& reader_targets();
const std::vector<Target>& program_targets();
const Target* find_target(const std::vector<Target>& targets, std::string_view name);

// A few valid inputs to start from.
std::vector<std::string> mesh_seeds(const Target& target);
std::vector<std::string> reader_seeds(const Target& target);
std::vector<std::string> program_seeds(const Target& target);

}  // namespace tenon::fuzz
