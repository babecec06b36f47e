// Compares the EgressPolicies of two configurations, and their verdicts as far as the objects tell: about the static
// Backends of rules, for requests whose client, method and path are not known.
#pragma once

#include <cstddef>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/report/configuration_change.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

inline constexpr std::size_t kMostVerdictChanges = 50;

/// Adds what changes in each policy, and each of its rules that is added, removed or changed.
void addPolicyChanges(const config::Model& before, const config::Model& after,
                      std::vector<ConfigurationChange>& changes);

/// Adds the Backends of rules that both configurations have and that policies judge differently: at most
/// kMostVerdictChanges, and then the number of the others.
void addVerdictChanges(const routing::Snapshot& before, const routing::Snapshot& after,
                       std::vector<ConfigurationChange>& changes);

}  // namespace sluice::control
