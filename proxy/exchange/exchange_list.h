// Lists the exchanges in flight for operators. The worker that they live on renders them, and the caller joins the
// lists.
//
// Nothing secret is listed: no header, no query, no userinfo. Text that came from outside is cut and escaped.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/failure_report.h"

namespace sluice::exchange {

struct ListedExchange {
  base::MonotonicTime started;
  std::string json;  // one object
};

struct ExchangeList {
  std::vector<ListedExchange> oldest;  // oldest first
  std::size_t total = 0;               // number of exchanges, listed or not
  FailureReport failures = {};         // those of exchanges that are over; the worker adds them
};

/// Returns the `most` oldest of a worker's exchanges. Called on its thread, inside a Turn. `worker` is its number.
ExchangeList listExchanges(Exchanges& exchanges, std::size_t worker, std::size_t most);

}  // namespace sluice::exchange
