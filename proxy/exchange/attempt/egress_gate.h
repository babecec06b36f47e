// EgressGate asks the EgressPolicies that cover an exchange about each of its attempts: by name before anything is
// looked up, again when steps have changed the request, and by each address before it is dialled.
//
// It is made where it is needed, and keeps nothing: the state is the transaction's.
#pragma once

#include <string_view>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/egress/egress_report.h"
#include "proxy/exchange/egress/egress_state.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class EgressGate {
 public:
  EgressGate(Transaction& transaction, Attempts& attempts) : t_(transaction), attempts_(attempts) {}

  /// Returns true if policies cover the exchange. Without them, nothing else is called.
  static bool guards(const MatchedRoute& route) {
    return route.rule->egress != nullptr || (route.listener != nullptr && route.listener->egress != nullptr);
  }

  /// Judges the Backend of the attempt, with the request as the filters will leave it. If it is denied, chooses
  /// another one where the rule fails over. Returns false if none is left.
  bool admitAttempt();
  /// Judges the Backend that is chosen so far. Returns false if it is denied and no other one could be chosen.
  bool admitTentative();
  /// Judges the attempt again if steps have changed the method or the path. Returns false if it is denied.
  bool admitAgain(const http::RequestHead& leaving);
  /// Called when the attempt is admitted.
  void report();
  /// Returns the dial if its addresses decide, else nullptr. The attempt was admitted.
  routing::EgressDial* dial() const;
  /// Drops the addresses that must not be dialled. Returns false if none is left.
  bool narrow(net::Addresses& addresses);
  /// Called after the pool was asked for a connection with dial(). Returns false if the pool has found no address that
  /// may be dialled.
  bool reportAddresses();
  /// Called when the attempt has a connection. `leaving` is its head if steps may have changed that since admitAgain(),
  /// else null. Returns false if the attempt is denied.
  bool admitSent(const http::RequestHead* leaving);
  /// Judges a tunnel that was agreed to, when the first bytes of the client are known. Returns false if it is denied.
  bool admitFirstBytes();
  /// Called when the attempt was denied after it had begun. Returns true if another Backend was chosen in its place.
  bool passOver();

 private:
  const routing::BackendPlan* backend() const;
  bool mayPassOver() const;
  routing::EgressHttp leavingAttempt() const;
  routing::EgressRuling judge(const routing::EgressHttp& leaving);
  void reportVerdict();
  void note(const DialReport& report) {
    t_.egress->note(report);
    t_.context.observer().onEgress(report);
  }

  Transaction& t_;
  Attempts& attempts_;
};

}  // namespace sluice::exchange
