#include "filters/builtin_types.h"

#include "filters/credential_injector.h"
#include "filters/header_modifier.h"

namespace sluice::filters {

processing::BuiltinTypes builtinTypes() { return {credentialInjector(), headerModifier()}; }

}  // namespace sluice::filters
