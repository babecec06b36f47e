// TunnelGate opens the tunnel of an exchange for bytes of any protocol (CONNECT): it takes a place among those that
// limits allow, and lets the client's bytes move once the first ones are judged.
//
// It is made where it is needed, and keeps nothing: the state is the transaction's.
#pragma once

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/attempt/egress_gate.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class TunnelGate {
 public:
  TunnelGate(Transaction& transaction, Attempts& attempts) : t_(transaction), egress_(transaction, attempts) {}

  /// Takes a place for the tunnel, once. Returns false and raises kRejected if limits leave no room for it.
  bool enter();
  /// Returns true if the client's bytes may move. Raises kTunnelRefused if policies deny the first ones,
  /// and kRejected if these are no TLS.
  bool release();

 private:
  Transaction& t_;
  EgressGate egress_;
};

}  // namespace sluice::exchange
