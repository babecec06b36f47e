// Tests the reader of policies whose kinds are not supported, which reads their targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "config/read/object_kinds.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEnvoyVersion = "gateway.envoyproxy.io/v1alpha1";
constexpr const char* kTarget = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}";

Configuration loadPolicy(const std::string& spec, const std::string& kind = "SecurityPolicy",
                         const std::string& apiVersion = kEnvoyVersion) {
  return loadText(object(apiVersion, kind, "p", "spec: {" + spec + "}\n"));
}

const UnsupportedPolicy* legiblePolicy(const Configuration& configuration) {
  return configuration.model.rejected.at(0).legible<UnsupportedPolicy>();
}

ObjectMeta metaOf(std::string_view group, std::string_view kind, const std::string& name) {
  ObjectMeta meta;
  meta.group = group;
  meta.kind = kind;
  meta.name = name;
  return meta;
}

TEST(UnsupportedPolicies, AreReadForWhatTheyName) {
  const Configuration configuration =
      loadPolicy("targetRefs: [{group: '', kind: Service, name: s, sectionName: web}], validation: {a: 1}");
  ASSERT_EQ(configuration.model.all<UnsupportedPolicy>().size(), 1U);
  const UnsupportedPolicy& policy = configuration.model.all<UnsupportedPolicy>().front();
  EXPECT_EQ(policy.meta.kind, "SecurityPolicy");
  ASSERT_EQ(policy.targets.size(), 1U);
  EXPECT_EQ(policy.targets[0].object.kind, "Service");
  EXPECT_EQ(policy.targets[0].sectionName, "web");
  EXPECT_TRUE(policy.targets[0].legible());
  EXPECT_THAT(
      rendered(configuration.problems),
      ElementsAre(HasSubstr("warning: SecurityPolicy default/p: kind: policies of this kind are not supported")));
}

TEST(UnsupportedPolicies, HaveTheOlderTargetRefToo) {
  const Configuration configuration = loadPolicy("targetRef: " + std::string(kTarget));
  EXPECT_THAT(configuration.model.rejected, IsEmpty());
  ASSERT_EQ(configuration.model.all<UnsupportedPolicy>().size(), 1U);
  EXPECT_EQ(configuration.model.all<UnsupportedPolicy>().front().targets.at(0).object.name, "r");
}

TEST(UnsupportedPolicies, SelectObjectsByTheirLabels) {
  const Configuration configuration = loadPolicy(
      "targetSelectors: [{kind: HTTPRoute, matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}]");
  EXPECT_THAT(configuration.model.rejected, IsEmpty());
  const PolicyTargetSelector& selector = configuration.model.all<UnsupportedPolicy>().front().selectors.at(0);
  ObjectMeta route = metaOf(kGatewayGroup, "HTTPRoute", "r");
  EXPECT_FALSE(selector.selects(route));
  route.labels = {{"a", "b"}, {"c", "d"}};
  EXPECT_TRUE(selector.selects(route));
  ObjectMeta gateway = metaOf(kGatewayGroup, "Gateway", "r");
  gateway.labels = route.labels;
  EXPECT_FALSE(selector.selects(gateway));
}

TEST(UnsupportedPolicies, NeedATarget) {
  const Configuration configuration = loadPolicy("jwt: {}");
  EXPECT_THAT(rendered(configuration.problems),
              Contains(HasSubstr("error: SecurityPolicy default/p: spec.targetRefs")));
  EXPECT_EQ(legiblePolicy(configuration), nullptr);
}

TEST(RefusedPolicies, KeepTheTargetsOfAVersionThatIsNotRead) {
  const Configuration configuration =
      loadPolicy("targetRef: {group: '', kind: Service, name: s}", "SecurityPolicy", "gateway.envoyproxy.io/v1");
  ASSERT_NE(legiblePolicy(configuration), nullptr);
  EXPECT_EQ(legiblePolicy(configuration)->targets.at(0).object.name, "s");
}

TEST(RefusedPolicies, KeepTheirLegibleTargets) {
  const Configuration configuration =
      loadPolicy("targetRefs: [" + std::string(kTarget) + ", {group: gateway.networking.k8s.io, kind: HTTPRoute}]");
  ASSERT_NE(legiblePolicy(configuration), nullptr);
  ASSERT_EQ(legiblePolicy(configuration)->targets.size(), 1U);
  EXPECT_EQ(legiblePolicy(configuration)->targets[0].object.name, "r");
}

TEST(RefusedPolicies, MeanAnyKindOfThatNameIfTheKindIsNotLegible) {
  const Configuration configuration = loadPolicy("targetRefs: [{group: gateway.networking.k8s.io, name: r}]");
  ASSERT_NE(legiblePolicy(configuration), nullptr);
  const PolicyTarget& target = legiblePolicy(configuration)->targets.at(0);
  EXPECT_FALSE(target.legible());
  EXPECT_TRUE(target.means(metaOf(kGatewayGroup, "GRPCRoute", "r")));
  EXPECT_TRUE(target.means(metaOf("", "Service", "r")));
  EXPECT_FALSE(target.means(metaOf("", "Service", "other")));
}

TEST(RefusedPolicies, MeanThatKindOfAnyGroupIfTheGroupIsNotLegible) {
  const Configuration configuration = loadPolicy("targetRefs: [{kind: HTTPRoute, name: r}]");
  ASSERT_NE(legiblePolicy(configuration), nullptr);
  const PolicyTarget& target = legiblePolicy(configuration)->targets.at(0);
  EXPECT_TRUE(target.means(metaOf(kGatewayGroup, "HTTPRoute", "r")));
  EXPECT_FALSE(target.means(metaOf("", "Service", "r")));
}

TEST(RefusedPolicies, MeanTheWholeObjectIfTheSectionIsNotLegible) {
  const Configuration configuration =
      loadPolicy("targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r, sectionNam: main}]");
  ASSERT_NE(legiblePolicy(configuration), nullptr);
  EXPECT_EQ(legiblePolicy(configuration)->targets.at(0).sectionName, "");
}

TEST(RefusedPolicies, SelectTooMuchRatherThanTooLittleIfTheSelectorIsNotLegible) {
  const auto selected = [](const std::string& selector) {
    const Configuration configuration = loadPolicy("targetSelectors: [" + selector + "]");
    EXPECT_EQ(configuration.model.rejected.size(), 1U) << selector;
    const auto* policy = legiblePolicy(configuration);
    if (policy == nullptr || policy->selectors.size() != 1) return std::string("nothing");
    std::string text;
    for (const auto& [group, kind] : {std::pair(kGatewayGroup, std::string_view("HTTPRoute")),
                                      std::pair(std::string_view(), std::string_view("Service"))}) {
      for (const char* label : {"b", "d"}) {
        ObjectMeta meta = metaOf(group, kind, "o");
        meta.labels = {{"a", label}};
        if (policy->selectors[0].selects(meta)) text += std::string(kind) + "/" + label + " ";
      }
    }
    return text;
  };
  EXPECT_EQ(selected("{knd: HTTPRoute, matchLabels: {a: b}}"), "HTTPRoute/b Service/b ");
  EXPECT_EQ(selected("{kind: [HTTPRoute], matchLabels: {a: b}}"), "HTTPRoute/b Service/b ");
  EXPECT_EQ(selected("{group: 1, kind: Service, matchLabels: {a: b}}"), "Service/b ");
  EXPECT_EQ(selected("{kind: HTTPRoute, matchLabel: {a: b}}"), "HTTPRoute/b HTTPRoute/d ");
  EXPECT_EQ(selected("{kind: HTTPRoute, matchLabels: {a: 1}}"), "HTTPRoute/b HTTPRoute/d ");
  EXPECT_EQ(selected("{kind: HTTPRoute, matchLabels: {a: b}, matchExpressions: [{key: c, operatr: In, values: [d]}]}"),
            "HTTPRoute/b ");
  EXPECT_EQ(selected("{kind: HTTPRoute, matchExpressions: [{kye: a, operator: In, values: [b]}]}"),
            "HTTPRoute/b HTTPRoute/d ");
  EXPECT_EQ(selected("{}"), "HTTPRoute/b HTTPRoute/d Service/b Service/d ");
}

TEST(UnsupportedPolicies, SelectKindsOfTheCoreGroup) {
  const Configuration configuration = loadPolicy("targetSelectors: [{group: '', kind: Service, matchLabels: {a: b}}]");
  ASSERT_EQ(configuration.model.all<UnsupportedPolicy>().size(), 1U);
  ObjectMeta service = metaOf("", "Service", "s");
  service.labels = {{"a", "b"}};
  EXPECT_TRUE(configuration.model.all<UnsupportedPolicy>()[0].selectors.at(0).selects(service));
}

TEST(RefusedPolicies, SelectInTheirOwnNamespaceAlone) {
  const Configuration configuration =
      loadPolicy("targetSelectors: [{kind: HTTPRoute, matchLabels: {a: b}, namespaces: {from: All}}]");
  EXPECT_THAT(rendered(configuration.problems), Contains(HasSubstr("only objects of the policy's own namespace")));
  ASSERT_NE(legiblePolicy(configuration), nullptr);
  EXPECT_EQ(legiblePolicy(configuration)->selectors.size(), 1U);
}

TEST(PolicyTargets, MayCallAnXBackendDestinationABackend) {
  PolicyTarget target;
  target.object = {std::string(kPrototypeGroup), "Backend", {}, "b", {}, {}};
  EXPECT_TRUE(target.means(metaOf(kPrototypeGroup, "XBackendDestination", "b")));
  EXPECT_TRUE(target.means(metaOf(kPrototypeGroup, "Backend", "b")));
  EXPECT_FALSE(target.means(metaOf(kOwnGroup, "Backend", "b")));
}

}  // namespace
}  // namespace sluice::config
