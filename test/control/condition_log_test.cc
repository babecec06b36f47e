// The events about objects that are not served as they are written.
#include "proxy/control/report/condition_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"

namespace sluice::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

config::Condition badCondition(std::string type, std::string reason, std::string message, bool hasFindings = true) {
  config::Condition made{std::move(type), config::ConditionStatus::kFalse, std::move(reason), std::move(message),
                         std::nullopt};
  if (hasFindings) made.findings = {{"spec.a", made.message}};
  return made;
}

config::ObjectStatus routeWith(std::vector<config::Condition> conditions) {
  config::ObjectStatus status;
  status.kind = "HTTPRoute";
  status.nameSpace = "demo";
  status.name = "web";
  status.shape = config::StatusShape::kParents;
  config::ParentStatus parent;
  parent.parentRef.object.name = "egress";
  parent.conditions = std::move(conditions);
  status.parents.push_back(std::move(parent));
  return status;
}

class ConditionEvents : public testing::Test {
 protected:
  /// Returns "object: message" of each event.
  std::vector<std::string> noted(config::ObjectStatus status) {
    observe::EventBatch batch;
    conditions_.note({std::move(status)}, clock_.wallNow(), batch);
    std::vector<std::string> texts;
    for (const observe::Event& each : batch.take()) texts.push_back(each.object + ": " + each.message);
    return texts;
  }

  const base::SystemClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(2)};
  ConditionLog conditions_{log_};
};

TEST_F(ConditionEvents, SayWhyOnceForAsLongAsItLasts) {
  const config::ObjectStatus refused =
      routeWith({badCondition("Accepted", "HostnameConflict", "GRPCRoute demo/rpc has the hostname a.test")});
  EXPECT_THAT(noted(refused), ElementsAre("HTTPRoute demo/web: parent egress: Accepted False, HostnameConflict: "
                                          "GRPCRoute demo/rpc has the hostname a.test"));
  EXPECT_THAT(noted(refused), IsEmpty());
  EXPECT_THAT(noted(routeWith({badCondition("Accepted", "NoMatchingParent", "it does not exist")})),
              ElementsAre("HTTPRoute demo/web: parent egress: Accepted False, NoMatchingParent: it does not exist"));
}

TEST_F(ConditionEvents, PreferAConditionThatSaysMoreThanASum) {
  EXPECT_THAT(noted(routeWith({badCondition("Programmed", "Invalid", "see the other conditions", false),
                               badCondition("ResolvedRefs", "BackendNotFound", "Backend demo/a: it does not exist")})),
              ElementsAre("HTTPRoute demo/web: parent egress: ResolvedRefs False, BackendNotFound: Backend demo/a: it "
                          "does not exist (and 1 more: `sluice status`)"));
}

}  // namespace
}  // namespace sluice::control
