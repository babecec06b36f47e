// Where one attempt may be connected to: what was resolved and guarded, and what the steps of the phase connect have
// left of it. Nobody looks the name up again behind them.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/processing/destination.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class ConnectPhase {
 public:
  /// Steps are about to see `addresses`, to which `plan` leads.
  void begin(base::Arena& arena, const routing::BackendPlan& plan, net::Addresses addresses);
  /// The steps have decided.
  void end();
  /// Another attempt has not been there.
  void reset() { ended_ = false; }

  /// The steps see this and narrow it.
  processing::Destination& destination() { return destination_; }
  /// Returns what the steps have left; nullptr before end().
  const net::Addresses* allowed() const { return ended_ ? &addresses_ : nullptr; }

 private:
  processing::Destination destination_{{}, 0, {}, {}};
  net::Addresses addresses_;
  bool ended_ = false;
};

}  // namespace sluice::exchange
