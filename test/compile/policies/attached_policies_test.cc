// Tests which policy takes effect for an object or a section of it: by name, by labels, and by age.
#include "proxy/compile/ground/attached_policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load/load.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string policyOf(const std::string& name, const std::string& targets, const std::string& more = {},
                     const std::string& nameSpace = "default") {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: " + name +
         ", namespace: " + nameSpace + more + "}\nspec: {" + targets + ", timeouts: {request: 1s}}\n";
}
std::string targetGateway(const std::string& name, const std::string& more = {}) {
  return "{group: gateway.networking.k8s.io, kind: Gateway, name: " + name + more + "}";
}

/// The policies in a text, and the objects that they may target.
struct Attached {
  explicit Attached(const std::string& text)
      : configuration(config::loadText(text, "t")), policies(configuration.model) {}
  std::string counting(const std::string& name, const std::string& section = {}) const {
    const auto* found = policies.find(objectOfName(name), config::PolicySection{section});
    return found == nullptr ? "" : found->policy->meta.name;
  }
  std::vector<std::string> targeting(const std::string& name, const std::string& section = {}) const {
    std::vector<std::string> names;
    for (const auto* each : policies.targeting(objectOfName(name), config::PolicySection{section})) {
      names.push_back(each->policy->meta.name);
    }
    return names;
  }
  static config::ObjectMeta objectOfName(const std::string& name) {
    config::ObjectMeta meta;
    meta.group = config::kGatewayGroup;
    meta.kind = config::Gateway::kKind;
    meta.nameSpace = "default";
    meta.name = name;
    meta.labels = {{"team", "a"}};
    return meta;
  }

  config::Configuration configuration;
  AttachedPolicies<config::TrafficPolicy> policies;
};

TEST(AttachedPolicies, CountByAgeAndThenByName) {
  const Attached all(
      policyOf("c", "targetRefs: [" + targetGateway("g") + "]", ", creationTimestamp: '2020-01-01T00:00:00Z'") +
      policyOf("b", "targetRefs: [" + targetGateway("g") + "]") +
      policyOf("a", "targetRefs: [" + targetGateway("other") + ", " + targetGateway("g") + "]") +
      policyOf("z", "targetRefs: [" + targetGateway("g") + "]", "", "elsewhere"));
  EXPECT_EQ(all.counting("g"), "c");
  EXPECT_EQ(all.counting("other"), "a");
  EXPECT_EQ(all.counting("none"), "");
  EXPECT_THAT(all.targeting("g"), ElementsAre("c", "a", "b"));
  EXPECT_THAT(all.targeting("none"), IsEmpty());
  EXPECT_TRUE(all.policies.concern(Attached::objectOfName("g")));
  EXPECT_FALSE(all.policies.concern(Attached::objectOfName("none")));
}

TEST(AttachedPolicies, CountForASectionBeforeThoseForTheWholeObject) {
  const Attached all(policyOf("a", "targetRefs: [" + targetGateway("g") + "]") +
                     policyOf("b", "targetRefs: [" + targetGateway("g", ", sectionName: web") + "]"));
  EXPECT_EQ(all.counting("g"), "a");
  EXPECT_EQ(all.counting("g", "web"), "b");
  EXPECT_EQ(all.counting("g", "more"), "a");
  EXPECT_THAT(all.targeting("g"), ElementsAre("a"));
  EXPECT_THAT(all.targeting("g", "web"), ElementsAre("a", "b"));
}

TEST(AttachedPolicies, SelectObjectsByLabelsInTheSameOrder) {
  const std::string selector =
      "targetSelectors: [{group: gateway.networking.k8s.io, kind: Gateway, matchLabels: {team: a}}]";
  const auto all = [&](const std::string& named, const std::string& selecting) {
    return Attached(
        "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: " + selecting +
        ", namespace: default}\nspec: {" + selector + ", timeout: {tcp: {connectTimeout: 1s}}}\n" +
        policyOf(named, "targetRefs: [" + targetGateway("g") + "]"));
  };
  EXPECT_EQ(all("b", "a").counting("g"), "a");
  EXPECT_EQ(all("a", "b").counting("g"), "a");
  EXPECT_EQ(all("b", "a").counting("other"), "a");
  EXPECT_TRUE(all("b", "a").policies.concern(Attached::objectOfName("other")));
}

TEST(AttachedPolicies, CountAsFarAsARefusedOneIsLegible) {
  const Attached all(policyOf("a", "surprise: 1, targetRefs: [" + targetGateway("g") + "]"));
  ASSERT_EQ(all.counting("g"), "a");
  EXPECT_NE(all.policies.find(Attached::objectOfName("g"), {})->rejected, nullptr);
}

}  // namespace
}  // namespace sluice::compile
