// Everything a C++ user of Tenon needs.
#pragma once

#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/method.hpp"
#include "tenon/scene.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/shapes.hpp"
#include "tenon/simulation.hpp"
#include "tenon/state.hpp"
