// ResponsePath takes the response of an exchange to the client: it performs the actions of the response's state
// machine. It judges the Backend's response, has steps run, and hands that response or a local reply over. The exchange
// owns it and shows it every event.
#pragma once

#include <string>

#include "proxy/exchange/exchange_state.h"
#include "proxy/exchange/transaction/transitions.h"

namespace sluice::exchange {

class ResponsePath {
 public:
  explicit ResponsePath(ExchangeState& state) : s_(state), t_(state.transaction) {}

  // Called by the upstream codec.
  void onInterim(http::ResponseMessage&& message);
  void onResponse(http::ResponseMessage&& message);

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
  std::string failingBackend() const;
  void settleStanding(http::ResponseMessage& response);
  void addDate(http::ResponseMessage& response);
  void addRequestId(http::ResponseMessage& response);
  void breakOff();
  void open(http::Tunnel tunnel);
  void refuseTunnel();

  ExchangeState& s_;
  Transaction& t_;
};

}  // namespace sluice::exchange
