// Tests that the list of features, the reference and the tests with real traffic agree.
#include "config/model/supported_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "test/config/file_text.h"

namespace sluice::config {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// The tests in test/integration that prove each feature, where it holds in several ways one for each.
const std::multimap<std::string, std::string, std::less<>> kProofs = {
    {"BackendTLSPolicy", "ServiceTls, HasTheHostnameAsItsSniAndTheAuthorityOfTheClient"},
    {"BackendTLSPolicySANValidation", "ServiceTls, AcceptsTheUriOfTheCertificateInsteadOfTheHostname"},
    {"GRPCRoute", "GrpcRoutes, CarryCallsOfEveryKindToAPlaintextBackend"},
    {"GRPCRouteNamedRouteRule", "GrpcRoutes, FindTheirRuleByServiceMethodAndHeader"},
    {"Gateway", "TlsListeners, ServeTheHostsOfTheListenerThatTheConnectionWasOpenedFor"},
    {"GatewayAddressEmpty", "AddressPools, AssignAnAddressWhereOnlyItsTypeIsGiven"},
    {"GatewayAddressEmpty", "KubeClaims, HoldForPods"},
    {"GatewayFrontendClientCertificateValidation", "KubeFrontendValidation, IsByTheAuthoritiesOfNow"},
    {"GatewayFrontendClientCertificateValidationInsecureFallback",
     "KubeFrontendValidation, TellsOfTheInsecureModeAsLongAsItIsThere"},
    {"GatewayHTTPListenerIsolation", "RouteFeatures, TheListenerWithTheMostSpecificHostnameOwnsARequest"},
    {"GatewayHTTPSListenerDetectMisdirectedRequests", "TlsListeners, AnswerMisdirectedRequestsWith421"},
    {"GatewayInfrastructurePropagation", "KubeClaims, HoldForPods"},
    {"GatewayPort8080", "Gateways, HaveThePortsOfTheirOwnAddressToThemselves"},
    {"GatewayStaticAddresses", "Gateways, HaveThePortsOfTheirOwnAddressToThemselves"},
    {"HTTPRoute", "RouteFeatures, RulesMatchByMethodQueryHeaderAndPath"},
    {"HTTPRoute303RedirectStatusCode", "Redirects, TakeTheTrafficOfTheirBackendsWeight"},
    {"HTTPRoute307RedirectStatusCode", "Redirects, AreFollowedByARealClient"},
    {"HTTPRoute308RedirectStatusCode", "Redirects, AreSentOverHttp2Too"},
    {"HTTPRouteBackendProtocolH2C", "ServiceBackends, SpeakHttp2ByPriorKnowledgeIfTheirAppProtocolSaysSo"},
    {"HTTPRouteBackendProtocolWebSocket", "WebSocket, WorksTowardsAServiceWhoseAppProtocolNamesIt"},
    {"HTTPRouteBackendRequestHeaderModification", "RouteFeatures, UrlsAreRewrittenAndBackendsHaveHeadersOfTheirOwn"},
    {"HTTPRouteBackendTimeout", "RuleTimeouts, BackendRequestEndsAnAttempt"},
    {"HTTPRouteCORS", "CorsRequests, PreflightsAreAnsweredByTheGateway"},
    {"HTTPRouteDestinationPortMatching", "RouteFeatures, APortOfAParentRefSelectsItsListeners"},
    {"HTTPRouteHostRewrite", "RouteFeatures, UrlsAreRewrittenAndBackendsHaveHeadersOfTheirOwn"},
    {"HTTPRouteMethodMatching", "RouteFeatures, RulesMatchByMethodQueryHeaderAndPath"},
    {"HTTPRouteNamedRouteRule", "RouteFeatures, RulesMatchByMethodQueryHeaderAndPath"},
    {"HTTPRouteParentRefPort", "RouteFeatures, APortOfAParentRefSelectsItsListeners"},
    {"HTTPRoutePathRedirect", "Redirects, ReplaceThePrefixAndKeepTheListenersPort"},
    {"HTTPRoutePathRewrite", "RouteFeatures, UrlsAreRewrittenAndBackendsHaveHeadersOfTheirOwn"},
    {"HTTPRoutePortRedirect", "Redirects, TakeTheTrafficOfTheirBackendsWeight"},
    {"HTTPRouteQueryParamMatching", "RouteFeatures, RulesMatchByMethodQueryHeaderAndPath"},
    {"HTTPRouteRequestMirror", "MirroredRequests, HaveTheOriginalsContentAndTheMirrorsName"},
    {"HTTPRouteRequestMultipleMirrors", "MirroredRequests, GoWholeToEveryMirrorOfARule"},
    {"HTTPRouteRequestPercentageMirror", "MirroredRequests, AreTheConfiguredPercentage"},
    {"HTTPRouteRequestTimeout", "RuleTimeouts, RequestEndsAWholeRequest"},
    {"HTTPRouteResponseHeaderModification", "RouteFeatures, RulesMatchByMethodQueryHeaderAndPath"},
    {"HTTPRouteRetry", "RetryRules, HideFailuresOfAnOriginThatRecovers"},
    {"HTTPRouteRetryBackendTimeout", "RetryRules, GiveEveryAttemptAtASilentOriginItsTime"},
    {"HTTPRouteRetryConnectionError", "RetryRules, RetryRefusedConnections"},
    {"HTTPRouteSchemeRedirect", "Redirects, SendTheClientElsewhere"},
    {"ReferenceGrant", "RouteFeatures, ABackendOfAnotherNamespaceNeedsAGrant"},
};

/// The features of pkg/features of Gateway API v1.6.1 for the kinds that are served here. Its suite does not
/// know a feature that is not in this list.
const std::set<std::string_view> kSuitesFeatures = {
    "BackendTLSPolicy",
    "BackendTLSPolicySANValidation",
    "GRPCRoute",
    "GRPCRouteNamedRouteRule",
    "Gateway",
    "GatewayAddressEmpty",
    "GatewayBackendClientCertificate",
    "GatewayFrontendClientCertificateValidation",
    "GatewayFrontendClientCertificateValidationInsecureFallback",
    "GatewayHTTPListenerIsolation",
    "GatewayHTTPSListenerDetectMisdirectedRequests",
    "GatewayInfrastructurePropagation",
    "GatewayPort8080",
    "GatewayStaticAddresses",
    "HTTPRoute",
    "HTTPRoute303RedirectStatusCode",
    "HTTPRoute307RedirectStatusCode",
    "HTTPRoute308RedirectStatusCode",
    "HTTPRouteBackendProtocolH2C",
    "HTTPRouteBackendProtocolWebSocket",
    "HTTPRouteBackendRequestHeaderModification",
    "HTTPRouteBackendTimeout",
    "HTTPRouteCORS",
    "HTTPRouteDestinationPortMatching",
    "HTTPRouteHostRewrite",
    "HTTPRouteMethodMatching",
    "HTTPRouteNamedRouteRule",
    "HTTPRouteParentRefPort",
    "HTTPRoutePathRedirect",
    "HTTPRoutePathRewrite",
    "HTTPRoutePortRedirect",
    "HTTPRouteQueryParamMatching",
    "HTTPRouteRequestMirror",
    "HTTPRouteRequestMultipleMirrors",
    "HTTPRouteRequestPercentageMirror",
    "HTTPRouteRequestTimeout",
    "HTTPRouteResponseHeaderModification",
    "HTTPRouteRetry",
    "HTTPRouteRetryBackendTimeout",
    "HTTPRouteRetryConnectionError",
    "HTTPRouteSchemeRedirect",
    "ReferenceGrant",
};

/// Returns the text of the reference that tells when a feature is claimed.
std::string whenOf(const SupportedFeature& feature) {
  if (feature.channel == FieldChannel::kExperimental) return "the CRDs are of the experimental channel";
  if (feature.channel == FieldChannel::kNewInStandard) {
    return "the CRDs are of Gateway API 1.6, or of its experimental channel";
  }
  switch (feature.placement) {
    case FeaturePlacement::kAny:
      return "always";
    case FeaturePlacement::kNotPods:
      return "the controller keeps no Pods for Gateways";
    case FeaturePlacement::kPods:
      return "the controller keeps Pods for Gateways";
    case FeaturePlacement::kPodsOrPool:
      return "the controller keeps Pods for Gateways, or Gateways get addresses of a pool";
  }
  return {};
}

GatewayApiCrds crdsOf(const std::string& version, const std::string& channel) {
  GatewayApiCrds crds{.releases = {}, .areFiles = false};
  for (const char* plural :
       {"backendtlspolicies", "gatewayclasses", "gateways", "grpcroutes", "httproutes", "referencegrants"}) {
    crds.releases.emplace(std::string(plural) + ".gateway.networking.k8s.io", CrdRelease{version, channel});
  }
  return crds;
}

const GatewayApiCrds kNewestCrds = crdsOf("v1.6.1", "experimental");

TEST(SupportedFeatures, AreSortedAndFitIntoTheStatus) {
  constexpr std::size_t kMaxItems = 64;  // GatewayClass.status.supportedFeatures
  EXPECT_LE(std::size(kSupportedFeatures), kMaxItems);
  EXPECT_TRUE(std::is_sorted(std::begin(kSupportedFeatures), std::end(kSupportedFeatures),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(SupportedFeatures, MatchTheTableOfTheReference) {
  std::vector<std::string> expected;
  for (const SupportedFeature& each : kSupportedFeatures) {
    expected.push_back("| `" + std::string(each.name) + "` | " + std::string(each.what) + " | " + whenOf(each) + " |");
  }
  std::istringstream page(fileText(SLUICE_SOURCE_DIR "/config/reference/gateway-api.md"));
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line != "| feature | which is | if |") continue;
  std::getline(page, line);
  while (std::getline(page, line) && line.starts_with("|")) rows.push_back(line);
  EXPECT_THAT(rows, ElementsAreArray(expected));
}

TEST(SupportedFeatures, EachHaveATestWithRealTraffic) {
  std::string tests;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(SLUICE_SOURCE_DIR) / "test/integration")) {
    if (entry.path().extension() == ".cc") tests += fileText(entry.path().string());
  }
  for (const SupportedFeature& each : kSupportedFeatures) {
    const auto [first, end] = kProofs.equal_range(each.name);
    EXPECT_NE(first, end) << each.name;
    for (auto proof = first; proof != end; ++proof) EXPECT_THAT(tests, HasSubstr("(" + proof->second + ")"));
  }
  for (const auto& [name, proof] : kProofs) {
    EXPECT_TRUE(std::any_of(std::begin(kSupportedFeatures), std::end(kSupportedFeatures),
                            [&name = name](const SupportedFeature& each) { return each.name == name; }))
        << name << " is not claimed";
  }
}

TEST(SupportedFeatures, AreKnownToTheSuiteOfGatewayApi) {
  for (const SupportedFeature& each : kSupportedFeatures) EXPECT_TRUE(kSuitesFeatures.contains(each.name)) << each.name;
}

TEST(SupportedFeatures, HoldForTheWayGatewaysRun) {
  const auto pods = supportedFeatures(GatewayPlacement::kPods, kNewestCrds);
  EXPECT_THAT(pods, IsSupersetOf({"GatewayAddressEmpty", "GatewayInfrastructurePropagation", "HTTPRouteRetry"}));
  EXPECT_THAT(pods, Not(Contains("GatewayStaticAddresses")));
  const auto pool = supportedFeatures(GatewayPlacement::kPool, kNewestCrds);
  EXPECT_THAT(pool, IsSupersetOf({"GatewayAddressEmpty", "GatewayStaticAddresses"}));
  EXPECT_THAT(pool, Not(Contains("GatewayInfrastructurePropagation")));
  const auto machine = supportedFeatures(GatewayPlacement::kMachine, kNewestCrds);
  EXPECT_THAT(machine, Contains("GatewayStaticAddresses"));
  EXPECT_THAT(machine, Not(AnyOf(Contains("GatewayAddressEmpty"), Contains("GatewayInfrastructurePropagation"))));
  EXPECT_EQ(supportedFeatures(GatewayPlacement::kMachine, GatewayApiCrds()), machine) << "files have all fields";
}

TEST(SupportedFeatures, HoldForTheCrdsThatAreInstalled) {
  const auto without = [](const GatewayApiCrds& crds) { return featuresOfOtherCrds(GatewayPlacement::kPool, crds); };
  EXPECT_EQ(without(kNewestCrds), "");
  const std::string retries = "HTTPRouteRetry, HTTPRouteRetryBackendTimeout, HTTPRouteRetryConnectionError";
  EXPECT_EQ(without(crdsOf("v1.6.1", "standard")), retries);
  EXPECT_EQ(without(crdsOf("v1.5.1", "standard")), "HTTPRouteCORS, " + retries);
  EXPECT_EQ(without(crdsOf("v1.5.1", "experimental")), "");
  EXPECT_EQ(without(crdsOf("", "")), "HTTPRouteCORS, " + retries) << "the least that a supported release has";
  EXPECT_THAT(supportedFeatures(GatewayPlacement::kPool, crdsOf("v1.4.1", "experimental")), IsEmpty());

  GatewayApiCrds mixed = crdsOf("v1.6.1", "experimental");
  mixed.releases["httproutes.gateway.networking.k8s.io"].channel = "standard";
  EXPECT_EQ(without(mixed), retries);
  mixed = kNewestCrds;
  mixed.releases.erase("grpcroutes.gateway.networking.k8s.io");
  EXPECT_EQ(without(mixed), "GRPCRoute, GRPCRouteNamedRouteRule");
  const GatewayApiCrds unknown{.releases = {}, .areFiles = false};
  EXPECT_EQ(without(unknown), "HTTPRouteCORS, " + retries) << "the server does not tell which CRDs it has";
}

}  // namespace
}  // namespace sluice::config
