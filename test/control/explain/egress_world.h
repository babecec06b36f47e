// Configurations with EgressPolicies, as users write them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/control/explain/explain_world.h"

namespace sluice::control::test {

/// Returns the policy default/NAME; `spec` has the members of its spec but targetRefs.
inline std::string policyOf(const std::string& target, const std::string& name, const std::string& spec) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: " + name +
         "}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, " + target + "}], " + spec + "}\n";
}
inline std::string policyOfGateway(const std::string& name, const std::string& spec) {
  return policyOf("kind: Gateway, name: egress", name, spec);
}
inline std::string policyOfRoute(const std::string& name, const std::string& spec) {
  return policyOf("kind: HTTPRoute, name: route", name, spec);
}
/// Returns a policy of the Gateway that allows what its only rule gives.
inline std::string policyAllowing(const std::string& rule, const std::string& given) {
  return policyOfGateway("p", "rules: [{name: " + rule + ", " + given + "}]");
}

/// Returns the configuration of these documents and policies.
inline World worldOf(std::vector<std::string_view> documents, const std::vector<std::string>& policies) {
  documents.insert(documents.end(), policies.begin(), policies.end());
  return World(documents);
}
/// Returns the usual configuration with these policies.
inline World worldWith(const std::vector<std::string>& policies) {
  return worldOf({kClass, kGateway, kBackend, kRoute}, policies);
}

}  // namespace sluice::control::test
