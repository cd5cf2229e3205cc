// The verbs of the command line: what each was asked, and the functions that do it. Each returns the exit code:
// 0 done, 1 the run or check failed; bad input is thrown as InputError and becomes 2.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::app {

// Which scene, and what to change in it.
struct SceneRequest {
    std::string scene;  // file or built-in name
    std::optional<std::string> method;
    std::optional<double> dt, seconds;
    std::vector<std::string> set;  // key=value
    int threads = 0;
};

struct RunRequest {
    SceneRequest scene;
    std::string output;  // empty: NAME.tenon
    bool no_record = false;
    std::string report;
    double fps = 60.0;
    int record_every = 0;
    std::string record;  // "path" keeps each accepted segment
    double checkpoint_every = 0.0;
    double checkpoint_wall = 30.0;
    bool allow_unconverged = false;
    std::string dump_failure;
    bool estimate_error = false;
    bool resume = false, replay = false;
    std::optional<double> from;  // s: start from the state that a run file has there
    bool quiet = false, json = false;
    std::string csv;
    std::vector<std::string> series;
};
int run_verb(const RunRequest& request);

struct ScenesRequest {
    std::string name;
    bool json = false;
};
int scenes_verb(const ScenesRequest& request);

struct CheckRequest {
    SceneRequest scene;
    bool json = false;
};
int check_verb(const CheckRequest& request);

struct VerifyRequest {
    std::string run, output;
    bool no_motion = false, strict = false, quiet = false, allow_unconverged = false;
    double joint_tolerance = 5e-7, momentum_tolerance = 1e-6, limit_tolerance = 1e-3;
    double penetration = -1.0;  // m; negative: the method's own allowance
    int threads = 0;
};
int verify_verb(const VerifyRequest& request);

struct DiffRequest {
    std::string first, second;
    bool json = false, quiet = false;
};
int diff_verb(const DiffRequest& request);

struct CompareRequest {
    SceneRequest scene;
    std::vector<std::string> methods;
    std::vector<std::string> vary;  // KEY=VALUE,VALUE: every combination is run
    std::string reference;          // run file that errors are measured against; empty: the finest step
    std::optional<double> within;   // m: larger errors are failures
    std::string output;             // HTML page; empty: NAME-compare.html
    bool json = false, quiet = false;
};
int compare_verb(const CompareRequest& request);

struct PlotRequest {
    std::string run;
    std::string output;               // .html or .svg; empty: beside the run
    std::vector<std::string> series;  // empty: energies, momenta, contacts, iterations, timings ...
    std::string csv;
    bool list = false;
    int pictures = 0;     // frames drawn at the top of an HTML page
    std::string verdict;  // JSON of `tenon verify`, shown in the page
};
int plot_verb(const PlotRequest& request);

struct RenderRequest {
    SceneRequest scene;  // or a run file
    std::string output;  // .png, .apng, .mp4
    std::string size;    // empty: by what is drawn
    std::string sheet;   // "3x3"
    std::optional<long> frame;
    std::optional<double> time;
    bool portrait = false;
    int every = 0;
    std::optional<double> fps, speed;  // of a film
    int colors = 0;                    // of a small PNG; 0: all
    bool forces = false, no_ground = false, state = false;
    std::optional<double> force_scale;
    std::map<std::string, std::vector<double>> camera;  // eye, target, fov
    std::optional<double> azimuth, elevation;
    bool quiet = false;
};
int render_verb(const RenderRequest& request);

struct ViewRequest {
    std::vector<std::string> runs;  // one or two run files, or one scene
    SceneRequest scene;             // changes to a scene
    std::string output;             // run file of a scene that is simulated; empty: none is kept
    std::string html;
    std::optional<double> max_size;  // MB
    int port = 0;
    bool no_open = false, quiet = false;
};
int view_verb(const ViewRequest& request);

struct ExportRequest {
    std::string run, output, format = "gltf";
    long first = 0, last = -1, every = 1;
    bool quiet = false;
};
int export_verb(const ExportRequest& request);

struct ImportRequest {
    std::string file, output, mesh_root, losses;
    std::string geometry = "collision";
    bool free_base = false;
};
int import_verb(const ImportRequest& request);

struct UntangleRequest {
    SceneRequest scene;
    std::string output;
    double margin = 0.0, pixel = 0.0;
    bool quiet = false, json = false;
};
int untangle_verb(const UntangleRequest& request);

struct SchemaRequest {
    std::string output;
};
int schema_verb(const SchemaRequest& request);

}  // namespace tenon::app
