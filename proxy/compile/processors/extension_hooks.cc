#include "proxy/compile/processors/extension_hooks.h"

#include <algorithm>
#include <utility>

#include "config/read/processors/extension_manager.h"

namespace sluice::compile {

CompiledUses toldOfHooks(CompiledUses hooks) {
  hooks.forgetOpen();
  for (RefusedUse& each : hooks.refused) {
    const std::string reason = each.fault.reason;
    each.fault = summary(reason, each.fault.field, "the hook cannot run (" + reason + "); the GatewayClass says why");
  }
  return hooks;
}

std::shared_ptr<const ExtensionHooks> compileHooks(const config::Model& model, const ProcessorCompiler& processors,
                                                   std::shared_ptr<const ExtensionHooks> before) {
  ExtensionHooks hooks;
  // The Backends of these requests are not known yet, so the requests are assumed to be exposed.
  const Holder holder{config::kGatewayGroup, config::GatewayClass::kKind, {}};
  for (config::ScopedUse& each : config::usesOf(model.settings.extensionManagers)) {
    const bool ofRoutes = each.scope == base::HookScope::kRoute;
    const auto scope = ofRoutes ? processing::Scope::kRoute : processing::Scope::kGateway;
    const UsesOf of{holder, model.gatewayClassName, scope, Exposure::kSome};
    (ofRoutes ? hooks.ofRoutes : hooks.ofListeners).append(processors.compile({std::move(each.use)}, of));
  }
  if (before != nullptr && *before == hooks) return before;
  return std::make_shared<const ExtensionHooks>(std::move(hooks));
}

}  // namespace sluice::compile
