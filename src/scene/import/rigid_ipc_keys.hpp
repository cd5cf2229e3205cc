// The keys of rigid-ipc's scene files.
#pragma once

#include "scene/keys.hpp"

namespace tenon::scene {

const ObjectInfo& rigid_ipc_keys();

}  // namespace tenon::scene
