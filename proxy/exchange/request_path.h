// RequestPath takes the request of an exchange to the Backend: it performs the actions of the request's state machine.
// It finds the route, has steps run, makes attempts, and hands the request over. The exchange owns it and shows it
// every event.
#pragma once

#include <optional>

#include "proxy/exchange/attempt/egress_gate.h"
#include "proxy/exchange/exchange_state.h"
#include "proxy/exchange/transaction/transitions.h"

namespace sluice::exchange {

class RequestPath {
 public:
  explicit RequestPath(ExchangeState& state) : s_(state), t_(state.transaction) {}

  /// Performs an action of the request's table.
  void act(RequestAction action);

 private:
  void route();
  void match();
  void refuseUnrouted(base::Error error);
  void decide(const routing::RouteMatch& match);
  std::optional<base::Error> chooseBackend(const routing::RouteMatch& match);
  void takeRule(const routing::Rule* rule);
  void onMoved(RequestBody::Outcome outcome);
  void await();
  void processTentative();
  void authenticate();
  void processSecond();
  void passWishes();
  void matchAgain();
  void enter();
  void answerByRule();
  void prepare();
  void prepareAdmitted();
  bool findDestination();
  void forward();
  bool admitToPolicies();
  void deny();
  void passOver();
  EgressGate egress() { return {t_, s_.attempts}; }
  void makeAttempt();
  void admit();
  void startMirrorsOfBackend();
  void repeat();
  void backOff();
  void endAttempt();
  void acquire();
  void begin();
  void postpone();
  void dismissClient();
  bool movesAttempt() const;

  ExchangeState& s_;
  Transaction& t_;
};

}  // namespace sluice::exchange
