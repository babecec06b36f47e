#include "proxy/exchange/attempt/requested_destination.h"

#include <utility>

#include "proxy/exchange/transaction/context.h"
#include "proxy/routing/dynamic_targets.h"

namespace sluice::exchange {

std::optional<base::Error> findDestination(Transaction& transaction, Attempt& attempt) {
  attempt.requested.reset();
  const routing::BackendPlan& backend = *attempt.backend->backend;
  if (backend.dynamic == nullptr) return std::nullopt;
  const MatchedRoute& route = transaction.route;
  const auto target = routing::requestedTarget(
      backend, transaction.request.head.authority,
      {route.listener != nullptr ? route.listener->egress.get() : nullptr, route.rule->egress.get()});
  if (!target.ok()) return target.error();
  auto plan = transaction.context.upstreams().requested(*target, transaction.client.network);
  if (!plan.ok()) return plan.error();
  attempt.requested = *std::move(plan);
  return std::nullopt;
}

}  // namespace sluice::exchange
