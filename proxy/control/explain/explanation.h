// An explanation describes how the gateway would handle a request, and why. It is a value, made by explain() and
// printed as a text or as JSON. It contains no value of a header field, no query and no configuration of a processor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/terms/caller.h"
#include "proxy/base/terms/dns_terms.h"
#include "proxy/routing/policy/egress/egress_judge.h"

namespace sluice::control {

class QuestionedDial;

struct ExplainedListener {
  std::string gateway;  // "namespace/name"
  std::string name;
  std::uint16_t port = 0;
  bool tls = false;
  std::string hostname;  // empty: every host
  /// The EgressPolicy by which its clients prove who they are, "namespace/name"; empty if they need not.
  std::string authentication = {};
  bool authenticationRequired = false;
  /// Which certificates it wants of its clients: "required", "optional" or "any"; empty if it asks for none.
  std::string clientCertificates = {};
};

/// A rule of a route, and one of its matches.
struct ExplainedRule {
  std::string kind;      // HTTPRoute or GRPCRoute
  std::string route;     // "namespace/name"; empty for the answer of a listener that is not served
  std::string hostname;  // of the route; empty: every host
  std::uint32_t index = 0;
  std::string name;   // empty if it has none
  std::string match;  // the match that fits the request best, in words
};

/// A rule that does not get the request.
struct PassedOver {
  ExplainedRule rule;
  std::string reason;
};

/// A route that is for the host of the request, and that its parent does not take.
struct RefusedRoute {
  std::string kind;
  std::string route;   // "namespace/name"
  std::string parent;  // "namespace/name" of the Gateway
  std::string reason;  // of its condition Accepted, with the message
  std::string message;
};

/// An answer that the gateway gives by itself.
struct ExplainedAnswer {
  std::uint16_t status = 0;
  std::optional<std::uint32_t> grpcStatus = std::nullopt;  // of an answer in the form of gRPC
  std::string code;      // error.type of the access log; empty if the answer is no error
  std::string reason;    // one sentence
  std::string location;  // of a redirect, without its query
};

/// A filter, in the order in which it applies.
struct ExplainedFilter {
  std::string type;   // as in the API
  std::string scope;  // "rule" or "backendRef"
  bool ofResponse = false;
  std::string effect;  // its effect; names of header fields, but no values
};

/// A step of a payload processor, in the order in which it runs.
struct ExplainedStep {
  std::string stage;  // when it runs, in words
  std::string phase;
  std::string scope;  // "Gateway", "Route" or "Backend"
  std::string name;
  std::string type;
  std::int32_t priority = 0;
  bool failOpen = false;
  bool preAuth = false;
  base::Duration timeout{};
  std::string fallback = {};  // "use NAME" or "response STATUS"; empty: failOpen decides
};

/// The decision of an EgressPolicy.
struct ExplainedRuling {
  routing::EgressRuling ruling = routing::EgressRuling::kPassed;
  std::string policy;      // "namespace/name"; empty if none is enforced
  std::string rule;        // or "default"; empty if it is undecided
  bool byCaller = false;   // it is undecided, because it may depend on who the caller is
  bool byClient = false;   // likewise, on the client's address
  bool byAddress = false;  // likewise, on the address that is dialled
};

/// The decisions of all EgressPolicies that cover a dial.
struct ExplainedEgress {
  ExplainedRuling enforced;              // of those that are enforced together
  std::vector<ExplainedRuling> audited;  // of those that are only audited: all that would refuse it, or might
  bool passedOver = false;               // it is denied, and other Backends take its requests
};

struct ExplainedAddress {
  std::string ip;
  std::uint16_t port = 0;
  std::string addressClass;                              // "public", "loopback", ...
  bool permitted = false;                                // by the address guard
  std::optional<ExplainedEgress> egress = std::nullopt;  // none if no policy covers the rule
  std::string zone = {};                                 // of an endpoint of a Service; empty: unknown
};

struct ExplainedTls {
  std::string mode;  // "Terminate" or "Mutual", as a Backend names it
  std::string serverName;
  std::vector<std::string> subjectAltNames;
  bool verified = true;
  std::size_t pins = 0;
};

/// The state of a Backend that a running gateway has found out by its requests and health checks.
struct ExplainedHealth {
  std::string state;    // serving, failing, ejected, or unknown: nothing has reached it yet
  std::string message;  // why it fails or is ejected, as its conditions say
};

/// A weighted backend of the rule.
struct ExplainedBackend {
  std::string name;                       // "namespace/name"; empty if the reference is broken
  std::string object;                     // BackendPlan::object
  std::uint32_t weight = 0;               // among those of its priority
  std::optional<std::uint32_t> priority;  // from 0 on; none if the rule has no fail-over
  std::string hostname;                   // empty for a Service
  std::uint16_t port = 0;
  std::string protocol;
  std::optional<ExplainedTls> tls;
  bool sendsVia = true;  // or Sluice-Via in its place
  /// The literal address, the endpoints, or the addresses of the name.
  std::vector<ExplainedAddress> addresses;
  bool unresolved = false;                     // the hostname is a name, and was not resolved
  base::DnsTerms dns;                          // the terms on which it is resolved
  std::string resolutionFailure;               // why a name could not be resolved
  std::optional<ExplainedEgress> egress;       // none if no policy covers the rule, or if nothing is dialled
  std::shared_ptr<const QuestionedDial> dial;  // null if `egress` has none
  std::optional<ExplainedHealth> health;       // none: no running gateway was asked
  std::optional<ExplainedAnswer> answer;
  std::vector<ExplainedFilter> filters;
  std::vector<ExplainedStep> steps;
};

struct ExplainedTimeouts {
  base::Duration request{};         // zero: none
  base::Duration backendRequest{};  // of each attempt; zero: none
  base::Duration connect{};         // of several Backends the longest
};

struct ExplainedRetry {
  std::uint32_t attempts = 1;  // the first one included
  std::vector<std::uint16_t> codes;
  base::Duration backoff{};
};

struct Explanation {
  std::string method;
  std::string authority;  // in normal form
  std::string path;       // in normal form, without its query
  std::string version;    // of HTTP
  std::string clientAddress;
  std::optional<base::Caller> caller;  // none: nobody has said who it is
  std::optional<ExplainedListener> listener;
  std::optional<ExplainedRule> rule;
  std::vector<std::string> matches;   // all of the rule, in words
  std::vector<PassedOver> others;     // the next best, at most kMostPassedOver
  std::vector<RefusedRoute> refused;  // at most kMostRefused
  std::vector<ExplainedBackend> backends;
  ExplainedTimeouts timeouts;
  ExplainedRetry retry;
  std::string session;  // how clients carry their session; empty if no request depends on others
  /// The answer if no Backend gets the request, with the filters and steps that it goes through.
  std::optional<ExplainedAnswer> answer;
  std::vector<ExplainedFilter> filters;
  std::vector<ExplainedStep> steps;
  std::vector<std::string> notes;  // other things that may decide
};

inline constexpr std::size_t kMostPassedOver = 5;
inline constexpr std::size_t kMostRefused = 5;

}  // namespace sluice::control
