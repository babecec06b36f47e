// ConnectPhase holds the addresses that one attempt may be connected to: those that were resolved and guarded, as far
// as the steps of the phase connect have left them. The name is not looked up again after these steps.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/processing/destination.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class ConnectPhase {
 public:
  /// Called before steps see `addresses`, to which `plan` leads.
  void begin(base::Arena& arena, const routing::BackendPlan& plan, net::Addresses addresses);
  /// Called when the steps have decided.
  void end();
  /// Called for another attempt, whose steps have not decided.
  void reset() { ended_ = false; }

  /// Returns the destination that the steps see and narrow.
  processing::Destination& destination() { return destination_; }
  /// Returns the addresses that the steps have left; nullptr before end().
  const net::Addresses* allowed() const { return ended_ ? &addresses_ : nullptr; }

 private:
  processing::Destination destination_{{}, 0, {}, {}};
  net::Addresses addresses_;
  bool ended_ = false;
};

}  // namespace sluice::exchange
