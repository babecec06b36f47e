// Lists the features that GatewayClass.status.supportedFeatures claims, with the names of Gateway API (its
// pkg/features). Only features that work and have a test with real traffic are listed, and a GatewayClass claims those
// that hold for the way its Gateways run and for the CRDs that are installed. The table in
// config/reference/gateway-api.md has the same list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/gateway_api_crds.h"

namespace sluice::config {

/// Where the Gateways of a GatewayClass listen.
enum class GatewayPlacement : std::uint8_t {
  kMachine,  // on the addresses of the machine
  kPool,     // each on its own address of a pool
  kPods      // in Pods of their own, behind a Service
};

/// The placements for which a feature holds.
enum class FeaturePlacement : std::uint8_t { kAny, kNotPods, kPods, kPodsOrPool };

struct SupportedFeature {
  std::string_view name;  // begins with the kind that it belongs to
  std::string_view what;  // a few words for that table
  FieldChannel channel = FieldChannel::kStandard;
  FeaturePlacement placement = FeaturePlacement::kAny;
};

/// Sorted by name, as the API demands.
inline constexpr SupportedFeature kSupportedFeatures[] = {
    {"BackendTLSPolicy", "TLS towards Services and Backends, with a ConfigMap's authorities or the system's"},
    {"BackendTLSPolicySANValidation", "`validation.subjectAltNames`, hostnames and URIs"},
    {"GRPCRoute", "calls by service, method and header to HTTP/2 Backends"},
    {"GRPCRouteNamedRouteRule", "`name` of its rules"},
    {"Gateway", "listeners for HTTP and HTTPS, with addresses of its own"},
    {"GatewayAddressEmpty", "an address without `value` in `spec.addresses`", FieldChannel::kStandard,
     FeaturePlacement::kPodsOrPool},
    {"GatewayFrontendClientCertificateValidation",
     "`spec.tls.frontend`: clients of HTTPS listeners need a certificate"},
    {"GatewayFrontendClientCertificateValidationInsecureFallback", "its mode AllowInsecureFallback"},
    {"GatewayHTTPListenerIsolation", "the listener with the most specific hostname owns the request"},
    {"GatewayHTTPSListenerDetectMisdirectedRequests", "421 for a host of another listener of the connection's port"},
    {"GatewayInfrastructurePropagation", "`spec.infrastructure.labels` and `annotations`", FieldChannel::kStandard,
     FeaturePlacement::kPods},
    {"GatewayPort8080", "port 8080, as any other"},
    {"GatewayStaticAddresses", "`spec.addresses` of type IPAddress, if the machine can listen there",
     FieldChannel::kStandard, FeaturePlacement::kNotPods},
    {"HTTPRoute", "requests by host, path and header, with weights"},
    {"HTTPRoute303RedirectStatusCode", "RequestRedirect with 303"},
    {"HTTPRoute307RedirectStatusCode", "RequestRedirect with 307"},
    {"HTTPRoute308RedirectStatusCode", "RequestRedirect with 308"},
    {"HTTPRouteBackendProtocolH2C", "`appProtocol: kubernetes.io/h2c` of a Service's port"},
    {"HTTPRouteBackendProtocolWebSocket", "`appProtocol: kubernetes.io/ws` of a Service's port"},
    {"HTTPRouteBackendRequestHeaderModification", "RequestHeaderModifier of a backendRef"},
    {"HTTPRouteBackendTimeout", "`timeouts.backendRequest`"},
    {"HTTPRouteCORS", "the CORS filter", FieldChannel::kNewInStandard},
    {"HTTPRouteDestinationPortMatching", "listeners by the port of a parentRef (GEP-957)"},
    {"HTTPRouteHostRewrite", "URLRewrite of the hostname"},
    {"HTTPRouteMethodMatching", "matches by method"},
    {"HTTPRouteNamedRouteRule", "`name` of its rules"},
    {"HTTPRouteParentRefPort", "`port` of a parentRef"},
    {"HTTPRoutePathRedirect", "RequestRedirect of the path"},
    {"HTTPRoutePathRewrite", "URLRewrite of the path"},
    {"HTTPRoutePortRedirect", "RequestRedirect of the port"},
    {"HTTPRouteQueryParamMatching", "matches by query parameter"},
    {"HTTPRouteRequestMirror", "RequestMirror"},
    {"HTTPRouteRequestMultipleMirrors", "several RequestMirrors in one rule"},
    {"HTTPRouteRequestPercentageMirror", "`percent` and `fraction` of a RequestMirror"},
    {"HTTPRouteRequestTimeout", "`timeouts.request`"},
    {"HTTPRouteResponseHeaderModification", "ResponseHeaderModifier"},
    {"HTTPRouteRetry", "`retry` by `codes`", FieldChannel::kExperimental},
    {"HTTPRouteRetryBackendTimeout", "`retry` of what `timeouts.backendRequest` ended", FieldChannel::kExperimental},
    {"HTTPRouteRetryConnectionError", "`retry` of connections that fail", FieldChannel::kExperimental},
    {"HTTPRouteSchemeRedirect", "RequestRedirect of the scheme"},
    {"ReferenceGrant", "references to Secrets, ConfigMaps and Backends of other namespaces"},
};

/// Returns the features that hold, sorted by name.
std::vector<std::string> supportedFeatures(GatewayPlacement placement, const GatewayApiCrds& crds);
/// Returns those that would hold with other CRDs, separated by commas.
std::string featuresOfOtherCrds(GatewayPlacement placement, const GatewayApiCrds& crds);

}  // namespace sluice::config
