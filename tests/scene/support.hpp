// What the scene tests share: a folder of their own, and a look at the error of bad input.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/error.hpp"

namespace tenon::test {

// A fresh folder that goes away with the object.
class Folder {
  public:
    Folder() {
        static int count = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("tenon-scene-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(path_);
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string path(const std::string& name = {}) const { return (path_ / name).string(); }
    std::string write(const std::string& name, std::string_view text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }

  private:
    std::filesystem::path path_;
};

// The error that `action` throws; a test failure when it throws none.
template <class Action>
InputError input_error(Action action) {
    try {
        action();
    } catch (const InputError& error) {
        return error;
    }
    ADD_FAILURE() << "no InputError was thrown";
    return InputError("", "", "none");
}

inline std::string cube_obj() {
    return "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
           "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 "
           "5\nf 4 5 8\n";
}

// One tetrahedron, in Gmsh's format 4.1.
inline std::string tetrahedron_msh() {
    return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 "
           "0\n0 0 "
           "1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";
}

}  // namespace tenon::test
