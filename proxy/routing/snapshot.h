// What the workers serve: the compiled form of a configuration. Never changes once made; shared by all workers as
// const.
//
// Compiled by compile() from the Model; everything that can be decided before a request comes is decided in here.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/box.h"
#include "proxy/base/error.h"
#include "proxy/base/settings.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/pki/trust_store.h"
#include "proxy/processing/chain.h"
#include "proxy/routing/backend_identity.h"
#include "proxy/routing/listener_service.h"
#include "proxy/routing/policy/address_guard.h"
#include "proxy/routing/policy/cors.h"
#include "proxy/routing/policy/header_edit.h"
#include "proxy/routing/policy/redirect.h"
#include "proxy/routing/policy/request_mirror.h"
#include "proxy/routing/policy/retry_policy.h"
#include "proxy/routing/policy/session_policy.h"
#include "proxy/routing/policy/url_rewrite.h"
#include "proxy/routing/served_listener.h"

namespace sluice::routing {

/// What a Backend is spoken to in.
enum class UpstreamProtocol : std::uint8_t {
  kAuto,    // with TLS what ALPN says, HTTP/2 preferred; without TLS HTTP/1.1
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
  /// SHA-256 of public keys (SubjectPublicKeyInfo) in base64, 44 characters each, one of which the chain must hold;
  /// empty: any.
  std::vector<std::string> spkiPins;
  std::string minVersion;    // "1.2" or "1.3"; empty: the default
  std::string cipherSuites;  // OpenSSL's names joined by ":"; empty: the default
};

/// Where one instance of a Service listens.
struct Endpoint {
  std::string ip;  // IP literal
  std::uint16_t port = 0;

  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// One destination: a Backend, or a Service, and one of its ports.
struct BackendPlan {
  std::string name;  // "namespace/name"
  BackendIdentity identity;
  /// The identity against whose limits.backendConnections and backendRequests it counts, if that is not its own: the
  /// same destination by another version of HTTP.
  BackendIdentity countsAs = {};
  std::string hostname;  // lower case; a name, or an IP literal
  std::uint16_t port = 0;
  /// Host / :authority of requests to it: the hostname, with the port unless it is the scheme's default. Requests to a
  /// Service keep the client's, and have this one only if the client named none.
  std::string authority;
  UpstreamProtocol protocol = UpstreamProtocol::kAuto;
  std::optional<UpstreamTls> tls;
  /// Of a Service alone: its endpoints that are ready, sorted, each once, in place of addresses of `hostname`. They
  /// come and go while the identity stays.
  std::optional<std::vector<Endpoint>> endpoints = std::nullopt;
  /// The same, spoken to in HTTP/1.1 only, if otherwise ALPN would decide: for requests that HTTP/2 can not carry.
  std::shared_ptr<const BackendPlan> http11 = nullptr;
  /// Of its extensions; null if it has none. They are for requests, not for connections: the identity leaves them out.
  std::shared_ptr<const processing::Chain> chain = nullptr;
};

/// The plan by which the request reaches the Backend; nullptr if there is none: it asks for a WebSocket (RFC 6455), and
/// the Backend speaks HTTP/2 only.
const std::shared_ptr<const BackendPlan>* planFor(const http::RequestHead& request,
                                                  const std::shared_ptr<const BackendPlan>& backend);

/// A share of a rule's traffic. A reference that is broken keeps its share and answers with its error (500).
struct WeightedBackend {
  std::uint32_t weight = 1;
  std::shared_ptr<const BackendPlan> backend;  // null if failure is set
  base::Box<base::Error> failure;
  base::Box<HeaderEdit> requestHeaders;
  base::Box<HeaderEdit> responseHeaders;
  UrlRewrite rewrite;  // what it says replaces what the rule's says
  std::vector<RequestMirror> mirrors;
  base::Box<Redirect> redirect;
  std::shared_ptr<const Cors> cors;  // null: what the rule says
  /// Of its own filters and of the Backend's extensions; null if it has no filters of its own.
  std::shared_ptr<const processing::Chain> chain;
};

/// A rule of a route, at all listeners that the route is attached to. Whoever uses it beyond the life of its snapshot
/// shares it.
struct Rule : std::enable_shared_from_this<Rule> {
  /// `error` as a rule answers it, of a GRPCRoute if `grpc`: calls are told UNAVAILABLE (GRPCRouteRule.backendRefs),
  /// which is what 503 becomes in gRPC's terms.
  static base::Error refusal(base::Error error, bool grpc);
  /// To requests of a rule none of whose shares has a weight.
  static base::Error withoutWeight(bool grpc);

  std::string route;  // "namespace/name"
  bool grpc = false;  // of a GRPCRoute: for gRPC alone
  std::vector<WeightedBackend> backends;
  std::uint64_t totalWeight = 0;
  base::Box<HeaderEdit> requestHeaders;
  base::Box<HeaderEdit> responseHeaders;
  UrlRewrite rewrite;
  std::vector<RequestMirror> mirrors;
  base::Box<Redirect> redirect;      // its only answer then
  std::shared_ptr<const Cors> cors;  // null: browsers are told what the backend says
  /// HTTPRouteRule.timeouts. `request` stands in for timeouts.request of the settings; zero: none.
  std::optional<base::Duration> requestTimeout;
  base::Duration backendRequestTimeout = base::Duration::zero();  // of each attempt
  std::optional<RetryPolicy> retry;
  std::shared_ptr<const processing::Chain> chain;  // of its filters and its route; null if they have none
  std::shared_ptr<const SessionPolicy> session;    // null: no request depends on the ones before it
  /// Set if the whole rule can only answer (no backends, an unbuilt field that would restrict traffic, ...).
  base::Box<base::Error> failure;

  /// The backend that `random` (uniform over 64 bits) falls on; nullptr if all weights are 0 or there are none: answer
  /// 500.
  const WeightedBackend* choose(std::uint64_t random) const;
  /// The same among the shares that lead to a Backend and are not in `tried` (a bit each, by position); nullptr if
  /// there are none.
  const WeightedBackend* chooseAnother(std::uint64_t random, std::uint64_t tried) const;
};

struct ListenerIdentity {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
};

/// One socket to listen on. Several Gateway listeners that differ by hostname share it.
struct Bind {
  std::string address;  // IP literal; "" for all addresses
  std::uint16_t port = 0;
  bool tls = false;
  std::vector<ListenerIdentity> identities;  // with tls at least one
  ListenerService service;
};

struct Snapshot {
  base::Settings settings;
  AddressGuard addressGuard;  // settings.addressGuardAllow
  /// What the values of sessions are sealed by, as settings.sessionKey says; null: by what the process has.
  std::shared_ptr<const pki::ValueSealer> sessionSealer;
  std::vector<Bind> binds;
  /// Every Backend that a rule refers to, each once.
  std::vector<std::shared_ptr<const BackendPlan>> backends;
};

}  // namespace sluice::routing
