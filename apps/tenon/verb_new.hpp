// What `tenon new` was asked, and the function that does it.
#pragma once

#include <string>

namespace tenon::app {

struct NewRequest {
    std::string name;  // of the scene, or the file to write
    std::string from;  // a built-in scene or a scene file; empty: a small commented scene
    bool quiet = false;
};
int new_verb(const NewRequest& request);

}  // namespace tenon::app
