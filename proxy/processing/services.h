// The worker offers these services to processors while they run: requests of their own, and state for each worker.
//
// The data path implements them, and tests do. They are used on the thread of the exchange.
#pragma once

#include <chrono>
#include <memory>

#include "proxy/processing/callout.h"
#include "proxy/processing/worker_states.h"

namespace sluice::processing {

struct Place;

class Services {
 public:
  static constexpr base::Duration kLongestLeave = std::chrono::seconds(5);

  virtual ~Services() = default;
  /// Starts a request, and never returns null: a request that there is no room for has failed already. `place` is that
  /// of the step, and `request.timeout` is not zero.
  virtual std::unique_ptr<Callout> callout(const CalloutRequest& request, const Place& place) = 0;
  /// Takes over a request that no step awaits any more, and lets it go on by itself for at most kLongestLeave.
  virtual void leave(std::unique_ptr<Callout> callout) = 0;
  virtual WorkerStates& workerStates() = 0;
};

}  // namespace sluice::processing
