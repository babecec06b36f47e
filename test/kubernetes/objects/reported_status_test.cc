#include "proxy/kubernetes/objects/reported_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/model/model.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/status/status_patch.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

std::optional<config::ObjectStatus> readStatus(std::string_view group, std::string_view kind,
                                               const std::string& status) {
  const auto read = content::parseJson(status);
  EXPECT_TRUE(read.ok()) << status;
  return reportedStatus(*config::findObjectKind(group, kind), {"demo", "web"}, *read);
}

/// Expects that the status is read, and that nothing would be written if the object were to have what was read.
void expectRoundTrip(std::string_view group, std::string_view kind, const std::string& status) {
  const auto read = readStatus(group, kind, status);
  ASSERT_TRUE(read) << status;
  const auto current = content::parseJson(status);
  EXPECT_EQ(statusPatch(*read, &*current, "7", {"demo"}, base::someTime()), std::nullopt) << status;
}

constexpr const char* kOneCondition =
    R"([{"type":"Accepted","status":"True","reason":"Accepted","message":"m","observedGeneration":3,)"
    R"("lastTransitionTime":"2026-11-23T16:46:08Z"}])";
const std::string kOurParent = R"({"parentRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"x",)"
                               R"("name":"egress","sectionName":"web","port":80},"controllerName":)"
                               R"("sluice.dev/egress-gateway","conditions":)" +
                               std::string(kOneCondition) + "}";
constexpr const char* kOtherParent = R"({"parentRef":{"name":"o"},"controllerName":"example.com/o","conditions":[]})";

TEST(ReportedStatus, HasTheEntriesOfThisProgram) {
  expectRoundTrip(config::kGatewayGroup, "HTTPRoute", R"({"parents":[)" + kOurParent + "," + kOtherParent + "]}");
  const auto route =
      readStatus(config::kGatewayGroup, "HTTPRoute", R"({"parents":[)" + kOurParent + "," + kOtherParent + "]}");
  EXPECT_EQ(route->parents.size(), 1u);
  expectRoundTrip(config::kGatewayGroup, "Gateway",
                  R"({"conditions":)" + std::string(kOneCondition) +
                      R"(,"listeners":[{"name":"web","attachedRoutes":2,"supportedKinds":[{"group":)"
                      R"("gateway.networking.k8s.io","kind":"HTTPRoute"}],"conditions":)" +
                      kOneCondition + R"(}],"addresses":[{"type":"IPAddress","value":"192.0.2.1"}]})");
  expectRoundTrip(config::kOwnGroup, "Backend",
                  R"({"controllers":[{"name":"sluice.dev/egress-gateway","conditions":)" + std::string(kOneCondition) +
                      R"(},{"name":"example.com/other","conditions":[]}]})");
}

TEST(ReportedStatus, IsNoneIfOnlyOthersHaveWrittenOne) {
  EXPECT_FALSE(readStatus(config::kGatewayGroup, "HTTPRoute", std::string(R"({"parents":[)") + kOtherParent + "]}"));
  EXPECT_FALSE(readStatus(config::kGatewayGroup, "HTTPRoute", "{}"));
  EXPECT_FALSE(readStatus(config::kGatewayGroup, "Gateway",
                          R"({"conditions":[{"type":"Accepted","status":"Unknown","reason":"Pending","message":)"
                          R"("Waiting for controller"}]})"))
      << "this is the default of the CRD";
}

}  // namespace
}  // namespace sluice::kubernetes
