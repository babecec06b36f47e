#include "proxy/compile/status/egress_policy_status.h"

#include "config/model/egress_policy.h"
#include "proxy/compile/policies/egress_policies.h"
#include "proxy/compile/status/attached_policy_status.h"

namespace sluice::compile {

void egressPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  attachedPolicyStatuses<config::EgressPolicy>(
      sources, {"nothing is restricted", "its targets cannot be read, so no requests are refused for it"},
      [&sources](const config::EgressPolicy& policy, const config::ObjectMeta*, const std::optional<Fault>& unfound) {
        std::optional<Fault> why = unfound;
        if (!why) why = faultOfEgressPolicy(policy);
        Conditions conditions(policy.meta);
        conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)),
                         ignoredNotes(policy.unsupported));
        return conditions.take();
      },
      statuses);
}

}  // namespace sluice::compile
