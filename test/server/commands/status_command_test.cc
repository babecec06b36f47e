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

TEST(StatusCommand, SaysThatNothingIsServed) {
  EXPECT_EQ(textOfStatus(R"({"desired":"bad","published":"","served":"","state":"RollbackFailed","since":"now",
    "problems":[],"objects":[]})"),
            "RollbackFailed since now\ndesired    bad\npublished  \nserved     nothing\n");
  EXPECT_THAT(readAdminPage("<html>").error().detail, testing::StartsWith("the gateway's answer is not understood: "));
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
