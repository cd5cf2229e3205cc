// Corpus and findings through the same targets as the fuzzers, and a short deterministic mutation of the seeds.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "fuzz/targets.hpp"

namespace tenon::fuzz {
namespace {

constexpr double longest_seconds = 10.0;  // for one input, also under a sanitizer on a busy machine

std::string bytes_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return std::move(text).str();
}

void expect_sound(const Target& target, const std::string& input, const std::string& what) {
    const auto start = std::chrono::steady_clock::now();
    try {
        target.run(input);
    } catch (const std::exception& error) {
        ADD_FAILURE() << target.name << ", " << what << ": " << error.what();
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(seconds, longest_seconds) << target.name << ", " << what;
}

std::string mutated(std::string text, const Target& target, std::mt19937& random) {
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < changes && !text.empty(); ++k) {
        const std::size_t at = random() % text.size();
        switch (random() % 6) {
            case 0:
                text[at] = static_cast<char>(random());
                break;
            case 1:
                text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
                break;
            case 2:
                text.erase(at, 1 + random() % 16);
                break;
            case 3:
                text.insert(at, target.words[random() % target.words.size()]);
                break;
            case 4:
                text.insert(at, text.substr(random() % text.size(), random() % 64));
                break;
            default:
                text[at] = "\xff\x7f\x80\x00\x01"[random() % 5];
                break;
        }
    }
    return text.substr(0, target.longest);
}

std::vector<Target> all_targets() {
    std::vector<Target> all = mesh_targets();
    all.insert(all.end(), reader_targets().begin(), reader_targets().end());
    all.insert(all.end(), program_targets().begin(), program_targets().end());
    return all;
}

Target target_named(const std::string& name) {
    const std::vector<Target> all = all_targets();
    return *find_target(all, name);
}

std::vector<std::string> seeds(const Target& target) {
    if (find_target(mesh_targets(), target.name)) return mesh_seeds(target);
    return find_target(program_targets(), target.name) ? program_seeds(target) : reader_seeds(target);
}

// What a round costs: files of SQLite, steps and connections take longer than text.
int default_rounds(const std::string& name) {
    return name == "run_file" ? 300 : name == "checkpoint" || name == "http" ? 100 : 2000;
}

class Readers : public testing::TestWithParam<std::string> {};

TEST_P(Readers, SeedsCorpusAndFindings) {
    const Target target = target_named(GetParam());
    for (const std::string& seed : seeds(target)) expect_sound(target, seed, "seed");
    for (const char* kind : {"corpus", "findings"}) {
        const std::filesystem::path folder =
            std::filesystem::path(TENON_SOURCE_DIR) / "tests/fuzz" / kind / target.name;
        if (!std::filesystem::exists(folder)) continue;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            expect_sound(target, bytes_of(entry.path()), entry.path().filename().string());
    }
}

TEST_P(Readers, MutatedSeeds) {
    const Target target = target_named(GetParam());
    const char* asked = std::getenv("TENON_FUZZ_ROUNDS");
    const int rounds = asked ? std::atoi(asked) : default_rounds(GetParam());
    std::mt19937 random(20240607);
    const std::vector<std::string> start = seeds(target);
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
        const std::string input = mutated(start[random() % start.size()], target, random);
        expect_sound(target, input, "round " + std::to_string(i));
        if (HasFailure()) {
            const std::string file = testing::TempDir() + "tenon-finding-" + target.name;
            std::ofstream(file, std::ios::binary) << input;
            std::cerr << "written to " << file << "\n";
        }
    }
}

// One element taken out of a list, or put in twice, with its count told right: all that is left to notice is that the scene asks
// for another number. Under a sanitizer, which places are read afterwards.
TEST(Checkpoints, ListsOfAnotherLength) {
    const Target target = target_named("checkpoint");
    const auto number_at = [](const std::string& bytes, std::size_t at) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    for (const std::string& seed : seeds(target)) {
        // What the method remembers comes last, as one list of bytes.
        std::size_t memory = 1;
        while (memory + 8 < seed.size() && memory + 8 + number_at(seed, memory) != seed.size()) ++memory;
        ASSERT_LT(memory + 8, seed.size());
        for (std::size_t at = memory + 8; at + 8 <= seed.size(); ++at) {
            const std::uint64_t count = number_at(seed, at);
            if (count == 0 || count > 64) continue;
            for (const std::size_t element : {1, 4, 8, 24, 48, 72, 96}) {
                const std::size_t first = at + 8;
                if (first + count * element > seed.size()) continue;
                for (const bool more : {false, true}) {
                    std::string input = seed;
                    if (more)
                        input.insert(first, seed.substr(first, element));
                    else
                        input.erase(first, element);
                    const std::uint64_t told = more ? count + 1 : count - 1;
                    const std::uint64_t bytes = input.size() - memory - 8;
                    std::memcpy(input.data() + at, &told, sizeof told);
                    std::memcpy(input.data() + memory, &bytes, sizeof bytes);
                    expect_sound(target, input, "list at " + std::to_string(at));
                }
            }
        }
    }
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Target& target : all_targets()) all.emplace_back(target.name);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Readers, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tenon::fuzz
