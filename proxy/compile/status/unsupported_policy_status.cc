#include "proxy/compile/status/unsupported_policy_status.h"

#include "proxy/compile/status/restricting_policy_status.h"

namespace sluice::compile {

void unsupportedPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  restrictingPolicyStatuses<config::UnsupportedPolicy>(
      sources,
      [](const config::UnsupportedPolicy& policy, const config::ObjectMeta*, std::string_view) {
        return std::optional(fault(config::reason::kInvalid, policy.note.field, policy.note.message));
      },
      statuses);
}

}  // namespace sluice::compile
