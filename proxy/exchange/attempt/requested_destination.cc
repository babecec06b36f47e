#include "proxy/exchange/attempt/requested_destination.h"

#include "proxy/exchange/transaction/context.h"
#include "proxy/routing/dynamic_targets.h"

namespace sluice::exchange {

std::optional<base::Error> findDestination(Transaction& transaction, Attempt& attempt) {
  const routing::BackendPlan& backend = *attempt.backend->backend;
  if (backend.dynamic == nullptr || attempt.requested != nullptr) return std::nullopt;
  const MatchedRoute& route = transaction.route;
  const auto target = routing::requestedTarget(
      backend, routing::namedDestination(transaction.request.head, transaction.client.forwardProxy),
      {route.listener != nullptr ? route.listener->egress.get() : nullptr, route.rule->egress.get()});
  if (!target.ok()) return target.error();
  attempt.requested = transaction.context.upstreams().requested(*target);
  return std::nullopt;
}

std::optional<base::Error> takeDestination(Transaction& transaction, Attempt& attempt) {
  if (transaction.context.upstreams().takeRequested(attempt.requested, transaction.client.network)) return std::nullopt;
  return base::Error::upstream(base::ErrorType::kConnectionLimitReached,
                               "too many destinations that requests have named are in use")
      .ofLimit(upstream::kRequestedLimit);
}

}  // namespace sluice::exchange
