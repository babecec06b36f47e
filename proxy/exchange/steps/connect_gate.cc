#include "proxy/exchange/steps/connect_gate.h"

#include <utility>

namespace sluice::exchange {

void ConnectGate::begin() {
  auto addresses = attempts_.current().request.resolve();
  if (!addresses.ok()) return t_.raise(Event::kUnavailable, addresses.error());
  if (addresses->empty()) return;  // the pool notifies the exchange when they are known
  EgressGate egress(t_, attempts_);
  const bool isJudged = t_.egress != nullptr && egress.dial() != nullptr;
  if (isJudged && !egress.narrow(*addresses)) return t_.raise(Event::kPassOver);
  processing_.beginConnect(*std::move(addresses));
  t_.raise(Event::kConnectSteps);
}

bool ConnectGate::admitsConnection() {
  ExchangeSteps& steps = *processing_.steps();
  upstream::Request& request = attempts_.current().request;
  const processing::Step* const refusing = steps.connect.refusing(request, *steps.attemptHead, steps.client());
  if (refusing == nullptr) return true;
  const bool isOutdated = request.discardOutdated();
  request.giveBack();
  if (steps.connect.countRefusal() && (isOutdated || steps.connect.leaveOut(*request.peer()))) {
    t_.raise(Event::kConnectionRefused);
  } else {
    steps.deny(*refusing);
  }
  return false;
}

}  // namespace sluice::exchange
