// Reads BackendTrafficPolicies for tests, in either of their forms.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {

inline constexpr const char* kEnvoyTarget =
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]";

inline std::string backendTrafficText(const std::string& fields) {
  const bool hasTarget = fields.starts_with("target");
  return object("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "p",
                "spec: {" + (hasTarget ? "" : std::string(kEnvoyTarget) + ", ") + fields + "}\n");
}
inline Configuration loadBackendTraffic(const std::string& fields) { return loadText(backendTrafficText(fields)); }
inline TrafficPolicy backendTraffic(const std::string& fields) {
  const Configuration configuration = loadBackendTraffic(fields);
  EXPECT_THAT(rendered(configuration.problems), ::testing::IsEmpty()) << fields;
  EXPECT_THAT(configuration.model.all<TrafficPolicy>(), ::testing::SizeIs(1)) << fields;
  return configuration.model.all<TrafficPolicy>().at(0);
}
/// Returns the paths of the unsupported fields: with `closing`, only those that close the targets of the policy.
inline std::set<std::string> unsupportedIn(const TrafficPolicy& policy, bool closing = false) {
  std::set<std::string> paths;
  for (const UnsupportedField& each : policy.unsupported) {
    if (each.altersTraffic || !closing) paths.insert(each.path);
  }
  return paths;
}

}  // namespace sluice::config
