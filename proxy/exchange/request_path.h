// RequestPath takes the request of an exchange to the Backend: it performs the actions of the request's state machine.
// It finds the route, has steps run, makes attempts, and hands the request over. The exchange owns it and shows it
// every event.
#pragma once

#include <optional>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/mirror/request_mirrors.h"
#include "proxy/exchange/request_body.h"
#include "proxy/exchange/response_body.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction.h"

namespace sluice::exchange {

class RequestPath {
 public:
  RequestPath(Transaction& transaction, Attempts& attempts, Processing& processing, RequestMirrors& mirrors,
              RequestBody& body, ResponseBody& responseBody)
      : t_(transaction),
        attempts_(attempts),
        processing_(processing),
        mirrors_(mirrors),
        body_(body),
        responseBody_(responseBody) {}

  /// Performs an action of the request's table.
  void act(RequestAction action);

 private:
  void route();
  void decide(const routing::RouteMatch& match);
  std::optional<base::Error> chooseBackend(const routing::RouteMatch& match);
  void takeRule(const routing::Rule* rule);
  void onMoved(RequestBody::Outcome outcome);
  void await();
  void processTentative();
  void processSecond();
  void matchAgain();
  void enter();
  void prepare();
  void makeAttempt();
  void admit();
  void startMirrorsOfBackend();
  void repeat();
  void backOff();
  void endAttempt();
  void acquire();
  void begin();
  void postpone();
  void fail(const base::Error& error, bool unprocessed);
  void proceed(Downstream& downstream);
  void dismissClient();
  bool movesAttempt() const;

  Transaction& t_;
  Attempts& attempts_;
  Processing& processing_;
  RequestMirrors& mirrors_;
  RequestBody& body_;
  ResponseBody& responseBody_;
  bool proceeded_ = false;  // the client was told 100 (Continue)
};

}  // namespace sluice::exchange
