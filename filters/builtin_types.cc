#include "filters/builtin_types.h"

#include "filters/body_router.h"
#include "filters/credential_injector.h"
#include "filters/direct_response.h"
#include "filters/header_modifier.h"
#include "filters/in_process.h"
#include "filters/qos_controller.h"

namespace sluice::filters {

processing::BuiltinTypes builtinTypes() {
  return {bodyRouter(), credentialInjector(), directResponse(), headerModifier(), inProcess(), qosController()};
}

}  // namespace sluice::filters
