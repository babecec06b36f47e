#include "proxy/compile/status/extension_policy_status.h"

#include "proxy/compile/status/attached_policy_status.h"
#include "proxy/compile/status/processor_status.h"

namespace sluice::compile {

void extensionPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  attachedPolicyStatuses<config::ExtensionPolicy>(
      sources, {"nothing is attached", "its targets cannot be read, so no requests are refused for it"},
      [&sources](const config::ExtensionPolicy& policy, const config::ObjectMeta*, std::string_view,
                 const std::optional<Fault>& why) { return processorConditions(policy.meta, why, sources); },
      statuses);
}

}  // namespace sluice::compile
