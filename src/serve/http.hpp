// httplib, without the macro `_res` that the resolver's header brings along and that Eigen's sources trip over.
#pragma once

#include <httplib.h>

#undef _res
