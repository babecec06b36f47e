// The processor types and engines that are compiled in; main hands them down.
#pragma once

#include <string>

#include "proxy/processing/factory.h"

namespace sluice::filters {

/// `libraryDir` is the folder of libraries; without one, there is no engine for them.
processing::BuiltinTypes builtinTypes(const std::string& libraryDir = {});

}  // namespace sluice::filters
