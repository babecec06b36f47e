// Tests that the list of features, the reference and the tests with real traffic agree.
#include "config/model/supported_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "test/config/file_text.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

/// The test in test/integration that proves each feature.
const std::map<std::string, std::string, std::less<>> kProofs = {
    {"BackendTLSPolicy", "ServiceTls, HasTheHostnameAsItsSniAndTheAuthorityOfTheClient"},
    {"BackendTLSPolicySANValidation", "ServiceTls, AcceptsTheUriOfTheCertificateInsteadOfTheHostname"},
    {"GRPCRoute", "GrpcRoutes, CarryCallsOfEveryKindToAPlaintextBackend"},
    {"GRPCRouteNamedRouteRule", "GrpcRoutes, FindTheirRuleByServiceMethodAndHeader"},
    {"Gateway", "TlsListeners, ServeTheHostsOfTheListenerThatTheConnectionWasOpenedFor"},
    {"GatewayHTTPListenerIsolation", "RouteFeatures, TheListenerWithTheMostSpecificHostnameOwnsARequest"},
    {"GatewayHTTPSListenerDetectMisdirectedRequests", "TlsListeners, AnswerMisdirectedRequestsWith421"},
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
    {"HTTPRouteExternalAuthForwardBody", "ExternalAuthFilter, ForwardsTheBodyUpToItsBound"},
    {"HTTPRouteExternalAuthGRPC", "ExternalAuthFilter, AsksOverGrpcWhatTheRequestIs"},
    {"HTTPRouteExternalAuthHTTP", "ExternalAuthFilter, AsksOverHttpAndPassesOnWhatTheServerSays"},
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

TEST(SupportedFeatures, AreSortedAndFitIntoTheStatus) {
  constexpr std::size_t kMaxItems = 64;  // GatewayClass.status.supportedFeatures
  EXPECT_LE(std::size(kSupportedFeatures), kMaxItems);
  EXPECT_TRUE(std::is_sorted(std::begin(kSupportedFeatures), std::end(kSupportedFeatures),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(SupportedFeatures, MatchTheTableOfTheReference) {
  std::vector<std::string> expected;
  for (const SupportedFeature& each : kSupportedFeatures) {
    expected.push_back("| `" + std::string(each.name) + "` | " + std::string(each.what) + " |");
  }
  std::istringstream page(fileText(SLUICE_SOURCE_DIR "/config/reference/gateway-api.md"));
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line != "| feature | which is |") continue;
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
    const auto proof = kProofs.find(each.name);
    ASSERT_NE(proof, kProofs.end()) << each.name;
    EXPECT_THAT(tests, HasSubstr("(" + proof->second + ")")) << each.name;
  }
  EXPECT_EQ(kProofs.size(), std::size(kSupportedFeatures));
}

}  // namespace
}  // namespace sluice::config
