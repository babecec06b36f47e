#include "config/status/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/ground/problem.h"
#include "proxy/base/json_writer.h"

namespace sluice::config {
namespace {

Condition condition(std::string_view type, ConditionStatus status, std::string_view why, std::string message = "") {
  return Condition{std::string(type), status, std::string(why), std::move(message), std::nullopt};
}

Condition accepted() { return condition(condition_type::kAccepted, ConditionStatus::kTrue, reason::kAccepted); }

TEST(Conditions, AreSetOncePerType) {
  std::vector<Condition> conditions;
  setCondition(conditions, accepted());
  setCondition(conditions, condition("Accepted", ConditionStatus::kFalse, reason::kInvalid));
  setCondition(conditions, condition("Programmed", ConditionStatus::kUnknown, reason::kPending));
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(findCondition(conditions, "Accepted")->reason, "Invalid");
  EXPECT_EQ(findCondition(conditions, "Other"), nullptr);
}

TEST(Conditions, HaveTheShapeOfAGatewaysStatus) {
  ObjectStatus gateway;
  gateway.kind = "Gateway";
  gateway.nameSpace = "a";
  gateway.name = "g";
  gateway.shape = StatusShape::kGateway;
  gateway.conditions = {accepted()};
  gateway.conditions[0].observedGeneration = 3;
  gateway.listeners.push_back({"http", 2, {{std::string(kGatewayGroup), "HTTPRoute"}}, {accepted()}});
  gateway.addresses.push_back({"IPAddress", "127.0.0.1"});
  EXPECT_EQ(
      objectStatusJson(gateway),
      R"({"group":"","kind":"Gateway","namespace":"a","name":"g","status":{"conditions":[{"type":"Accepted","status":"True",)"
      R"("reason":"Accepted","message":"","observedGeneration":3}],"listeners":[{"name":"http","attachedRoutes":2,)"
      R"("supportedKinds":[{"group":"gateway.networking.k8s.io","kind":"HTTPRoute"}],"conditions":[{"type":"Accepted",)"
      R"("status":"True","reason":"Accepted","message":""}]}],"addresses":[{"type":"IPAddress","value":"127.0.0.1"}]}})");
}

TEST(Conditions, HaveTheShapeOfARoutesStatus) {
  ObjectStatus route;
  route.kind = "HTTPRoute";
  route.shape = StatusShape::kParents;
  ParentStatus parent;
  parent.parentRef.object.group = kGatewayGroup;
  parent.parentRef.object.kind = "Gateway";
  parent.parentRef.object.name = "g";
  parent.parentRef.sectionName = "http";
  parent.parentRef.port = 80;
  parent.conditions = {condition("ResolvedRefs", ConditionStatus::kFalse, reason::kBackendNotFound, "\"b\"")};
  route.parents.push_back(parent);
  EXPECT_EQ(
      statusJson(route),
      R"({"parents":[{"parentRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"g","sectionName":"http",)"
      R"("port":80},"controllerName":"sluice.dev/egress-gateway","conditions":[{"type":"ResolvedRefs","status":"False",)"
      R"("reason":"BackendNotFound","message":"\"b\""}]}]})");
}

TEST(Conditions, HaveTheShapeOfABackendsStatus) {
  ObjectStatus backend;
  backend.shape = StatusShape::kControllers;
  backend.controllers.push_back({std::string(kControllerName), {}});
  EXPECT_EQ(statusJson(backend), R"({"controllers":[{"name":"sluice.dev/egress-gateway","conditions":[]}]})");
  EXPECT_EQ(statusJson(ObjectStatus{}), R"({"conditions":[]})");
}

TEST(Conditions, AreReadableForPeople) {
  ObjectStatus gateway;
  gateway.kind = "Gateway";
  gateway.nameSpace = "a";
  gateway.name = "g";
  gateway.shape = StatusShape::kGateway;
  gateway.conditions = {accepted()};
  gateway.listeners.push_back(
      {"http", 1, {}, {condition("Programmed", ConditionStatus::kFalse, reason::kPending, "not yet")}});
  EXPECT_EQ(statusText(gateway),
            "Gateway a/g\n"
            "                           Accepted    True   Accepted\n"
            "  listener http (1 route)  Programmed  False  Pending   not yet\n");
}

TEST(Conditions, HaveTheShapeOfAPolicysStatus) {
  ObjectStatus policy;
  policy.kind = "PayloadProcessor";
  policy.name = "p";
  policy.shape = StatusShape::kAncestors;
  ParentStatus ancestor;
  ancestor.parentRef.object.kind = "HTTPRoute";
  ancestor.parentRef.object.name = "r";
  ancestor.conditions = {accepted()};
  policy.parents.push_back(ancestor);
  EXPECT_EQ(statusText(policy), "PayloadProcessor p\n  target HTTPRoute r  Accepted  True  Accepted\n");
  EXPECT_EQ(statusJson(policy),
            R"({"ancestors":[{"ancestorRef":{"group":"","kind":"HTTPRoute","name":"r"},"controllerName":)"
            R"("sluice.dev/egress-gateway","conditions":[{"type":"Accepted","status":"True","reason":"Accepted",)"
            R"("message":""}]}]})");
}

TEST(Conditions, DecideHealthByTypeAndStatus) {
  ObjectStatus object;
  object.conditions = {accepted(), condition("Conflicted", ConditionStatus::kFalse, reason::kNoConflicts)};
  EXPECT_TRUE(isHealthy(object));
  object.conditions[1].status = ConditionStatus::kTrue;
  EXPECT_FALSE(isHealthy(object));
  object.conditions = {condition("Programmed", ConditionStatus::kUnknown, reason::kPending)};
  EXPECT_FALSE(isHealthy(object));
  object.conditions.clear();
  object.parents.push_back({{}, "", {condition("Accepted", ConditionStatus::kFalse, reason::kInvalid)}});
  EXPECT_FALSE(isHealthy(object));
}

TEST(JsonWriter, EscapesAllSpecialCharacters) {
  base::JsonWriter json;
  json.beginList().text("\"\\\n\r\t\x01\x7F\x80h\xC3\xA9").number(-1).endList();
  EXPECT_EQ(json.take(), "[\"\\\"\\\\\\n\\r\\t\\u0001\\u007f\xEF\xBF\xBDh\xC3\xA9\",-1]");
}

TEST(Problem, IsRenderedLikeACompilersMessage) {
  Problem problem{
      Severity::kWarning, {std::make_shared<const std::string>("a.yaml"), 3, 7}, "Gateway a/b", "spec", "is odd"};
  EXPECT_EQ(render(problem), "a.yaml:3:7: warning: Gateway a/b: spec: is odd");
  problem.position.column = 0;
  problem.object.clear();
  EXPECT_EQ(render(problem), "a.yaml:3: warning: spec: is odd");
}

}  // namespace
}  // namespace sluice::config
