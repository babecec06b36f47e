#include "config/status/object_fault.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice::config {
namespace {

using enum ConditionStatus;

Condition conditionWith(std::string_view type, ConditionStatus status, std::string_view why,
                        std::vector<Finding> findings = {}) {
  Condition made{std::string(type), status, std::string(why), "a message", std::nullopt};
  made.findings = std::move(findings);
  return made;
}

TEST(ObjectFault, IsWhateverKeepsAPartOfAnObjectFromBeingServedAsItIsWritten) {
  struct JudgedCondition {
    std::string_view type;
    ConditionStatus status;
    std::string_view why;
    bool isFault;
  };
  const std::vector<JudgedCondition> cases = {
      {"Accepted", kTrue, "Accepted", false},
      {"Accepted", kTrue, "ListenersNotValid", false},  // the listener has the fault
      {"Accepted", kFalse, "Invalid", true},            // also if the previous version serves on
      {"Accepted", kFalse, "Conflicted", true},
      {"Accepted", kFalse, "TargetNotFound", true},
      {"Accepted", kFalse, "HostnameConflict", true},
      {"Accepted", kUnknown, "Pending", true},  // its GatewayClass is not there
      {"ResolvedRefs", kFalse, "BackendNotFound", true},
      {"ResolvedRefs", kFalse, "InvalidCertificateRef", true},
      {"Programmed", kFalse, "AddressNotUsable", true},
      {"Conflicted", kFalse, "NoConflicts", false},
      {"Conflicted", kTrue, "ProtocolConflict", true},
      {"PartiallyInvalid", kTrue, "UnsupportedValue", true},
      {"PartiallyVisible", kTrue, "UnsupportedRule", false},
      {"OverlappingTLSConfig", kTrue, "OverlappingHostnames", false},
      {"InsecureFrontendValidationMode", kTrue, "ConfigurationChanged", false},
      {"SupportedVersion", kFalse, "UnsupportedVersion", false},
      {"Progressing", kTrue, "BackendNotFound", false},  // ResolvedRefs has it
      {"Progressing", kFalse, "Completed", false},
      {"Available", kFalse, "Unreachable", false},
      {"Available", kFalse, "Invalid", false},  // Programmed has it
      {"Degraded", kTrue, "Unreachable", false},
      {"Degraded", kTrue, "Unhealthy", false},
      {"Degraded", kTrue, "InvalidCertificateRef", true},
      {"Degraded", kTrue, "ExtensionUnavailable", true},
      {"Degraded", kTrue, "ExtensionPending", false},
      {"extension.sluice.dev/guard", kTrue, "ExtensionPending", false},
      {"extension.sluice.dev/guard", kTrue, "ExtensionActive", false},
      {"extension.sluice.dev/guard", kFalse, "ExtensionPending", false},
      {"extension.sluice.dev/guard", kFalse, "InvalidConfig", true},
  };
  for (const JudgedCondition& each : cases) {
    EXPECT_EQ(isFault(conditionWith(each.type, each.status, each.why)), each.isFault) << each.type << " " << each.why;
  }
}

TEST(ObjectFault, IsTheOneAboutAFieldRatherThanOneThatSumsUp) {
  ObjectStatus gateway;
  gateway.conditions = {conditionWith("Accepted", kTrue, "Accepted", {{"spec", "is only a note"}}),
                        conditionWith("ResolvedRefs", kFalse, "ListenersNotResolved")};
  ASSERT_NE(mainFault(gateway), nullptr);
  EXPECT_EQ(mainFault(gateway)->reason, "ListenersNotResolved");
  gateway.listeners.push_back(
      {"web",
       0,
       {},
       {conditionWith("ResolvedRefs", kFalse, "InvalidCertificateRef", {{"spec", "is missing"}}),
        conditionWith("Degraded", kTrue, "RefNotPermitted", {{"spec", "is not granted"}})}});
  EXPECT_EQ(mainFault(gateway)->reason, "InvalidCertificateRef") << "the first of these";
}

TEST(ObjectFault, IsAbsentFromAnObjectThatIsServedAsItIsWritten) {
  ObjectStatus backend;
  EXPECT_EQ(mainFault(backend), nullptr);
  backend.controllers.push_back({"",
                                 {conditionWith("Accepted", kTrue, "Accepted"),
                                  conditionWith("Available", kFalse, "Unreachable", {{"spec", "is down"}})}});
  EXPECT_EQ(mainFault(backend), nullptr);
}

}  // namespace
}  // namespace sluice::config
