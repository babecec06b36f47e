// TrafficPolicies for tests of their reader.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {

inline constexpr const char* kTrafficTarget =
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r, sectionName: chat}]";

inline Configuration loadTraffic(const std::string& spec) {
  return loadText(object("sluice.dev/v1alpha1", "TrafficPolicy", "p", "spec: {" + spec + "}\n"));
}
inline TrafficPolicy trafficWith(const std::string& fields) {
  const Configuration configuration = loadTraffic(std::string(kTrafficTarget) + ", " + fields);
  EXPECT_THAT(rendered(configuration.problems), ::testing::IsEmpty());
  return configuration.model.all<TrafficPolicy>().at(0);
}

}  // namespace sluice::config
