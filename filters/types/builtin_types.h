// The processor types that are compiled in; main hands them down.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinTypes builtinTypes();

}  // namespace sluice::filters
