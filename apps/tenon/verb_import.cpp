// `tenon import` and `tenon schema`: scenes from elsewhere, and what a scene may say.
#include <iostream>

#include "apps/tenon/common.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {

int import_verb(const ImportRequest& request) {
    std::vector<std::string> warnings;
    const Scene scene = import_rigid_ipc(request.file, request.mesh_root, &warnings);
    write_scene_file(request.output, scene);
    for (const std::string& warning : warnings)
        std::cerr << "warning: " << shown(request.file + ": " + warning) << "\n";
    return 0;
}

int schema_verb(const SchemaRequest& request) {
    write_text(request.output, scene_schema() + "\n");
    return 0;
}

}  // namespace tenon::app
