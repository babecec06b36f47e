// Describes the payload processors of this program with the types of config/, because config/ does not include
// processors.
#pragma once

#include "config/catalog/catalog.h"
#include "proxy/processing/factory.h"

namespace sluice::compile {

/// The texts belong to `types`.
config::ProcessorSupport supportOf(const processing::BuiltinTypes& types);

}  // namespace sluice::compile
