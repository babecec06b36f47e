#include "filters/builtin_types.h"

#include "filters/header_modifier.h"

namespace sluice::filters {

processing::BuiltinTypes builtinTypes() { return {headerModifier()}; }

}  // namespace sluice::filters
