// ConnectGate shows each attempt to the steps of the phase connect: its addresses before a connection is taken or made,
// and the connection itself, before the request goes out on it, if a step wants to judge that.
//
// It is made where it is needed, and keeps nothing: the state is that of the attempt's steps.
#pragma once

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/attempt/egress_gate.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class ConnectGate {
 public:
  ConnectGate(Transaction& transaction, Attempts& attempts, Processing& processing)
      : t_(transaction), attempts_(attempts), processing_(processing) {}

  /// Begins the steps once the addresses of the attempt are known, and raises kConnectSteps then; or raises
  /// kUnavailable or kPassOver, because there is no address that the attempt may be connected to.
  void begin();
  /// Called when the attempt has claimed a connection. Returns false if a step refuses it. The connection is given back
  /// then, and kConnectionRefused is raised if another address is left, else kRejected.
  bool admitsConnection();

 private:
  Transaction& t_;
  Attempts& attempts_;
  Processing& processing_;
};

}  // namespace sluice::exchange
