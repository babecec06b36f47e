// ResponsePath takes the response of an exchange to the client: it performs the actions of the response's state
// machine. It judges the Backend's response, has steps run, and hands that response or a local reply over. The exchange
// owns it and shows it every event.
#pragma once

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/head_memory.h"
#include "proxy/exchange/mirror/request_mirrors.h"
#include "proxy/exchange/response_body.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction.h"

namespace sluice::exchange {

class ResponsePath {
 public:
  ResponsePath(Transaction& transaction, Attempts& attempts, Processing& processing, RequestMirrors& mirrors,
               ResponseBody& body, HeadMemory& headMemory)
      : t_(transaction),
        attempts_(attempts),
        processing_(processing),
        mirrors_(mirrors),
        body_(body),
        headMemory_(headMemory) {}

  // Called by the upstream codec.
  void onInterim(http::ResponseMessage&& message);
  void onResponse(http::ResponseMessage&& message);
  void onReset(const base::Error& error, bool unprocessed);

  /// Performs an action of the response's table.
  void act(ResponseAction action);

 private:
  void keepToClient(http::ResponseHead& challenge);
  void judgeStatus();
  void keep();
  void judgeFailure();
  void judgeResponse();
  void process();
  void forwardInterim();
  void start();
  void forward();
  void reply();
  void breakOff();

  Transaction& t_;
  Attempts& attempts_;
  Processing& processing_;
  RequestMirrors& mirrors_;
  ResponseBody& body_;
  HeadMemory& headMemory_;
};

}  // namespace sluice::exchange
