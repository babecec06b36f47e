// Makes EgressPolicies for tests, as YAML.
#pragma once

#include <string>

namespace sluice::test {

/// The target "Gateway egress" of the tests, the HTTPRoute "all", and a rule or a listener of these.
inline const std::string kGatewayTarget = "{group: gateway.networking.k8s.io, kind: Gateway, name: egress}";
inline const std::string kRouteTarget = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}";

/// Returns a policy as a document of its own. `spec` has the other members of its spec: "rules: [...]".
inline std::string egressPolicy(const std::string& name, const std::string& target, const std::string& spec,
                                const std::string& nameSpace = "test") {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {namespace: " + nameSpace +
         ", name: " + name + "}\nspec: {targetRefs: [" + target + "], " + spec + "}\n";
}
/// Returns a rule, in the form of an element of a list; `what` has its other members.
inline std::string allowing(const std::string& name, const std::string& what) {
  return "{name: " + name + (what.empty() ? "" : ", ") + what + "}";
}
inline std::string denying(const std::string& name, const std::string& what) {
  return "{name: " + name + ", action: Deny" + (what.empty() ? "" : ", ") + what + "}";
}

/// Returns the series of decisions of a policy of the tests.
inline std::string decisionsOf(const std::string& policy, const std::string& rule, const std::string& decision,
                               const std::string& nameSpace = "test") {
  return "sluice_egress_decisions_total{policy=\"" + nameSpace + "/" + policy + "\",rule=\"" + rule + "\",decision=\"" +
         decision + "\"}";
}

}  // namespace sluice::test
