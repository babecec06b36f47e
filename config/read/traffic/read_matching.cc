// Reads which parts of a request do not count when its route is looked for, and the header fields for other programs.
// TrafficPolicy and the proposal for BackendTrafficPolicy spell both alike.
#include <algorithm>

#include "config/read/object_kinds.h"
#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {

void readMatching(FieldReader& reader, base::RequestMatching& matching) {
  // Gateway API matches hostnames without the port in any case.
  reader.boolean("ignoreAuthorityPort", true);
  reader.read("stripAuthorityPort", matching.stripAuthorityPort);
  reader.read("ignorePathParameters", matching.ignorePathParameters);
}

void readIntegrations(FieldReader& reader, IntegrationFields& integrations) {
  reader.read("addLinkerdHeaders", integrations.addLinkerdHeaders);
}

bool matchesTooLate(const TrafficPolicy& policy) {
  if (!policy.matching || !policy.matching->any()) return false;
  const auto isGateway = [](const auto& named) {
    const PolicyTargetKind kind = named.targetKind();
    return !kind.legible() || isKindOf<Gateway>(kind.group, kind.kind);
  };
  return !std::all_of(policy.targets.begin(), policy.targets.end(), isGateway) ||
         !std::all_of(policy.selectors.begin(), policy.selectors.end(), isGateway);
}

}  // namespace sluice::config
