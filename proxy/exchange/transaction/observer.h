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
  std::string_view client;  // its address
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

/// Observes every exchange of a worker. ExchangeTelemetry implements it, and tests do.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Called when rule and Backend are chosen, or when there are none. Not called for requests whose head was refused.
  virtual void onRouted(const Exchange& exchange) = 0;
  /// Called when the route is left again because the request is matched once more; onRouted() follows.
  virtual void onLeftRoute(const Exchange& exchange) = 0;
  /// Called when an attempt has failed and another one follows, which is the exchange's current one already. `status`
  /// is that of the backend's response, or with `error` the one that the gateway would have sent.
  virtual void onRetry(const Exchange& exchange, const Attempt& failed, std::uint16_t status,
                       const base::Error* error) = 0;
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
  virtual void onLimit(std::string_view limit) = 0;
};

}  // namespace sluice::exchange
