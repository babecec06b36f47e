#include "proxy/control/configuration/unknown_fields.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::control {
namespace {

config::Problem unknownField(std::string object, std::string field) {
  return {config::Severity::kWarning, {}, std::move(object), std::move(field), "unknown field"};
}

config::ObjectStatus routeStatus(std::string name) {
  config::ObjectStatus status;
  status.group = config::kGatewayGroup;
  status.kind = config::HttpRoute::kKind;
  status.nameSpace = "demo";
  status.name = std::move(name);
  status.shape = config::StatusShape::kParents;
  status.parents.resize(2);
  status.parents[0].conditions = {{"Accepted", config::ConditionStatus::kTrue, "Accepted", "", 7}};
  return status;
}

TEST(UnknownFields, AreAConditionOnEachParentOfTheObjectThatHasThem) {
  config::StatusList statuses{routeStatus("one"), routeStatus("other")};
  const config::StatusList::Shared other = statuses.shared(1);
  addUnknownFields(statuses, {unknownField("HTTPRoute demo/one", "spec.new"),
                              unknownField("HTTPRoute demo/one", "spec.rules[0].newer"),
                              {config::Severity::kError, {}, "HTTPRoute demo/other", "spec.x", "unknown field"},
                              {config::Severity::kWarning, {}, "HTTPRoute demo/other", "spec.y", "it is long"}});
  const config::Condition* condition = config::findCondition(statuses[0].parents[0].conditions, kUnknownFields);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, config::ConditionStatus::kTrue);
  EXPECT_EQ(condition->message, "spec.new, spec.rules[0].newer are not known to this version of sluice, and not read");
  EXPECT_EQ(condition->observedGeneration, 7);
  EXPECT_NE(config::findCondition(statuses[0].parents[1].conditions, kUnknownFields), nullptr);
  EXPECT_TRUE(config::isHealthy(statuses[0]));
  EXPECT_EQ(statuses.shared(1), other);
}

TEST(UnknownFields, AreNamedUpToABound) {
  config::ObjectStatus gateway;
  gateway.group = config::kGatewayGroup;
  gateway.kind = config::Gateway::kKind;
  gateway.nameSpace = "demo";
  gateway.name = "egress";
  gateway.shape = config::StatusShape::kGateway;
  config::StatusList statuses{gateway};
  config::Problems problems;
  for (int i = 0; i < 12; ++i) problems.push_back(unknownField("Gateway demo/egress", "spec.f" + std::to_string(i)));
  addUnknownFields(statuses, problems);
  const std::string& message = config::findCondition(statuses[0].conditions, kUnknownFields)->message;
  EXPECT_NE(message.find("spec.f9 and 2 more are not known"), std::string::npos) << message;
}

}  // namespace
}  // namespace sluice::control
