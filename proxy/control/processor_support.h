// What the payload processors of this program are, in the words of config/, which does not see them.
#pragma once

#include "config/catalog/catalog.h"
#include "proxy/processing/factory.h"

namespace sluice::control {

/// Texts are those of `types`.
config::ProcessorSupport supportOf(const processing::BuiltinTypes& types);

}  // namespace sluice::control
