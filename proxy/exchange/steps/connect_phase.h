// ConnectPhase holds the addresses that one attempt may be connected to: those that were resolved and guarded, as far
// as the steps of the phase connect have left them. The name is not looked up again after these steps.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/processing/chain.h"
#include "proxy/processing/destination.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/request.h"

namespace sluice::exchange {

class ConnectPhase {
 public:
  /// Called before steps see `addresses`, to which `plan` leads.
  void begin(base::Arena& arena, const routing::BackendPlan& plan, net::Addresses addresses);
  /// Called when the steps have decided.
  void end();
  /// Called for another attempt, whose steps have not decided.
  void reset() {
    ended_ = false;
    refusals_ = 0;
  }

  /// Called when the steps refuse a connection of this attempt. Returns false if no further one may be tried.
  bool countRefusal() { return ++refusals_ < kMostRefusals; }
  /// Called when no connection to that address will be admitted. Returns false if no other address is left.
  bool leaveOut(const net::Address& address);

  /// Returns a step that refuses the connection which `request` has claimed; nullptr if all admit it.
  const processing::Step* refusing(const upstream::Request& request, const http::RequestHead& head,
                                   const processing::Peer& peer) const;

  /// Called when the attempt has a connection to `peer`, before the steps of backend-request see it.
  void connected(base::Arena& arena, const routing::BackendPlan& plan, const net::Address& peer);

  /// Returns the destination that the steps see and narrow.
  processing::Destination& destination() { return destination_; }
  /// Returns the addresses that the steps have left; nullptr before end().
  const net::Addresses* allowed() const { return ended_ ? &addresses_ : nullptr; }

 private:
  /// A request makes at most this many connections whose certificates are refused.
  static constexpr std::uint8_t kMostRefusals = 4;

  processing::Destination destination_{{}, 0, {}, {}};
  net::Addresses addresses_;
  bool ended_ = false;
  std::uint8_t refusals_ = 0;
};

}  // namespace sluice::exchange
