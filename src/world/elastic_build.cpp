#include "world/elastic_build.hpp"

#include "tenon/error.hpp"

namespace tenon {

void build_elastic_bodies(World&, const Scene& scene) {
    if (!scene.elastic.empty())
        throw InputError(scene.file, "elastic[0]", "no method simulates elastic bodies",
                         "leave out \"elastic\"");
}

}  // namespace tenon
