// Logs, metrics and lists share these names of the configuration objects that an exchange belongs to.
#pragma once

#include <string_view>

#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// A name is empty while it is undecided, or if there is none. Views live as long as the exchange.
struct ExchangeNames {
  std::string_view gateway;
  std::string_view listener;
  std::string_view route;
  std::string_view backend;
};

ExchangeNames namesOf(const routing::ServedListener* listener, const routing::Rule* rule,
                      const routing::WeightedBackend* backend);

}  // namespace sluice::exchange
