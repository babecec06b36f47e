// Policies for Backend traffic in each of their kinds and forms, for tests that check one field in all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/route.h"

namespace sluice::test {

/// The kind of a policy, with its fields in flow style.
struct SpelledPolicy {
  const char* apiVersion;
  const char* kind;
  std::string fields;

  /// Returns the policy; `targets` is the field with its targets.
  std::string named(const std::string& name, const std::string& targets) const {
    return "---\napiVersion: " + std::string(apiVersion) + "\nkind: " + kind +
           "\nmetadata: {namespace: test, name: " + name + "}\nspec: {" + targets + ", " + fields + "}\n";
  }
  /// Returns the policy for the target of that kind and name, such as "kind: HTTPRoute, name: all".
  std::string forTarget(const std::string& kindAndName, const std::string& name = "spelled") const {
    return named(name, "targetRefs: [{group: gateway.networking.k8s.io, " + kindAndName + "}]");
  }
};

inline SpelledPolicy ownFields(const std::string& fields) { return {"sluice.dev/v1alpha1", "TrafficPolicy", fields}; }
/// A BackendTrafficPolicy; its fields decide which of its two forms it has.
inline SpelledPolicy envoyFields(const std::string& fields) {
  return {"gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", fields};
}
/// Fields that TrafficPolicy and Envoy Gateway share come in both kinds.
inline std::vector<SpelledPolicy> bothKinds(const std::string& shared) {
  return {ownFields(shared), envoyFields(shared)};
}
/// The same, beside those of the proposal.
inline std::vector<SpelledPolicy> everySpelling(const std::string& shared, const std::string& proposed) {
  return {ownFields(shared), envoyFields(shared), envoyFields(proposed)};
}

/// Returns a gateway that sends everything to this port; `rule` are further members of its one rule, as lines.
inline GatewaySpec governedSpec(std::uint16_t port, const std::string& policy, const std::string& rule = {}) {
  GatewaySpec spec;
  spec.backends = {{.port = port}};
  spec.settings = onlyTimeouts("connect: 24h");
  spec.routes = routeOfRules("    - " + backendRefs().substr(6) + rule) + policy;
  return spec;
}

}  // namespace sluice::test
