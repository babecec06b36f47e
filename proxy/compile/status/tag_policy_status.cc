#include "proxy/compile/status/tag_policy_status.h"

#include "config/model/tag_policy.h"
#include "proxy/compile/status/attached_policy_status.h"

namespace sluice::compile {

void tagPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  attachedPolicyStatuses<config::TagPolicy>(
      sources, {"nothing is set", "its targets cannot be read, so no requests are refused for it"},
      [&sources](const config::TagPolicy& policy, const config::ObjectMeta*, const std::optional<Fault>& why) {
        Conditions conditions(policy.meta);
        conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)));
        return conditions.take();
      },
      statuses);
}

}  // namespace sluice::compile
