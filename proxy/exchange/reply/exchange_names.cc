#include "proxy/exchange/reply/exchange_names.h"

namespace sluice::exchange {

ExchangeNames namesOf(const routing::ServedListener* listener, const routing::Rule* rule,
                      const routing::WeightedBackend* backend) {
  ExchangeNames names;
  if (listener != nullptr) names = {listener->gateway, listener->section, {}, {}};
  if (rule != nullptr) names.route = rule->route;
  if (backend != nullptr && backend->backend) names.backend = backend->backend->name;
  return names;
}

}  // namespace sluice::exchange
