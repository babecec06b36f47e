// The exchanges in flight as operators see them: rendered by the worker that they live on, joined by who asked.
//
// Nothing secret: no header, no query, no userinfo. Texts of strangers are cut and escaped.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/exchange/exchanges.h"

namespace sluice::exchange {

struct ListedExchange {
  base::MonotonicTime started;
  std::string json;  // one object
};

struct ExchangeList {
  std::vector<ListedExchange> oldest;  // oldest first
  std::size_t total = 0;               // exchanges that there are, listed or not
};

/// The `most` oldest of a worker's exchanges, on its thread, inside a Turn. `worker` is the number it goes by.
ExchangeList listExchanges(Exchanges& exchanges, std::size_t worker, std::size_t most);

}  // namespace sluice::exchange
