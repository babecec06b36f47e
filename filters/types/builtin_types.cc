#include "filters/types/builtin_types.h"

#include "filters/body_router.h"
#include "filters/connect_guard.h"
#include "filters/credential_injector.h"
#include "filters/direct_response.h"
#include "filters/ext_proc/ext_proc.h"
#include "filters/external_auth/external_auth.h"
#include "filters/header_modifier.h"
#include "filters/in_process.h"
#include "filters/library/library_engine.h"
#include "filters/lua/lua_engine.h"
#include "filters/qos_controller.h"

namespace sluice::filters {

processing::BuiltinTypes builtinTypes(const std::string& libraryDir) {
  processing::BuiltinTypes types{bodyRouter(), connectGuard(), credentialInjector(), directResponse(),
                                 extProc(),    externalAuth(), headerModifier(),     inProcess(),
                                 luaEngine(),  qosController()};
  if (!libraryDir.empty()) types.push_back(libraryEngine(libraryDir));
  return types;
}

}  // namespace sluice::filters
