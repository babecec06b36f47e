// Which objects of the configuration an exchange belongs to, by the names that logs, metrics and lists share.
#pragma once

#include <string_view>

#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// Empty where nothing is decided yet, or there is none. Views live as long as the exchange.
struct ExchangeNames {
  std::string_view gateway;
  std::string_view listener;
  std::string_view route;
  std::string_view backend;
};

ExchangeNames namesOf(const routing::ServedListener* listener, const routing::Rule* rule,
                      const routing::WeightedBackend* backend);

}  // namespace sluice::exchange
