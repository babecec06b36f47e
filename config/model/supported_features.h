// Lists the features that GatewayClass.status.supportedFeatures claims, with the names of Gateway API (its
// pkg/features). Only features that work and have a test with real traffic are listed. The table in
// config/reference/gateway-api.md has the same list.
#pragma once

#include <string_view>

namespace sluice::config {

struct SupportedFeature {
  std::string_view name;
  std::string_view what;  // a few words for that table
};

/// Sorted by name, as the API demands.
inline constexpr SupportedFeature kSupportedFeatures[] = {
    {"BackendTLSPolicy", "TLS towards Services and Backends, with a ConfigMap's authorities or the system's"},
    {"BackendTLSPolicySANValidation", "`validation.subjectAltNames`, hostnames and URIs"},
    {"GRPCRoute", "calls by service, method and header to HTTP/2 Backends"},
    {"GRPCRouteNamedRouteRule", "`name` of its rules"},
    {"Gateway", "listeners for HTTP and HTTPS, with addresses of its own"},
    {"GatewayHTTPListenerIsolation", "the listener with the most specific hostname owns the request"},
    {"GatewayHTTPSListenerDetectMisdirectedRequests", "421 for a host of another listener of the connection's port"},
    {"GatewayPort8080", "port 8080, as any other"},
    {"GatewayStaticAddresses", "`spec.addresses` of type IPAddress"},
    {"HTTPRoute", "requests by host, path and header, with weights"},
    {"HTTPRoute303RedirectStatusCode", "RequestRedirect with 303"},
    {"HTTPRoute307RedirectStatusCode", "RequestRedirect with 307"},
    {"HTTPRoute308RedirectStatusCode", "RequestRedirect with 308"},
    {"HTTPRouteBackendProtocolH2C", "`appProtocol: kubernetes.io/h2c` of a Service's port"},
    {"HTTPRouteBackendProtocolWebSocket", "`appProtocol: kubernetes.io/ws` of a Service's port"},
    {"HTTPRouteBackendRequestHeaderModification", "RequestHeaderModifier of a backendRef"},
    {"HTTPRouteBackendTimeout", "`timeouts.backendRequest`"},
    {"HTTPRouteCORS", "the CORS filter"},
    {"HTTPRouteDestinationPortMatching", "listeners by the port of a parentRef (GEP-957)"},
    {"HTTPRouteExternalAuthForwardBody", "`forwardBody` of the ExternalAuth filter"},
    {"HTTPRouteExternalAuthGRPC", "the ExternalAuth filter over gRPC"},
    {"HTTPRouteExternalAuthHTTP", "the ExternalAuth filter over HTTP"},
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
    {"HTTPRouteRetry", "`retry` by `codes`"},
    {"HTTPRouteRetryBackendTimeout", "`retry` of what `timeouts.backendRequest` ended"},
    {"HTTPRouteRetryConnectionError", "`retry` of connections that fail"},
    {"HTTPRouteSchemeRedirect", "RequestRedirect of the scheme"},
    {"ReferenceGrant", "references to Secrets, ConfigMaps and Backends of other namespaces"},
};

}  // namespace sluice::config
