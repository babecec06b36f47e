// An ExchangeObserver is notified of the progress of exchanges, to write logs and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/processing/pipeline_host.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

struct Attempt;
class BackendCallout;
class Exchange;
class Mirror;

/// The end of a step of a payload processor.
struct StepReport {
  const processing::Step& step;
  base::Duration time;
  const processing::Verdict& verdict;
  processing::StepOutcome outcome;
  const processing::Place& place;
  const processing::Peer& client;  // a step before authentication does not learn its names
};

enum class EgressDecision : std::uint8_t { kAllowed, kAudited, kDenied };
/// Returns "allowed", "audited" or "denied".
constexpr std::string_view egressDecisionName(EgressDecision decision) {
  constexpr std::string_view kNames[] = {"allowed", "audited", "denied"};
  return kNames[static_cast<std::size_t>(decision)];
}

/// The decision of an EgressPolicy about a dial.
struct DialReport {
  const routing::EgressJudge& policy;
  std::size_t rule;
  EgressDecision decision;
  const routing::BackendPlan& backend;
};

/// The ejection of a Backend, or of one of its endpoints, by the outlier detection of a rule.
struct EjectionReport {
  const routing::BackendPlan& backend;
  const routing::Endpoint* endpoint;  // null: the Backend as a whole, as a member of the rule's fail-over
  std::string_view route;             // of the rule: "namespace/name"
  std::string_view rule;              // "HTTPRoute demo/web, rule 0"
  const routing::Ejection& ejection;
};

/// A source from which the gateway learns who makes a request.
enum class IdentitySource : std::uint8_t { kCertificate, kToken, kAddress };
/// Returns "certificate", "token" or "address".
constexpr std::string_view identitySourceName(IdentitySource source) {
  constexpr std::string_view kNames[] = {"certificate", "token", "address"};
  return kNames[static_cast<std::size_t>(source)];
}

enum class IdentityResult : std::uint8_t { kIdentified, kAbsent, kRefused };
/// Returns "identified", "absent" or "refused".
constexpr std::string_view identityResultName(IdentityResult result) {
  constexpr std::string_view kNames[] = {"identified", "absent", "refused"};
  return kNames[static_cast<std::size_t>(result)];
}

/// Observes every exchange of a worker. ExchangeTelemetry implements it, and tests do.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Called when rule and Backend are chosen, or when there are none. Not called for requests whose head was refused.
  virtual void onRouted(const Exchange& exchange) = 0;
  /// Called when the route is left again because the request is matched once more, or its caller becomes known;
  /// onRouted() follows.
  virtual void onLeftRoute(const Exchange& exchange) = 0;
  /// Called when an attempt has failed and another one follows, which is the exchange's current one already. `error` is
  /// null if the Backend has answered.
  virtual void onRetry(const Exchange& exchange, const Attempt& failed, const base::Error* error) = 0;
  virtual void onFinished(const Exchange& exchange) = 0;
  /// Called when a tunnel for bytes of any protocol was agreed to.
  virtual void onTunnel(const Exchange& exchange) = 0;
  /// Called when a step of a payload processor has run to its end.
  virtual void onStep(const StepReport& report) = 0;
  /// Called when a mirrored request is over, whether it succeeded or failed.
  virtual void onMirrored(const Mirror& mirror) = 0;
  /// Called when a processor's own request has succeeded or failed, unless the processor gave it up.
  virtual void onCallout(const BackendCallout& callout) = 0;
  virtual void onEgress(const DialReport& report) = 0;
  virtual void onEjection(const EjectionReport& report) = 0;
  /// Called when a source was judged. A certificate is judged once for each connection and configuration, a password
  /// once for each request, and what is absent is reported for each request at a listener that asks for it.
  virtual void onIdentity(IdentitySource source, IdentityResult result) = 0;
  virtual void onLimit(std::string_view limit) = 0;
  /// Called when a script writes a line into the log.
  virtual void onRecord(const processing::ProcessorRecord& record) = 0;
  /// Called when a script counts something. Returns false if its type has too many counters.
  virtual bool onCount(std::string_view type, std::string_view name, std::uint64_t count) = 0;
};

}  // namespace sluice::exchange
