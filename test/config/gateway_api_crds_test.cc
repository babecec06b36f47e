// Tests what the CRDs of Gateway API in an API server tell about themselves.
#include "config/model/gateway_api_crds.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::config {
namespace {

constexpr const char* kRoutes = "httproutes.gateway.networking.k8s.io";
constexpr const char* kClasses = "gatewayclasses.gateway.networking.k8s.io";

GatewayApiCrds ofTwo(const CrdRelease& routes, const CrdRelease& classes) {
  return {.releases = {{kRoutes, routes}, {kClasses, classes}}, .areFiles = false};
}

TEST(GatewayApiCrds, AreSupportedIfEachIsOfAReleaseThatIsTested) {
  EXPECT_TRUE(GatewayApiCrds().areSupported()) << "files need none";
  for (const char* version : {"v1.5.0", "v1.5.1", "v1.6.0", "v1.6.1", "v1.6.2-rc.1"}) {
    EXPECT_TRUE(ofTwo({version, "standard"}, {"v1.6.1", "experimental"}).areSupported()) << version;
  }
  for (const char* version : {"", "v1.4.1", "v1.7.0", "v1.60.0", "v2.6.1", "v1.6", "v1.x.1", "1.6.1", "main"}) {
    EXPECT_FALSE(ofTwo({version, "standard"}, {"v1.6.1", "standard"}).areSupported()) << version;
  }
}

TEST(GatewayApiCrds, NameTheirReleases) {
  EXPECT_EQ(GatewayApiCrds().described(), "Gateway API v1.6.1");
  EXPECT_EQ(ofTwo({"v1.5.1", "standard"}, {"v1.5.1", "standard"}).described(), "Gateway API v1.5.1, standard channel");
  EXPECT_EQ(ofTwo({"v1.6.1", "standard"}, {"v1.5.1", "standard"}).described(),
            "Gateway API v1.5.1, standard channel (gatewayclasses); v1.6.1, standard channel (httproutes)");
  EXPECT_EQ(ofTwo({"", ""}, {"v1.6.1", ""}).described(),
            "Gateway API of an unknown release (httproutes); v1.6.1 (gatewayclasses)");
}

TEST(GatewayApiCrds, NameTheKindsThatAreServedAndNotInstalled) {
  EXPECT_EQ(GatewayApiCrds().missingKinds(), "");
  EXPECT_EQ(ofTwo({}, {}).missingKinds(), "BackendTLSPolicy, GRPCRoute, Gateway, ReferenceGrant");
  const GatewayApiCrds unknown{.releases = {}, .areFiles = false};
  EXPECT_EQ(unknown.missingKinds(), "") << "the server does not tell";
}

TEST(GatewayApiCrds, AreThoseOfItsReleases) {
  EXPECT_TRUE(hasGatewayApiRelease(kRoutes));
  EXPECT_TRUE(hasGatewayApiRelease("tlsroutes.gateway.networking.k8s.io"));
  EXPECT_FALSE(hasGatewayApiRelease("backends.gateway.networking.k8s.io")) << "a proposal";
  EXPECT_FALSE(hasGatewayApiRelease("backends.sluice.dev"));
}

}  // namespace
}  // namespace sluice::config
