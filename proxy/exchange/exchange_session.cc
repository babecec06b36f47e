// An exchange and the session that its rule persists: which share and endpoint it goes to, and what the client is told.
#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/session/session_carrier.h"

namespace sluice::exchange {

// A session comes before the weights, one of 0 too (GEP-1619, "Traffic Splitting").
const routing::WeightedBackend* Exchange::resumeSession() {
  session_ = std::make_unique<Session>(*rule_);
  if (const pki::ValueSealer* sealer = owner_.sessionSealer()) {
    session_->take(*sealer, owner_.worker().clock().wallNow(), request_);
    if (asked_ != nullptr) removeSessions(*rule_->session, request_.arena, asked_->headers);
    if (steps_ && steps_->headBeforeRule != nullptr && steps_->headBeforeRule != asked_) {
      removeSessions(*rule_->session, request_.arena, steps_->headBeforeRule->headers);
    }
  }
  return session_->share() != nullptr ? session_->share() : rule_->choose(owner_.random());
}

void Exchange::tellSession() {
  const pki::ValueSealer* sealer = owner_.sessionSealer();
  if (sealer == nullptr) return;
  const bool balanced = attempt_.backend->backend->endpoints.has_value();
  const auto renewal = session_->renew(*sealer, owner_.worker().clock().wallNow(), *attempt_.backend,
                                       balanced ? std::optional(*attempt_.request.peer()) : std::nullopt);
  if (!renewal) return;
  addSession(*rule_->session, renewal->value, {request_.head.path(), origin_.secure, renewal->age}, *response_);
}

}  // namespace sluice::exchange
