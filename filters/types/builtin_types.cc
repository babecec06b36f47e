#include "filters/types/builtin_types.h"

#include "filters/body_router.h"
#include "filters/credential_injector.h"
#include "filters/direct_response.h"
#include "filters/ext_proc/ext_proc.h"
#include "filters/external_auth/external_auth.h"
#include "filters/header_modifier.h"
#include "filters/in_process.h"
#include "filters/qos_controller.h"

namespace sluice::filters {

processing::BuiltinTypes builtinTypes() {
  return {bodyRouter(),   credentialInjector(), directResponse(), extProc(),
          externalAuth(), headerModifier(),     inProcess(),      qosController()};
}

}  // namespace sluice::filters
