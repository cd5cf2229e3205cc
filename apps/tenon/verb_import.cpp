// `tenon import` and `tenon schema`: scenes from elsewhere, and what a scene may say.
#include <iostream>

#include "apps/tenon/common.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {

int import_verb(const ImportRequest& request) {
    ImportOptions options;
    options.mesh_root = request.mesh_root;
    options.visual_geometry = request.geometry == "visual";
    options.free_base = request.free_base;
    const ImportedScene imported = import_scene(request.file, options);
    write_scene_file(request.output, imported.scene);
    if (!request.losses.empty()) write_text(request.losses, losses_json(imported.losses) + "\n");
    if (!imported.losses.empty())
        std::cerr << shown(request.file) << ": " << imported.losses.size()
                  << " elements are not in the scene as they are in the file\n"
                  << losses_text(imported.losses);
    return 0;
}

int schema_verb(const SchemaRequest& request) {
    write_text(request.output, scene_schema() + "\n");
    return 0;
}

}  // namespace tenon::app
