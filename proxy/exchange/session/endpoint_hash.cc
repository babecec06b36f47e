#include "proxy/exchange/session/endpoint_hash.h"

#include "proxy/exchange/transaction/context.h"
#include "proxy/routing/request_hash.h"

namespace sluice::exchange {

void EndpointHash::findOf(const base::LoadBalancing& terms, Transaction& transaction) {
  if (terms.source != base::HashSource::kCookie) {
    value_ = routing::requestHash(terms, transaction.request.head, transaction.client.ip.view());
    return;
  }
  const pki::ValueSealer* const sealer = transaction.context.sessionSealer();
  if (sealer == nullptr) return;
  if (!cookie_ || !cookie_->isOf(terms)) {
    cookie_ = std::make_unique<const HashCookie>(terms, *sealer, transaction.context.random(), transaction.request);
    if (transaction.asked != nullptr) cookie_->removeFrom(transaction.request.arena, transaction.asked->headers);
  }
  value_ = cookie_->hash();
}

void EndpointHash::tellOf(const base::LoadBalancing& terms, Transaction& transaction) const {
  const pki::ValueSealer* const sealer = transaction.context.sessionSealer();
  if (sealer == nullptr || !cookie_->isOf(terms)) return;
  cookie_->tell(*sealer, transaction.request.head.path(), transaction.client.secure, *transaction.response);
}

}  // namespace sluice::exchange
