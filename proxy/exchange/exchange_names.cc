#include "proxy/exchange/exchange_names.h"

namespace sluice::exchange {

ExchangeNames namesOf(const Exchange& exchange) {
  ExchangeNames names;
  if (const routing::Rule* rule = exchange.rule()) names = {rule->gateway, rule->listener, rule->route, {}};
  const routing::WeightedBackend* backend = exchange.attempt().backend;
  if (backend != nullptr && backend->backend) names.backend = backend->backend->name;
  return names;
}

}  // namespace sluice::exchange
