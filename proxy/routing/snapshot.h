// A Snapshot is the compiled form of a configuration, which the workers serve. It never changes once made, and all
// workers share it as const.
//
// compile() makes it from the Model; everything that can be decided before a request comes is decided there.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/box.h"
#include "proxy/base/error.h"
#include "proxy/base/object_names.h"
#include "proxy/base/settings.h"
#include "proxy/base/terms/endpoint_zones.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/pki/trust_store.h"
#include "proxy/processing/chain.h"
#include "proxy/routing/backend_identity.h"
#include "proxy/routing/policy/address_guard.h"
#include "proxy/routing/policy/backend_reach.h"
#include "proxy/routing/policy/connection_settings.h"
#include "proxy/routing/policy/cors.h"
#include "proxy/routing/policy/egress/egress_policies.h"
#include "proxy/routing/policy/endpoint.h"
#include "proxy/routing/policy/endpoint_ejections.h"
#include "proxy/routing/policy/failover.h"
#include "proxy/routing/policy/header_edit.h"
#include "proxy/routing/policy/redirect.h"
#include "proxy/routing/policy/request_mirror.h"
#include "proxy/routing/policy/retry_policy.h"
#include "proxy/routing/policy/session_policy.h"
#include "proxy/routing/policy/url_rewrite.h"
#include "proxy/routing/table/listener_service.h"
#include "proxy/routing/table/served_listener.h"

namespace sluice::routing {

/// The protocol of a Backend.
enum class UpstreamProtocol : std::uint8_t {
  kAuto,    // with TLS the version that ALPN chooses, HTTP/2 preferred; without TLS HTTP/1.1
  kHttp11,  // HTTP/1.1 only
  kHttp2,   // HTTP/2 only: ALPN h2, or prior knowledge without TLS
  kOpaque   // bytes of any protocol, for tunnels alone; without ALPN
};

/// TLS originated towards a Backend.
struct UpstreamTls {
  std::string serverName;
  std::vector<std::string> subjectAltNames;
  std::shared_ptr<const pki::TrustStore> trust;
  std::shared_ptr<const pki::CertificateChain> clientCertificate;  // Mutual only
  std::shared_ptr<const pki::PrivateKey> clientKey;
  bool insecureSkipVerify = false;
  /// SHA-256 of public keys (SubjectPublicKeyInfo) in base64, 44 characters each, one of which the chain must have;
  /// empty: any.
  std::vector<std::string> spkiPins;
  std::string minVersion;    // "1.2" or "1.3"; empty: the default
  std::string cipherSuites;  // OpenSSL's names joined by ":"; empty: the default
  /// The Secrets that it was made of.
  base::ObjectNames secrets = {};
};

struct DynamicTargets;

/// One destination: a Backend, or a Service, and one of its ports.
struct BackendPlan {
  std::string name;  // "namespace/name"
  /// Kind, group and name of the object that it was compiled from. Two objects share no connections and no bounds, even
  /// if they lead to one destination: the namespaces of a cluster do not trust each other.
  std::string object = {};
  BackendIdentity identity;
  /// The identity to which health and limits belong, if it is not its own: that of the same destination by another
  /// version of HTTP, or without the settings of a policy.
  BackendIdentity countsAs = {};
  /// Only with bounds of a policy: the identity that all plans with these bounds share, by either version of HTTP, so
  /// that they are counted together.
  BackendIdentity boundsOf = {};
  std::string hostname;  // lower case; a name, or an IP literal
  std::uint16_t port = 0;
  /// Host or :authority of requests to it: the hostname, with the port unless that is the scheme's default. Requests to
  /// a Service keep the client's authority, and have this one only if the client named none.
  std::string authority;
  UpstreamProtocol protocol = UpstreamProtocol::kAuto;
  std::optional<UpstreamTls> tls;
  ConnectionSettings connection = {};  // of policies
  /// Only of a Service, or a Backend that leads to one: the endpoints that are ready, sorted and without duplicates, in
  /// place of the addresses of `hostname`. They change while the identity stays: a rule's plan may have those of an
  /// earlier snapshot, and Snapshot::backends has the current ones.
  std::optional<std::vector<Endpoint>> endpoints = std::nullopt;
  std::vector<base::EndpointZones> zones = {};  // those of each of the endpoints
  /// Only of a Backend: records whether it takes connections. Workers write it; no request depends on it.
  std::shared_ptr<const BackendReach> reach = nullptr;
  /// Only of a Backend of type Dynamic: where requests may go that name the destination themselves. Such a plan has no
  /// host, and no request goes to it: see dynamic_targets.h.
  std::shared_ptr<const DynamicTargets> dynamic = nullptr;
  /// Only of a destination that a request has named: the plan of its port, which has no host.
  std::shared_ptr<const BackendPlan> requestedOf = nullptr;
  /// Only of a port of a Backend of type Dynamic: the same port for tunnels, whose bytes go there as they are.
  std::shared_ptr<const BackendPlan> stream = nullptr;
  /// True of a server that the settings name. It may be in a private network, like an endpoint of a Service, so the
  /// address guard treats its addresses in the same way.
  bool ofSettings = false;
  /// The same Backend in HTTP/1.1 only, if ALPN would decide otherwise: for WebSockets, which few backends take
  /// over HTTP/2.
  std::shared_ptr<const BackendPlan> http11 = nullptr;
  /// The steps of its extensions; null if it has none. They belong to requests, not to connections, so the identity
  /// leaves them out.
  std::shared_ptr<const processing::Chain> chain = nullptr;

  /// Returns the identity to which health belongs.
  const BackendIdentity& countedAs() const { return countsAs.empty() ? identity : countsAs; }
  /// Returns the identity by which connections and requests are counted.
  const BackendIdentity& boundedAs() const { return boundsOf.empty() ? countedAs() : boundsOf; }
};

/// Returns the object of a plan as events name it ("Backend demo/api"); empty for a server of the settings.
std::string titleOf(const BackendPlan& plan);
/// Returns the title of a BackendPlan::object in the same form.
std::string titleOf(std::string_view object);

/// Returns the plan by which the request reaches the Backend; nullptr if there is none, because it asks for a tunnel of
/// a kind that the Backend does not carry.
const std::shared_ptr<const BackendPlan>* planFor(const http::RequestHead& request,
                                                  const std::shared_ptr<const BackendPlan>& backend);

/// One weighted backend of a rule. A broken reference keeps its weight, and its error is the answer (500).
struct WeightedBackend {
  std::uint32_t weight = 1;
  std::shared_ptr<const BackendPlan> backend;  // null if failure is set
  base::Box<base::Error> failure;
  base::Box<HeaderEdit> requestHeaders;
  base::Box<HeaderEdit> responseHeaders;
  UrlRewrite rewrite;  // its members replace those of the rule's
  std::vector<RequestMirror> mirrors;
  base::Box<Redirect> redirect;
  std::shared_ptr<const Cors> cors;  // null: the rule's applies
  /// The outlier detection of the Backend's endpoints, if a policy asks for it and there may be several.
  base::Box<OutlierDetection> outliers;
  base::Box<RetryConstraint>
      retryConstraint;  // if set, it bounds retries at this Backend in place of the rule's budget
  /// The steps of its own filters and of the Backend's extensions; null if it has no filters of its own.
  std::shared_ptr<const processing::Chain> chain;
};

/// A rule of a route, at all listeners to which the route is attached. Code that uses it beyond the life of its
/// snapshot shares it.
struct Rule : std::enable_shared_from_this<Rule> {
  /// Returns `error` in the form in which a rule answers with it. For a rule of a GRPCRoute (`grpc`) its status is 503,
  /// which becomes UNAVAILABLE in gRPC (GRPCRouteRule.backendRefs).
  static base::Error refusal(base::Error error, bool grpc);
  /// Returns the answer of a rule that has no Backend, or whose weights are all 0.
  base::Error withoutBackend() const;

  std::string route;    // "namespace/name"
  bool grpc = false;    // the rule belongs to a GRPCRoute, and serves gRPC alone
  bool isRest = false;  // the rule is ServedListener::rest, which belongs to no route
  std::vector<WeightedBackend> backends;
  std::uint64_t totalWeight = 0;
  base::Box<HeaderEdit> requestHeaders;
  base::Box<HeaderEdit> responseHeaders;
  UrlRewrite rewrite;
  std::vector<RequestMirror> mirrors;
  base::Box<Redirect> redirect;      // if set, the rule's only answer
  std::shared_ptr<const Cors> cors;  // null: the backend's own fields reach browsers
  /// HTTPRouteRule.timeouts.request, in place of timeouts.request of the settings; zero: none.
  std::optional<base::Duration> requestTimeout;
  base::Duration backendRequestTimeout = base::Duration::zero();  // of each attempt
  base::Duration attemptIdleTimeout = base::Duration::zero();     // of each attempt, without a byte; zero: none
  /// The longest time without a byte, in place of timeouts.streamIdle of the settings.
  std::optional<base::Duration> streamIdleTimeout = std::nullopt;
  std::optional<RetryPolicy> retry;
  std::shared_ptr<const FailoverPolicy> failover;  // null: requests are spread by weight alone
  /// One for each of `backends`, null for one that is broken; empty if none is checked.
  std::vector<std::shared_ptr<const HealthCheck>> healthChecks;
  std::shared_ptr<const processing::Chain> chain;  // steps of its filters and its route; null if they have none
  std::shared_ptr<const SessionPolicy> session;    // null: no request depends on the ones before it
  /// The policies for it and its route about where its requests may go, besides those for its listener; may be null.
  std::shared_ptr<const EgressPolicies> egress;
  /// Set if the whole rule can only answer (a field that cannot be served as it is written, all weights 0, ...). A rule
  /// that names no backends has none: its steps run, and one of them may answer.
  base::Box<base::Error> failure;

  /// Returns the endpoints of one of `backends` that fail the rule's health checks or are ejected; null if none is.
  std::shared_ptr<const Endpoints> failingEndpoints(const WeightedBackend& backend, base::MonotonicTime now) const {
    return healthChecks.empty() && !backend.outliers ? nullptr : unhealthyEndpoints(backend, now);
  }
  /// Returns the member of the fail-over for one of `backends`; nullptr if there is no fail-over.
  const FailoverMember* memberOf(const WeightedBackend& backend) const {
    return failover ? &failover->members[static_cast<std::size_t>(&backend - backends.data())] : nullptr;
  }
  /// Returns whether it has times for a request that differ from the settings.
  bool hasDeadlines() const { return requestTimeout || streamIdleTimeout; }
  /// Returns whether it bounds each attempt.
  bool boundsAttempts() const {
    return backendRequestTimeout != base::Duration::zero() || attemptIdleTimeout != base::Duration::zero();
  }
  /// Returns the weighted backend that `random` (uniform over 64 bits) chooses; nullptr, for an answer with 500, if all
  /// weights are 0 or there are none.
  const WeightedBackend* choose(std::uint64_t random) const;
  /// Returns the weighted backends that lead to no Backend because something about them is broken (a bit each, by
  /// position).
  std::uint64_t broken() const;
  /// Returns these, and those whose filters answer requests themselves. Neither can take a retry.
  std::uint64_t unfit() const;
  /// Chooses likewise among the weighted backends that lead to a Backend and are not in `tried` (a bit each, by
  /// position). Returns nullptr if there are none.
  const WeightedBackend* chooseAnother(std::uint64_t random, std::uint64_t tried) const;

 private:
  std::shared_ptr<const Endpoints> unhealthyEndpoints(const WeightedBackend& backend, base::MonotonicTime now) const;
};

struct ListenerIdentity {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
  std::shared_ptr<const ClientValidation> clients = nullptr;  // null: clients are not asked for a certificate
};

/// One socket to listen on. Several listeners of a Gateway that differ by hostname share it.
struct Bind {
  std::string address;  // IP literal; "" for all addresses
  std::uint16_t port = 0;
  bool tls = false;
  std::string gateway = {};                  // as events name it: "Gateway demo/egress"
  std::vector<ListenerIdentity> identities;  // with tls at least one
  ListenerService service;
};

/// A Backend with active health checks.
struct CheckedBackend {
  std::shared_ptr<const BackendPlan> backend;
  std::shared_ptr<const HealthCheck> check;
  /// The outlier detection of rules that use the Backend, too. If the check finds that it serves again, its ejections
  /// end.
  std::vector<std::shared_ptr<const AnswerHealth>> answers;
  /// Likewise, of single endpoints.
  std::vector<std::shared_ptr<const EndpointEjections>> ejections = {};
  /// The policies of the rules that use the Backend. The check may go where those of one rule let it. Empty if a rule
  /// has none, and the check may go anywhere.
  std::vector<EgressCoverage> covers = {};
};

/// The ejections of a Backend by the outlier detection of one rule.
struct BackendEjections {
  std::shared_ptr<const BackendPlan> backend;
  std::string rule;                                    // "HTTPRoute demo/web, rule 0"
  std::shared_ptr<const EndpointEjections> endpoints;  // those of its endpoints; may be null
  std::shared_ptr<const AnswerHealth> whole;           // as a member of the rule's fail-over; may be null
};

struct Snapshot {
  base::Settings settings;
  AddressGuard addressGuard;  // settings.addressGuardAllow
  /// Seals the values of sessions with settings.sessionKey; null: the process's own sealer does.
  std::shared_ptr<const pki::ValueSealer> sessionSealer;
  std::vector<Bind> binds;
  /// Every Backend to which a rule refers, each once.
  std::vector<std::shared_ptr<const BackendPlan>> backends;
  std::vector<CheckedBackend> checked;
  /// One for each rule and Backend, if the rule may eject the Backend or its endpoints; for reports alone.
  std::vector<BackendEjections> ejections;
};

}  // namespace sluice::routing
