#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadGrpcRoute(const std::string& spec) {
  return loadText(object("gateway.networking.k8s.io/v1", "GRPCRoute", "r", "spec:\n" + spec));
}
std::vector<std::string> problemsOfGrpcRule(const std::string& rule) {
  return rendered(loadGrpcRoute("  rules:\n  - " + rule + "\n").problems);
}
std::vector<std::string> problemsOfGrpcMatch(const std::string& match) {
  return problemsOfGrpcRule("matches: [" + match + "]");
}

TEST(GrpcRoute, ReadsAllFieldsOfTheApi) {
  const Configuration configuration = loadGrpcRoute(
      "  parentRefs: [{name: g, sectionName: a}]\n  hostnames: [example.com]\n  rules:\n"
      "  - name: first\n    matches: [{method: {service: a.B, method: Get}, headers: [{name: X-A, value: b}]}, "
      "{method: {type: RegularExpression, service: 'a\\..*'}}, {headers: [{name: c, value: d}]}]\n"
      "    filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x, value: y}]}}]\n"
      "    backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: b, weight: 3, filters: [{type: "
      "ResponseHeaderModifier, responseHeaderModifier: {remove: [z]}}]}]\n  - {}\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const GrpcRoute& route = configuration.model.all<GrpcRoute>().at(0);
  EXPECT_EQ(route.parentRefs.at(0).sectionName, "a");
  EXPECT_THAT(route.hostnames, ElementsAre("example.com"));
  ASSERT_EQ(route.rules.size(), 2u);
  const GrpcRouteRule& rule = route.rules[0];
  EXPECT_EQ(rule.name, "first");
  ASSERT_EQ(rule.matches.size(), 3u);
  EXPECT_EQ(rule.matches[0].rpc.service, "a.B");
  EXPECT_EQ(rule.matches[0].rpc.method, "Get");
  EXPECT_EQ(rule.matches[0].rpc.type, ValueMatchType::kExact);
  EXPECT_EQ(rule.matches[0].headers.at(0).name, "X-A");
  EXPECT_EQ(rule.matches[1].rpc.type, ValueMatchType::kRegularExpression);
  EXPECT_EQ(rule.matches[1].rpc.method, "");
  EXPECT_EQ(rule.matches[2].rpc.service, "");
  EXPECT_TRUE(rule.filters.requestHeaders);
  EXPECT_TRUE(rule.backendRefs.at(0).filters.responseHeaders);
  EXPECT_EQ(rule.backendRefs[0].weight, 3u);
  ASSERT_EQ(route.rules[1].matches.size(), 1u) << "without any, every call";
}

TEST(GrpcRoute, ChecksNamesOfServicesAndMethods) {
  for (const char* good : {"a", "a.B_1", ".a.b", "_x"}) {
    EXPECT_THAT(problemsOfGrpcMatch(std::string("{method: {service: '") + good + "'}}"), IsEmpty()) << good;
  }
  for (const char* bad : {"a/b", "1a", "a..b", "a.", "a-b", "a b"}) {
    EXPECT_THAT(problemsOfGrpcMatch(std::string("{method: {service: '") + bad + "'}}"),
                ElementsAre(HasSubstr("method.service: must be a name like package.Service")))
        << bad;
  }
  EXPECT_THAT(problemsOfGrpcMatch("{method: {method: Get_2}}"), IsEmpty());
  for (const char* bad : {"a.b", "2", "a-b"}) {
    EXPECT_THAT(problemsOfGrpcMatch(std::string("{method: {method: '") + bad + "'}}"),
                ElementsAre(HasSubstr("method.method: must be a name of letters")))
        << bad;
  }
  EXPECT_THAT(problemsOfGrpcMatch("{method: {type: RegularExpression, method: '[A-Z].*'}}"), IsEmpty());
  EXPECT_THAT(problemsOfGrpcMatch("{method: {}}"), ElementsAre(EndsWith("method: must have service or method")));
  EXPECT_THAT(problemsOfGrpcMatch("{method: {service: " + std::string(1024, 'a') + "}}"), IsEmpty());
  EXPECT_THAT(problemsOfGrpcMatch("{method: {service: " + std::string(1025, 'a') + "}}"),
              ElementsAre(HasSubstr("1024")));
}

TEST(GrpcRoute, HasFewerFiltersThanHttpRoute) {
  EXPECT_THAT(problemsOfGrpcRule("filters: [{type: URLRewrite, urlRewrite: {}}]"),
              ElementsAre(HasSubstr("type: must be RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, "
                                    "ExtensionRef, PayloadProcessingRef or PayloadProcessing")));
  EXPECT_THAT(problemsOfGrpcRule("filters: [{type: RequestHeaderModifier, requestHeaderModifier: {}, cors: {}}]"),
              ElementsAre(HasSubstr("cors: must not be given")));
  EXPECT_THAT(problemsOfGrpcRule("timeouts: {request: 1s}"), ElementsAre(HasSubstr("timeouts")));
}

TEST(GrpcRoute, RemembersUnsupportedFields) {
  const Configuration configuration =
      loadGrpcRoute("  rules: [{filters: [{type: ExtensionRef, extensionRef: {group: a, kind: B, name: c}}]}]\n");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const GrpcRouteRule& rule = configuration.model.all<GrpcRoute>().at(0).rules.at(0);
  ASSERT_EQ(rule.unsupported.size(), 1u);
  EXPECT_EQ(rule.unsupported[0].path, "spec.rules[0].filters[0]");
}

TEST(RejectedGrpcRoute, KeepsItsLegibleRules) {
  const Configuration configuration = loadGrpcRoute(
      "  parentRefs: [{name: g}]\n  rules: [{matches: [{method: {service: a}}], nam: x}, {macthes: []}]\n");
  EXPECT_TRUE(configuration.model.all<GrpcRoute>().empty());
  const Rejected* rejected = configuration.model.findRejected(kGatewayGroup, "GRPCRoute", "default", "r");
  ASSERT_NE(rejected, nullptr);
  ASSERT_NE(rejected->legible<GrpcRoute>(), nullptr);
  const std::vector<GrpcRouteRule>& rules = rejected->legible<GrpcRoute>()->rules;
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].matches.at(0).rpc.service, "a");
  EXPECT_FALSE(rules[0].coversRest);
  EXPECT_THAT(rules[1].matches, IsEmpty());
  EXPECT_TRUE(rules[1].coversRest);
}

TEST(RejectedGrpcRoute, KeepsTheCallsOfAMatchWhoseOtherConditionsAreNotLegible) {
  const Configuration configuration = loadGrpcRoute(
      "  parentRefs: [{name: g}]\n  rules:\n  - {matches: [{method: {service: a}, headers: [{name: x}]}]}\n"
      "  - {matches: [{method: {service: 'b/'}}, {headers: [{name: x}]}]}\n");
  const std::vector<GrpcRouteRule>& rules = configuration.model.rejected.at(0).legible<GrpcRoute>()->rules;
  ASSERT_EQ(rules.size(), 2u);
  ASSERT_EQ(rules[0].matches.size(), 1u);
  EXPECT_TRUE(rules[0].matches[0].widened);
  EXPECT_EQ(rules[0].matches[0].rpc.service, "a");
  EXPECT_THAT(rules[0].matches[0].headers, IsEmpty());
  EXPECT_THAT(rules[1].matches, IsEmpty());
  EXPECT_TRUE(rules[1].coversRest);
}

TEST(RejectedGrpcRoute, LeavesItsPreviousVersionInService) {
  const auto text = [](const std::string& rest) {
    return std::vector<SourceText>{
        {"a.yaml", object("gateway.networking.k8s.io/v1", "GRPCRoute", "r", "spec: {hostnames: [a.b]" + rest + "}\n")}};
  };
  const Configuration good = loadTexts(text(""), base::Secret());
  const Configuration bad = loadTexts(text(", surprise: 1"), base::Secret(), &good.model);
  ASSERT_EQ(bad.model.all<GrpcRoute>().size(), 1u);
  ASSERT_EQ(bad.model.kept.size(), 1u);
  EXPECT_EQ(bad.model.kept[0].legible<GrpcRoute>(), nullptr);
  EXPECT_TRUE(bad.model.rejected.empty());
}

}  // namespace
}  // namespace sluice::config
