#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

void Transaction::schedule() { context.schedule(*this); }

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
