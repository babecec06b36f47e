#include "proxy/server/commands/status_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "proxy/content/json.h"
#include "proxy/server/commands/admin_client.h"

namespace sluice::server {
namespace {

std::string textOfStatus(std::string_view page) {
  const auto value = readAdminPage(page);
  EXPECT_TRUE(value.ok()) << value.error().detail;
  return statusOutput(*value).text;
}

TEST(StatusCommand, PrintsTheStateTheProblemsAndEveryObject) {
  EXPECT_EQ(textOfStatus(R"({"desired":"bad","published":"one","served":"one","state":"Rollback",
    "since":"2026-01-31T23:59:59.123Z","problems":[{"severity":"error","file":"a.yaml","line":7,"column":3,
    "object":"Gateway demo/egress","field":"spec.x","message":"unknown field"},
    {"severity":"warning","message":"look"}],"objects":[
    {"kind":"GatewayClass","namespace":"","name":"egress","status":{"conditions":[
      {"type":"Accepted","status":"True","reason":"Accepted","message":""}]}},
    {"kind":"Gateway","namespace":"demo","name":"egress","servedRevision":"0123456789ab",
     "servedSince":"2026-01-31T00:00:00.000Z","status":{"conditions":[
      {"type":"Programmed","status":"False","reason":"AddressNotUsable","message":"in use"}],
      "listeners":[{"name":"web","conditions":[
        {"type":"Conflicted","status":"False","reason":"NoConflicts","message":""},
        {"type":"Degraded","status":"True","reason":"Missing","message":"a script"}]}]}}]})"),
            "Rollback since 2026-01-31T23:59:59.123Z\n"
            "desired    bad\n"
            "published  one\n"
            "served     one\n"
            "\n"
            "problems of the desired configuration:\n"
            "  a.yaml:7:3: error: Gateway demo/egress: spec.x: unknown field\n"
            "  warning: look\n"
            "\n"
            "KIND           NAMESPACE   NAME     SERVED         SINCE                      STATUS\n"
            "GatewayClass               egress   nothing                                   ok\n"
            "Gateway        demo        egress   0123456789ab   2026-01-31T00:00:00.000Z   Programmed False, "
            "AddressNotUsable: in use\n"
            "                                                                              Degraded True, Missing: a "
            "script\n");
}

TEST(StatusCommand, BeginsWithTheNumberOfObjectsWithFaultsAndNamesThem) {
  EXPECT_EQ(textOfStatus(R"({"desired":"a","published":"a","served":"a","state":"InSync","faultyObjects":[
    {"group":"g","kind":"HTTPRoute","namespace":"demo","name":"web","condition":"ResolvedRefs",
     "reason":"BackendNotFound","message":"spec: Backend demo/a: it does not exist"},
    {"kind":"GatewayClass","name":"egress","reason":"Invalid","message":"spec: is odd"},
    {"reason":"Invalid","message":"must be an object"}],
    "faultyObjectsLeftOut":[{"namespace":"","count":2},{"namespace":"loud","count":40}],
    "since":"now","problems":[],"objects":[]})"),
            "InSync since now\ndegraded: 45 objects have faults\ndesired    a\npublished  a\nserved     a\n"
            "\nobjects with faults:\n"
            "  HTTPRoute demo/web: ResolvedRefs, BackendNotFound: spec: Backend demo/a: it does not exist\n"
            "  GatewayClass egress: Invalid: spec: is odd\n"
            "  an object that cannot be read: Invalid: must be an object\n"
            "  2 more without a namespace\n"
            "  40 more in namespace loud\n");
  EXPECT_THAT(textOfStatus(R"({"state":"InSync","faultyObjects":[{"reason":"Invalid","message":"a"}]})"),
              testing::HasSubstr("\ndegraded: 1 object has a fault\n"));
}

TEST(StatusCommand, FailsUnlessEverythingIsServedAsItIsWritten) {
  const auto wellWith = [](std::string_view page) { return isWell(*readAdminPage(page)); };
  EXPECT_TRUE(wellWith(R"({"state":"InSync","faultyObjects":[]})"));
  EXPECT_TRUE(wellWith(R"({"state":"InSync"})")) << "an earlier version of the program answers";
  EXPECT_FALSE(wellWith(R"({"state":"Rollback","faultyObjects":[]})"));
  EXPECT_FALSE(wellWith(R"({"state":"InSync","faultyObjects":[{"reason":"Invalid","message":"a"}]})"));
}

TEST(StatusCommand, SaysThatNothingIsServed) {
  EXPECT_EQ(textOfStatus(R"({"desired":"bad","published":"","served":"","state":"RollbackFailed","since":"now",
    "problems":[],"objects":[]})"),
            "RollbackFailed since now\ndesired    bad\npublished  \nserved     nothing\n");
  EXPECT_THAT(readAdminPage("<html>").error().detail, testing::StartsWith("the gateway's answer is not understood: "));
}

TEST(StatusCommand, PrintsTheZoneOfTheGatewayIfItIsKnown) {
  EXPECT_EQ(textOfStatus(R"({"desired":"a","published":"a","served":"a","state":"InSync","since":"now","zone":"z",
    "problems":[],"objects":[]})"),
            "InSync since now\ndesired    a\npublished  a\nserved     a\nzone       z\n");
}

// The status of ten thousand objects takes megabytes.
TEST(StatusCommand, ReadsAPageOfAnyLengthAndKeepsItForPrograms) {
  std::string page = R"({"state":"InSync","objects":[{"name":"\u202ea"})";
  const std::string object = R"(,{"kind":"HTTPRoute","name":")" + std::string(1000, 'x') + "\"}";
  while (page.size() <= content::JsonLimits().bytes) page += object;
  page += "]}";
  const auto value = readAdminPage(page);
  ASSERT_TRUE(value.ok()) << value.error().detail;
  EXPECT_EQ(content::outputJson(statusOutput(*value).value), page);
}

}  // namespace
}  // namespace sluice::server
