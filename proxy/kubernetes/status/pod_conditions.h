// The conditions of a Gateway about the Pods that the controller runs for it: whether all is made and gets on
// (`sluice.dev/Provisioned`), how many Pods serve (`sluice.dev/Available`), and `Programmed`, which is False while none
// does.
//
// A pure function.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/kubernetes/provision/rollout_state.h"

namespace sluice::kubernetes {

/// The reason of `sluice.dev/Provisioned`, and of an event: Pods cannot be made, or do not start.
inline constexpr std::string_view kPodsFailing = "PodsFailing";
/// The reason of `sluice.dev/Available`: fewer Pods serve than there should be.
inline constexpr std::string_view kPodsMissing = "PodsMissing";
/// Gateway API's reason of Programmed for a Gateway without infrastructure.
inline constexpr std::string_view kNoResources = "NoResources";

/// Returns `provisioned`, the condition of the objects that Pods are made of, with the fault of the Pods if there is no
/// other one.
config::Condition withFaultOf(const RolloutState& pods, config::Condition provisioned);

/// Returns the condition Available of a Gateway, and its condition Programmed if that changes. `conditions` are those
/// of its compiled status. `pods` is nullopt as long as they are not known.
std::vector<config::Condition> podConditions(const std::vector<config::Condition>& conditions,
                                             const std::optional<RolloutState>& pods);

}  // namespace sluice::kubernetes
