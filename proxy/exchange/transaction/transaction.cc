#include "proxy/exchange/transaction/transaction.h"

#include "proxy/exchange/transaction/observer.h"

namespace sluice::exchange {

void Transaction::schedule() { context.schedule(*this); }

void Transaction::identifyRouted(const std::shared_ptr<const base::Caller>& known) {
  context.observer().onLeftRoute(exchange);
  caller = known;
  context.observer().onRouted(exchange);
}

http::ServerCodec* Transaction::codec() {
  Downstream* downstream = this->downstream();
  if (downstream == nullptr) {
    raise(Event::kClientGone);
    return nullptr;
  }
  downstream->touch();
  return &downstream->codec();
}

}  // namespace sluice::exchange
