#include "math/whole_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "tenon/error.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
  protected:
    WholeFile() : folder_(fs::temp_directory_path() / ("tenon-whole-" + std::to_string(::getpid()))) {
        fs::create_directories(folder_);
    }
    ~WholeFile() override { fs::remove_all(folder_); }
    std::string path(const char* name) const { return (folder_ / name).string(); }
    static std::string slurp(const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return std::move(text).str();
    }
    fs::path folder_;
};

TEST_F(WholeFile, ReplacesWhatWasThereAndLeavesNothingElse) {
    write_whole_file(path("a"), "first, and longer");
    write_whole_file(path("a"), std::string_view("sec\0nd", 6));
    EXPECT_EQ(slurp(path("a")), std::string("sec\0nd", 6));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

// A device or a pipe stays what it is: replaced by a plain file, /dev/null would be lost to the whole machine.
TEST_F(WholeFile, WritesToAPipeInsteadOfReplacingIt) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    std::string read;
    std::thread reader([&] { read = slurp(path("pipe")); });
    write_whole_file(path("pipe"), "through");
    reader.join();
    EXPECT_EQ(read, "through");
    EXPECT_TRUE(fs::is_fifo(path("pipe")));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(WholeFile, RefusesFoldersByName) {
    EXPECT_THROW(write_whole_file(folder_.string(), "x"), InputError);
    EXPECT_THROW(write_whole_file("/proc/none/a", "x"), InputError);
    EXPECT_TRUE(fs::is_empty(folder_));
    write_whole_file(path("new/folder/a"), "x");  // made where it can be
    EXPECT_EQ(slurp(path("new/folder/a")), "x");
}

}  // namespace
}  // namespace tenon
