// An ExchangeObserver is told what becomes of exchanges. Logs and metrics are written by it.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/processing/pipeline_host.h"

namespace sluice::exchange {

struct Attempt;
class Callout;
class Exchange;
class Mirror;

/// Told of each exchange. Implemented by Report, and by tests.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Rule and Backend are decided, or that there are none. Not for requests whose head was refused.
  virtual void onRouted(const Exchange& exchange) = 0;
  /// The route is left again, since the request is matched once more; onRouted() follows.
  virtual void onLeftRoute(const Exchange& exchange) = 0;
  /// An attempt has failed and another one follows, which the exchange has already. `status` is what the backend
  /// answered, or with `error` what the gateway would have.
  virtual void onRetry(const Exchange& exchange, const Attempt& failed, std::uint16_t status,
                       const base::Error* error) = 0;
  virtual void onFinished(const Exchange& exchange) = 0;
  /// A step of a payload processor has run to its end.
  virtual void onStep(const processing::Step& step, base::Duration time, const processing::Verdict& verdict,
                      processing::StepOutcome outcome) = 0;
  /// A mirrored request is over, one way or another.
  virtual void onMirrored(const Mirror& mirror) = 0;
  /// A processor's own request is over, one way or another; not if the processor gave it up.
  virtual void onCallout(const Callout& callout) = 0;
  virtual void onLimit(std::string_view limit) = 0;
};

}  // namespace sluice::exchange
