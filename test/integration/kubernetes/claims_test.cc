// Tests that the features which a GatewayClass claims in a real API server are those that hold: for the way its
// Gateways run, and for the CRDs of Gateway API that are installed, which may be older or of the standard channel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/integration/kubernetes/provisioning_fixture.h"
#include "test/integration/support/kubernetes/older_crds.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFeatures = "{.status.supportedFeatures[*].name}";
constexpr const char* kRetries = "HTTPRouteRetry HTTPRouteRetryBackendTimeout HTTPRouteRetryConnectionError";

class KubeClaims : public KubeProvisioning {
 protected:
  /// Returns the claimed features, each with a blank around it.
  std::string claims() const { return " " + kubectl->get("gatewayclass", "", "test", kFeatures) + " "; }
  bool claimsSoon(const std::string& features, bool claimed = true) const {
    return eventually([&] { return (claims().find(" " + features + " ") != std::string::npos) == claimed; });
  }
  std::string version(const char* what) const {
    return kubectl->get("gatewayclass", "", "test",
                        (std::string("{.status.conditions[?(@.type==\"SupportedVersion\")].") + what + "}").c_str());
  }
};

// As Gateway API's own suite tests GatewayInfrastructure and GatewayOptionalAddressValue.
TEST_F(KubeClaims, HoldForPods) {
  startServerWithOurKinds();
  kubectl->apply(
      gatewayWith("  addresses: [{type: IPAddress}, {type: Hostname}]\n"
                  "  infrastructure: {labels: {key1: value1}, annotations: {key2: value2}}\n"));
  startController();
  ASSERT_TRUE(claimsSoon("GatewayInfrastructurePropagation")) << claims() << controller->errors();
  EXPECT_THAT(claims(), AllOf(HasSubstr(" GatewayAddressEmpty "), HasSubstr(kRetries)));
  EXPECT_THAT(claims(), AllOf(Not(HasSubstr(" GatewayStaticAddresses ")), Not(HasSubstr("ExternalAuth"))));

  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", "{.status.addresses[*].value}", "egress-test.demo.svc"));
  EXPECT_EQ(accepted("status"), "True") << accepted("message");
  ASSERT_TRUE(deploymentHas("{.spec.template.metadata.labels.key1}", "value1")) << controller->errors();
  EXPECT_EQ(deployment("{.spec.template.metadata.annotations.key2}"), "value2");
  for (const char* kind : {"deployment", "service", "serviceaccount", "poddisruptionbudget", "networkpolicy"}) {
    EXPECT_EQ(kubectl->get(kind, "demo", kPods, "{.metadata.labels.key1} {.metadata.annotations.key2}"),
              "value1 value2")
        << kind;
  }

  kubectl->apply(gatewayWith("  addresses: [{type: IPAddress, value: 127.0.0.9}]\n"));
  EXPECT_TRUE(kubectl->waitFor("gateway", "demo", "egress", "{.status.conditions[?(@.type==\"Programmed\")].reason}",
                               "AddressNotUsable"))
      << "so static addresses are not claimed";
}

TEST_F(KubeClaims, FollowTheChannelOfEachDefinition) {
  startOwnServer({}, InstalledKinds::kGatewayApiAndOurs);
  startGateway({"--controller"});
  ASSERT_TRUE(claimsSoon(kRetries)) << sluice->process().errors();
  EXPECT_THAT(claims(), AllOf(HasSubstr(" GatewayStaticAddresses "), Not(HasSubstr(" GatewayAddressEmpty "))));
  EXPECT_EQ(version("message"), "Gateway API v1.6.1, experimental channel");

  kubectl->expect({"annotate", "crd", "httproutes.gateway.networking.k8s.io", "--overwrite",
                   "gateway.networking.k8s.io/channel=standard"});
  EXPECT_TRUE(claimsSoon(kRetries, false)) << claims();
  EXPECT_EQ(version("status"), "True");
  EXPECT_THAT(version("message"), AllOf(HasSubstr("v1.6.1, standard channel (httproutes)"),
                                        HasSubstr("Features that need other CRDs: HTTPRouteRetry, ")));
}

/// CRDs of another release or channel.
struct OtherCrds {
  const char* version;
  LackingParts lacking;
  const char* unclaimed;
};

class KubeOlderCrds : public KubeClaims, public testing::WithParamInterface<const char*> {
 protected:
  static OtherCrds crds() {
    if (GetParam() == std::string("v1.6.1")) return {GetParam(), lackingInStandard16(), "HTTPRouteRetry"};
    return {GetParam(), lackingInStandard15(), "HTTPRouteCORS"};
  }
};

TEST_P(KubeOlderCrds, AreReadAsTheyAreAndWhatTheyLackIsSaid) {
  OtherCrds other = crds();
  other.lacking.plurals = {"grpcroutes", "backendtlspolicies"};
  startServerWithCrds(gatewayApiCrdsWithout(other.lacking, other.version, "standard"));
  kubectl->apply(gateway() + service("near", one.port()) + route("near", "/", toService("near")));
  startGateway({"--controller"});
  EXPECT_TRUE(answers("/", "one"));
  ASSERT_TRUE(claimsSoon("HTTPRouteRequestTimeout")) << sluice->process().errors();
  for (const char* none : {other.unclaimed, kRetries, "GRPCRoute", "BackendTLSPolicy"}) {
    EXPECT_THAT(claims(), Not(HasSubstr(std::string(" ") + none + " ")));
  }
  EXPECT_EQ(version("status"), "True");
  EXPECT_THAT(version("message"),
              AllOf(HasSubstr("Gateway API " + std::string(other.version) + ", standard channel"),
                    HasSubstr("Not installed: BackendTLSPolicy, GRPCRoute"), HasSubstr(other.unclaimed)));
  EXPECT_TRUE(sluice->process().waitForLine("the API server does not have these kinds"));
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "near",
                               "{.status.parents[0].conditions[?(@.type==\"Accepted\")].status}", "True"));

  // The API server keeps no field that its definition lacks.
  const std::string retrying = route("again", "/again", toService("near"), ", retry: {attempts: 2}");
  const TempDir texts;
  const std::string file = texts.write("route.yaml", retrying);
  EXPECT_NE(kubectl->run({"create", "-f", file}).exitCode, 0) << "kubectl refuses it";
  kubectl->expect({"create", "--validate=ignore", "-f", file});
  EXPECT_TRUE(answers("/again", "one"));
  EXPECT_EQ(kubectl->get("httproute", "demo", "again", "{.spec.rules[0].retry}"), "");

  // A kind that is installed later is claimed from then on.
  other.lacking.plurals = {"backendtlspolicies"};
  kubectl->apply(gatewayApiCrdsWithout(other.lacking, other.version, "standard"));
  EXPECT_TRUE(claimsSoon("GRPCRoute")) << claims() << sluice->process().errors();
}

INSTANTIATE_TEST_SUITE_P(StandardChannel, KubeOlderCrds, testing::Values("v1.6.1", "v1.5.1"),
                         [](const auto& each) { return each.param[3] == '6' ? "Newest" : "OneBefore"; });

}  // namespace
}  // namespace sluice::test
