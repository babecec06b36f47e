// Notes in a Backend's BackendReach what one worker sees of its connections. Owned by the cluster; one thread.
#pragma once

#include <cstddef>
#include <memory>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/routing/snapshot.h"

namespace sluice::upstream {

class ReachNotes {
 public:
  /// Both outlive it. `plan` is that of the cluster, which may get another one.
  ReachNotes(const base::Clock& clock, const std::shared_ptr<const routing::BackendPlan>& plan)
      : clock_(clock), plan_(plan) {}

  /// Called when a connection has been opened; `peerEnds` is when the server's certificate ends, or the epoch.
  void onOpen(base::WallTime peerEnds);
  /// Called when bytes have come on a connection; `again` is false for the first ones. A request on a connection that
  /// was open before a failure shows that the Backend can be reached, too.
  void onBytes(bool again) {
    if (!again) ++answering_;
    if (const routing::BackendReach* reach = plan_->reach.get()) reach->onAnswer();
  }
  /// Called when a connection that was open is gone; `answered` is true if bytes have come on it.
  void onEnd(bool answered) {
    --open_;
    if (answered) --answering_;
  }
  /// Called when no connection could be made.
  void onUnreached(const base::Error& error) const;
  /// Called when an open connection was lost by an error of TLS before any byte has come on it.
  void onRejected(const base::Error& error) const;

 private:
  void note(const base::Error& error, routing::ConnectionStage stage) const;

  const base::Clock& clock_;
  const std::shared_ptr<const routing::BackendPlan>& plan_;
  std::size_t open_ = 0;
  std::size_t answering_ = 0;  // connections on which bytes have come
};

}  // namespace sluice::upstream
