// Reads Envoy Gateway's BackendTrafficPolicy. Its fields show which of the two forms it has.
#include <algorithm>
#include <memory>
#include <string>

#include "config/read/object_readers.h"
#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

/// Returns the first of the fields that is present; empty if none is.
std::string_view firstPresent(FieldReader& spec, std::span<const std::string_view> fields) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](std::string_view each) { return spec.has(each); });
  return found == fields.end() ? std::string_view() : *found;
}

}  // namespace

void readBackendTrafficPolicy(FieldReader& spec, TrafficPolicy& policy) {
  if (spec.given()) readPolicyTargets(spec, policy);
  checkEnvoyTargets(spec, policy);
  const std::string_view shipped = firstPresent(spec, shippedTrafficFields());
  const std::string_view proposed = firstPresent(spec, proposedTrafficFields());
  if (!shipped.empty() && !proposed.empty()) {
    spec.error("must not mix the two forms of this kind: " + std::string(shipped) +
               " is a field of Envoy Gateway's, and " + std::string(proposed) + " one of the proposal's");
    spec.ignoreOthers();
  } else if (!proposed.empty() || (shipped.empty() && spec.map("dns").has("type"))) {
    readProposedTraffic(spec, policy);
  } else {
    readShippedTraffic(spec, policy);
    if (spec.value() != nullptr) policy.shipped = std::make_shared<const Value>(*spec.value());
  }
}

}  // namespace sluice::config
