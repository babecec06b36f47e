// The objects of one configuration as their users wrote them, checked one by one against their schemas and nothing
// more.
//
// What depends on two objects (attachment, references, conflicts) is compile()'s. Plain values with one owner; made by
// load() and read by compile() on the main thread. Defaults of the API are filled in. A text that is empty was not
// given, unless the field says otherwise; a namespace that is empty means that of the object that holds the reference.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/label_selector.h"
#include "config/objects.h"
#include "config/settings.h"
#include "proxy/base/secret.h"

namespace sluice::config {

inline constexpr std::string_view kGatewayGroup = "gateway.networking.k8s.io";
inline constexpr std::string_view kExperimentalGroup = "gateway.networking.x-k8s.io";
inline constexpr std::string_view kPrototypeGroup = "ainetworking.prototype.x-k8s.io";
inline constexpr std::string_view kOwnGroup = "sluice.dev";
inline constexpr std::string_view kControllerName = "sluice.dev/egress-gateway";

struct ObjectMeta {
  std::string nameSpace;  // "default" if not given; empty for GatewayClass
  std::string name;
  std::optional<std::int64_t> generation;
  std::string creationTimestamp;  // RFC 3339 in UTC, so that texts compare as times; empty (files) sorts as oldest
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  Position position;  // of the document's first key

  /// "namespace/name", or the name alone for objects without a namespace.
  std::string qualifiedName() const;
};

/// A field that the API knows and this program does not serve yet (condition reason UnsupportedValue). If it would
/// restrict or alter traffic, what holds it (rule, share of a rule, listener, Backend) answers 500 instead of doing
/// something else than was asked.
struct Unbuilt {
  std::string path;  // "spec.rules[0].filters[1]"
  Position position;
  std::string message;  // one sentence without the path: "filter RequestMirror is not supported"
  bool altersTraffic = true;
};

/// A reference to another object, with the defaults of its field filled in.
struct ObjectRef {
  std::string group;
  std::string kind;
  std::string nameSpace;  // empty: the holder's
  std::string name;
  std::string path;  // of the field that holds it
  Position position;
};

struct GatewayClass {
  ObjectMeta meta;
  std::string controllerName;
  std::string description;
  std::optional<ObjectRef> parametersRef;
};

enum class ListenerProtocol : std::uint8_t { kHttp, kHttps, kOther };
enum class ListenerTlsMode : std::uint8_t { kTerminate, kPassthrough };
enum class RouteNamespaces : std::uint8_t { kSame, kAll, kSelector };

struct ListenerTls {
  ListenerTlsMode mode = ListenerTlsMode::kTerminate;
  std::vector<ObjectRef> certificateRefs;
};

struct RouteKind {
  std::string group;
  std::string kind;
  friend bool operator==(const RouteKind&, const RouteKind&) = default;
};

struct Listener {
  std::string name;
  std::string path;      // "spec.listeners[0]"
  std::string hostname;  // lower case, may begin with "*."; empty: all
  std::uint16_t port = 0;
  ListenerProtocol protocol = ListenerProtocol::kHttp;
  std::string protocolName;        // as written: "HTTP", "TLS", "example.com/quic"
  std::optional<ListenerTls> tls;  // kHttps may lack it: then it has no certificate
  RouteNamespaces routeNamespaces = RouteNamespaces::kSame;
  LabelSelector namespaceSelector;                   // kSelector
  std::optional<std::vector<RouteKind>> routeKinds;  // none: what the protocol allows
  std::vector<Unbuilt> unbuilt;
  Position position;
};

struct GatewayAddress {
  std::string type = "IPAddress";
  std::string value;  // empty: of the implementation's choice
  std::string path;
  Position position;
};

/// For whoever creates the objects that a Gateway runs in.
struct Infrastructure {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::optional<ObjectRef> parametersRef;
};

struct Gateway {
  ObjectMeta meta;
  std::string gatewayClassName;
  Infrastructure infrastructure;
  std::vector<GatewayAddress> addresses;  // type IPAddress with a value: a valid IP literal
  std::vector<Listener> listeners;
  std::vector<Unbuilt> unbuilt;
};

struct ParentRef {
  ObjectRef object;
  std::string sectionName;
  std::uint16_t port = 0;  // 0: not given
};

enum class PathMatchType : std::uint8_t { kExact, kPathPrefix, kRegularExpression };
enum class ValueMatchType : std::uint8_t { kExact, kRegularExpression };

struct PathMatch {
  PathMatchType type = PathMatchType::kPathPrefix;
  std::string value = "/";
  std::string path;
  Position position;
};

/// A match of one header field or query parameter. Regular expressions are RE2's and not yet compiled here.
struct NamedMatch {
  ValueMatchType type = ValueMatchType::kExact;
  std::string name;  // as written; header names compare without case
  std::string value;
  std::string path;
  Position position;
};

struct HttpRouteMatch {
  PathMatch path;
  std::vector<NamedMatch> headers;
  std::vector<NamedMatch> queryParams;
  std::string method;  // empty: any
};

/// `method` of a GRPCRoute's match. Of the expressions an empty one was not given.
struct RpcMatch {
  ValueMatchType type = ValueMatchType::kExact;
  std::string service;  // empty: any
  std::string method;   // empty: any
  std::string path;
  Position position;
};

struct GrpcRouteMatch {
  RpcMatch rpc;
  std::vector<NamedMatch> headers;
};

struct HeaderValue {
  std::string name;
  std::string value;
};

/// RequestHeaderModifier and ResponseHeaderModifier.
struct HeaderModifier {
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

struct UrlRewrite {
  std::string hostname;  // empty: not rewritten
  std::optional<PathModifier> path;
};

struct RequestRedirect {
  std::string scheme;    // "http" or "https"; empty: the request's
  std::string hostname;  // empty: the request's
  std::optional<PathModifier> path;
  std::uint16_t port = 0;  // 0: that of `scheme`, or else the listener's
  std::uint16_t statusCode = 302;
  std::string fieldPath;  // "spec.rules[0].filters[0].requestRedirect"
};

/// What browsers are told about requests from other origins. A "*" in one of the first three lists stands there alone.
struct Cors {
  std::vector<std::string> allowOrigins;  // "https://api.test:8443", "https://*.test", "https://*", "*"
  std::vector<std::string> allowMethods;
  std::vector<std::string> allowHeaders;
  std::vector<std::string> exposeHeaders;
  bool allowCredentials = false;
  std::int32_t maxAge = 5;  // seconds
  std::string path;
};

/// Of a rule, or of one of its shares. With kReplacePrefixMatch the rule's `matches` are one kPathPrefix.
struct Filters {
  std::optional<HeaderModifier> requestHeaders;
  std::optional<HeaderModifier> responseHeaders;
  std::optional<UrlRewrite> urlRewrite;  // or requestRedirect
  std::optional<RequestRedirect> requestRedirect;
  std::optional<Cors> cors;
};

/// One share of the traffic of a rule, of HTTPRoutes and GRPCRoutes alike.
struct HttpBackendRef {
  ObjectRef object;
  std::uint16_t port = 0;  // 0: not given
  std::uint32_t weight = 1;
  Filters filters;
  std::vector<Unbuilt> unbuilt;  // this share of the rule only
};

/// HTTPRouteRule.retry, with what stands in for what is not given.
struct Retry {
  std::vector<std::uint16_t> codes;  // 400 to 599, each once
  std::uint32_t attempts = 1;        // beyond the first; at most 10
  Duration backoff = std::chrono::milliseconds(25);
};

/// What the rules of every kind of route have.
struct RouteRule {
  std::string name;
  std::string path;  // "spec.rules[0]"
  Filters filters;
  std::vector<HttpBackendRef> backendRefs;  // none with a redirect
  std::vector<Unbuilt> unbuilt;
  Position position;
};

struct HttpRouteRule : RouteRule {
  std::vector<HttpRouteMatch> matches;            // never empty: the API's default is PathPrefix "/"
  std::optional<Duration> requestTimeout;         // 0: none
  std::optional<Duration> backendRequestTimeout;  // 0: none
  std::optional<Retry> retry;
};

/// What every kind of route has, besides its rules.
struct Route {
  ObjectMeta meta;
  std::vector<ParentRef> parentRefs;
  std::vector<std::string> hostnames;  // lower case, may begin with "*."
  std::vector<Unbuilt> unbuilt;
};

struct HttpRoute : Route {
  static constexpr std::string_view kKind = "HTTPRoute";
  std::vector<HttpRouteRule> rules;
};

struct GrpcRouteRule : RouteRule {
  std::vector<GrpcRouteMatch> matches;  // never empty: without any, every call
};

struct GrpcRoute : Route {
  static constexpr std::string_view kKind = "GRPCRoute";
  std::vector<GrpcRouteRule> rules;
};

/// Of the core group; a namespace need not have one to hold objects.
struct Namespace {
  ObjectMeta meta;
};

struct ConfigMap {
  ObjectMeta meta;
  struct Entry {
    std::string value;
    Position position;              // of the value
    std::uint32_t blockColumn = 0;  // as in Value
  };
  std::map<std::string, Entry> data;  // binaryData, decoded, is in here too

  /// nullptr if there is no such key.
  const std::string* find(const std::string& key) const;
};

/// A Secret: `data` (decoded) and `stringData` (which wins) in one map.
struct SecretObject {
  ObjectMeta meta;
  std::string type;
  std::map<std::string, base::Secret> data;

  const base::Secret* find(const std::string& key) const;
};

/// What every spelling of TLS towards a Backend comes down to (C-01).
enum class TlsMode : std::uint8_t { kNone, kPassthrough, kServerAuth, kMutual };

struct BackendTls {
  TlsMode mode = TlsMode::kNone;
  std::string serverName;         // SNI, lower case; empty: the hostname
  std::vector<ObjectRef> caRefs;  // ConfigMaps (or Secrets) with the key ca.crt; empty: the system's authorities
  std::vector<std::string>
      subjectAltNames;  // DNS names, one of which the certificate must have; empty: the hostname verified
  std::optional<ObjectRef> clientCertificateRef;  // kMutual: a Secret with tls.crt and tls.key
  bool insecureSkipVerify = false;
  /// `tls.options` of our own Backend (E-57), by the keys of tls_option, as they were written.
  std::map<std::string, std::string> options;
  std::string path = "spec.tls";
  Position position;
};

namespace tls_option {
inline constexpr std::string_view kSpkiPins = "sluice.dev/spki-pins";
inline constexpr std::string_view kMinVersion = "sluice.dev/min-tls-version";
inline constexpr std::string_view kCipherSuites = "sluice.dev/cipher-suites";
}  // namespace tls_option

/// What a port of a Backend speaks; kOther is none of ours.
enum class BackendProtocol : std::uint8_t { kAuto, kHttp11, kHttp2, kOther };

struct BackendPort {
  std::string name;
  std::uint16_t number = 0;
  BackendProtocol protocol = BackendProtocol::kAuto;
  std::optional<BackendTls> tls = std::nullopt;  // none: that of the Backend
  std::string protocolName = {};                 // as written: "HTTP", "MCP"; empty if it was not
  std::string protocolPath = {};                 // of the field
};

/// One use of a payload processor (`spec.extensions[]`). Read and kept; not run yet, so it is in the Backend's
/// `unbuilt` too.
struct ProcessorUse {
  std::string name;
  std::string type;   // "domain/Kind:version"
  std::string phase;  // one of the seven; empty: what the catalog says (E-55)
  std::int32_t priority = 0;
  bool failOpen = false;
  bool preAuth = false;
  std::optional<Duration> timeout;
  std::optional<Value> config;  // `config` or `rawConfig`
  std::string path;
  Position position;
};

/// How the kind's CRD shapes its status.
enum class BackendStatusShape : std::uint8_t { kControllers, kParents };

/// One external destination, in whichever spelling it came. Each spelling has its own read_backend_*.cc.
struct Backend {
  ObjectMeta meta;
  std::string group;  // with `kind` what a backendRef must name
  std::string kind;
  BackendStatusShape statusShape = BackendStatusShape::kControllers;
  /// Lower case, a name; never an address, nor this machine's or the cluster's own name (E-54). Empty, with or without
  /// ports, for destinations of a kind that is not built.
  std::string hostname;
  std::vector<BackendPort> ports;  // at least one, each number once
  std::optional<BackendTls> tls;
  std::vector<ProcessorUse> extensions;
  std::vector<Unbuilt> unbuilt;

  /// What a backendRef with this port means: 0 is the only port. nullptr if there is no such port, or none was named
  /// among several.
  const BackendPort* findPort(std::uint16_t number) const;
};

/// Leave for references from other namespaces into that of the grant: any `from` to any `to`.
struct ReferenceGrant {
  struct From {
    std::string group;
    std::string kind;
    std::string nameSpace;
  };
  struct To {
    std::string group;
    std::string kind;
    std::string name;  // empty: all of the kind
  };
  ObjectMeta meta;
  std::vector<From> from;
  std::vector<To> to;
};

/// An object that its schema refuses: absent from the lists above, but what refers to it must answer 500, not 404
/// (C-11).
struct Rejected {
  std::string group;
  std::string kind;
  std::string nameSpace;
  std::string name;
  std::optional<std::int64_t> generation;
  std::string message;  // its first problem, with the field
  Position position;
  /// What could still be read of it, so that what it would have carried can answer 500. It never claims more than was
  /// written: a match, hostname, parent or listener that is not legible is left out, and a rule without a legible match
  /// too.
  std::optional<Gateway> gateway;
  std::optional<HttpRoute> httpRoute;
  std::optional<GrpcRoute> grpcRoute;
};

struct Model {
  Objects<GatewayClass> gatewayClasses;
  Objects<Gateway> gateways;
  Objects<HttpRoute> httpRoutes;
  Objects<GrpcRoute> grpcRoutes;
  Objects<Namespace> namespaces;
  Objects<ConfigMap> configMaps;
  Objects<SecretObject> secrets;
  Objects<Backend> backends;
  Objects<ReferenceGrant> referenceGrants;
  std::vector<Rejected> rejected;
  /// Objects that their schema refuses while their previous valid version serves on: that one is in the lists above,
  /// with the generation of the refused one. See keepLastGood().
  std::vector<Rejected> kept;

  /// From the ConfigMap that our GatewayClass names; the defaults if it names none, or if there is a fault.
  Settings settings;
  /// Why the settings could not be read (GatewayClass Accepted=False, InvalidParameters); empty if they could.
  std::string settingsFault;
  /// Why `settings` are not those that are written but the ones before them; empty if they are.
  std::string settingsKept;
  /// The GatewayClass with our controllerName that the settings came from; empty if there is none. Others with our name
  /// are refused.
  std::string gatewayClassName;

  const GatewayClass* findGatewayClass(std::string_view name) const;
  const Gateway* findGateway(std::string_view nameSpace, std::string_view name) const;
  const HttpRoute* findHttpRoute(std::string_view nameSpace, std::string_view name) const;
  const GrpcRoute* findGrpcRoute(std::string_view nameSpace, std::string_view name) const;
  const ReferenceGrant* findReferenceGrant(std::string_view nameSpace, std::string_view name) const;
  const Namespace* findNamespace(std::string_view name) const;
  const ConfigMap* findConfigMap(std::string_view nameSpace, std::string_view name) const;
  const SecretObject* findSecret(std::string_view nameSpace, std::string_view name) const;
  const Backend* findBackend(std::string_view group, std::string_view kind, std::string_view nameSpace,
                             std::string_view name) const;
  const Rejected* findRejected(std::string_view group, std::string_view kind, std::string_view nameSpace,
                               std::string_view name) const;
  const Rejected* findKept(std::string_view group, std::string_view kind, std::string_view nameSpace,
                           std::string_view name) const;
};

/// Those of the Namespace object, if there is one, and the one that every namespace has: its name.
std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name);

}  // namespace sluice::config
