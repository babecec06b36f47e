// HTTPRoutes and GRPCRoutes as their users wrote them. They are plain values; see model.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"
#include "config/model/processor_model.h"
#include "proxy/base/box.h"
#include "proxy/base/settings.h"

namespace sluice::config {

struct ParentRef {
  ObjectRef object;
  std::string sectionName;
  std::uint16_t port = 0;  // 0 if absent
};

enum class PathMatchType : std::uint8_t { kExact, kPathPrefix, kRegularExpression };
enum class ValueMatchType : std::uint8_t { kExact, kRegularExpression };

struct PathMatch {
  PathMatchType type = PathMatchType::kPathPrefix;
  std::string value = "/";
  std::string path;
  Position position;
};

/// A match of one header field or query parameter. Regular expressions have the syntax of RE2 and are not compiled yet.
struct NamedMatch {
  ValueMatchType type = ValueMatchType::kExact;
  std::string name;  // as written; names of header fields are compared without regard to case
  std::string value;
  std::string path;
  Position position;
};

/// The common part of all matches. It matters only for objects that their schema refuses.
struct WrittenMatch {
  /// True if some of its conditions could not be read. The match then covers more than was written, so the matches of
  /// all other rules that cover the same requests take precedence.
  bool widened = false;
};

struct HttpRouteMatch : WrittenMatch {
  PathMatch path;
  std::vector<NamedMatch> headers;
  std::vector<NamedMatch> queryParams;
  std::string method;  // empty for any
};

/// `method` of a GRPCRoute's match. An empty expression means that the field was not given.
struct RpcMatch {
  ValueMatchType type = ValueMatchType::kExact;
  std::string service;  // empty for any
  std::string method;   // empty for any
  std::string path;
  Position position;
};

struct GrpcRouteMatch : WrittenMatch {
  RpcMatch rpc;
  std::vector<NamedMatch> headers;
};

struct HeaderValue {
  std::string name;
  std::string value;
};

/// The RequestHeaderModifier and ResponseHeaderModifier filters.
struct HeaderModifierFilter {
  std::vector<HeaderValue> set;
  std::vector<HeaderValue> add;
  std::vector<std::string> remove;
  std::string path;
  Position position;
};

enum class PathModifierType : std::uint8_t { kReplaceFullPath, kReplacePrefixMatch };

struct PathModifier {
  PathModifierType type = PathModifierType::kReplaceFullPath;
  std::string value;  // may be empty
  std::string path;
  Position position;
};

struct UrlRewriteFilter {
  std::string hostname;  // empty if it is not rewritten
  std::optional<PathModifier> path;
};

struct RequestRedirectFilter {
  std::string scheme;    // "http" or "https"; empty for that of the request
  std::string hostname;  // empty for that of the request
  std::optional<PathModifier> path;
  std::uint16_t port = 0;  // 0 for the port of `scheme`, or else the listener's
  std::uint16_t statusCode = 302;
  std::string fieldPath;  // "spec.rules[0].filters[0].requestRedirect"
};

/// The CORS filter tells browsers which requests from other origins they may send. If one of the first three lists
/// contains "*", it has no other element.
struct CorsFilter {
  std::vector<std::string> allowOrigins;  // "https://api.test:8443", "https://*.test", "https://*", "*"
  std::vector<std::string> allowMethods;
  std::vector<std::string> allowHeaders;
  std::vector<std::string> exposeHeaders;
  bool allowCredentials = false;
  std::int32_t maxAge = 5;  // seconds
  std::string path;
};

/// The destination of requests (BackendObjectReference).
struct BackendObjectReference {
  ObjectRef object;
  std::uint16_t port = 0;  // 0 if absent
};

/// The RequestMirror filter: it copies `numerator` of `denominator` requests.
struct RequestMirrorFilter : BackendObjectReference {
  std::uint32_t numerator = 1;
  std::uint32_t denominator = 1;
};

/// The filters of a rule or of one of its weighted backends. With kReplacePrefixMatch, the `matches` of the rule are a
/// single kPathPrefix.
struct RouteFilters {
  base::Box<HeaderModifierFilter> requestHeaders;
  base::Box<HeaderModifierFilter> responseHeaders;
  base::Box<UrlRewriteFilter> urlRewrite;  // never together with requestRedirect
  base::Box<RequestRedirectFilter> requestRedirect;
  base::Box<CorsFilter> cors;
  std::vector<RequestMirrorFilter> mirrors;
  std::vector<ProcessorFilter> processors;  // in the order of the filters
};

/// A weighted backend of a rule, both for HTTPRoutes and for GRPCRoutes.
struct HttpBackendRef : BackendObjectReference {
  std::uint32_t weight = 1;
  RouteFilters filters;
  std::vector<UnsupportedField> unsupported;  // they concern only this weighted backend
};

/// HTTPRouteRule.retry with its defaults filled in.
struct HttpRouteRetry {
  std::vector<std::uint16_t> codes;  // 400 to 599, without duplicates
  std::uint32_t attempts = 1;        // besides the first one; at most 10
  base::Duration backoff = std::chrono::milliseconds(25);
};

enum class SessionType : std::uint8_t { kCookie, kHeader };

/// The sessionPersistence of a rule (GEP-1619).
struct SessionPersistence {
  std::string name;  // a token; empty if the implementation chooses
  SessionType type = SessionType::kCookie;
  std::optional<base::Duration> absoluteTimeout;  // set if `permanent` is true
  bool permanent = false;                         // from cookieConfig.lifetimeType; only for cookies
  std::string path;                               // "spec.rules[0].sessionPersistence"
};

/// The common part of the rules of every kind of route.
struct RouteRule {
  std::string name;
  std::string path;  // "spec.rules[0]"
  RouteFilters filters;
  std::vector<HttpBackendRef> backendRefs;  // empty with a redirect
  std::optional<SessionPersistence> sessionPersistence;
  std::vector<UnsupportedField> unsupported;
  /// True if some of its matches could not be read. The rule then covers all requests of its hostnames, but the matches
  /// of all other rules take precedence.
  bool coversRest = false;
  Position position;
};

struct HttpRouteRule : RouteRule {
  std::vector<HttpRouteMatch> matches;           // the API's default is PathPrefix "/"; empty only with `coversRest`
  std::optional<base::Duration> requestTimeout;  // 0 for no limit
  std::optional<base::Duration> backendRequestTimeout;  // 0 for no limit
  std::optional<HttpRouteRetry> retry;
};

/// The common part of every kind of route, besides its rules.
struct Route {
  ObjectMeta meta;
  std::vector<ParentRef> parentRefs;
  std::vector<std::string> hostnames;  // lower case, may begin with "*."
  std::vector<UnsupportedField> unsupported;
};

struct HttpRoute : Route {
  static constexpr std::string_view kKind = "HTTPRoute";
  std::vector<HttpRouteRule> rules;
};

struct GrpcRouteRule : RouteRule {
  std::vector<GrpcRouteMatch> matches;  // by default, every call matches; empty only with `coversRest`
};

struct GrpcRoute : Route {
  static constexpr std::string_view kKind = "GRPCRoute";
  std::vector<GrpcRouteRule> rules;
};

}  // namespace sluice::config
