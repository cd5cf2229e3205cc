// One run file as the viewer sees it: opened once, followed while it grows, opened anew when another takes its place.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "render/model.hpp"
#include "run/run_file.hpp"
#include "run/sqlite.hpp"

namespace tenon::serve {

// What of an elastic solid is drawn: its surface alone, renumbered.
struct ElasticSurface {
    std::vector<int> vertices;  // of the drawn vertices, those that a triangle uses
    std::vector<Triangle> triangles;
    std::vector<int> tet;  // of each triangle; -1 unknown
};

// Vertex and index buffers of all shapes.
struct Geometry {
    std::string bytes;
    std::vector<std::size_t> vertices;  // of each shape: a vertex for each of its normals
};

// A run file held open. Its reader and its database belong to whoever holds the mutex.
struct OpenRun {
    OpenRun(const std::string& file, long generation_number);  // throws InputError

    long generation = 0;
    mutable std::mutex mutex;
    run::RunReader reader;
    run::Database database;  // for questions that need not read whole frames
    render::Drawing drawn;
    std::vector<ElasticSurface> surfaces;
    Box3 interest;         // where the motion is
    double quantum = 1.0;  // m; positions are sent in multiples of it
    Geometry geometry;
    std::string model_json;

    long bytes_per_frame() const;  // of an encoded chunk, about
    int chunk_frames() const;      // how many frames make a piece of a few megabytes
    std::vector<double> times(long first, long limit) const;  // of frames; holds the mutex itself
};

struct Growth {
    long generation = 0, frames = 0;
    double time = 0.0;           // of the newest frame
    std::string status, method;  // running, done, stopped, failed; gone when the file was removed
    std::string problem;         // why the file cannot be read now; what was open before stays open
};

class RunStore {
  public:
    explicit RunStore(std::string file);  // throws InputError

    const std::string& file() const { return file_; }
    Growth look();  // cheap; notices growth and replacement
    std::shared_ptr<const OpenRun> open() const;

  private:
    struct Identity {
        unsigned long device = 0, inode = 0;
        bool operator==(const Identity&) const = default;
    };
    static bool identify(const std::string& file, Identity& identity);

    std::string file_;
    mutable std::mutex mutex_;
    Identity identity_;
    std::string problem_;
    std::shared_ptr<const OpenRun> run_;
};

}  // namespace tenon::serve
