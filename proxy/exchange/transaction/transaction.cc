#include "proxy/exchange/transaction/transaction.h"

#include "proxy/exchange/transaction/observer.h"

namespace sluice::exchange {

void Transaction::schedule() { context.schedule(*this); }

void Transaction::identify(std::shared_ptr<const base::Caller> known) {
  if (routed) context.observer().onLeftRoute(exchange);
  caller = std::move(known);
  if (routed) context.observer().onRouted(exchange);
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
